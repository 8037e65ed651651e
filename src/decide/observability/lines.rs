//! The statuses of this concern: one line a fault, the most important first, all bounded.

use super::super::status::cut;
use super::own::Own;
use crate::juju::{Level, Status, UnitName};
use crate::observed::observability::Observability;
use std::collections::{BTreeMap, BTreeSet};

/// How much a fault costs, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// All that one of our own principals tells.
    OwnValue,
    /// A record of another unit.
    PeerValue,
    /// All rules, or the dashboards, of one relation: the far side refuses them.
    Refusal,
    /// A rule, group or dashboard of one of our own principals.
    OwnItem,
    /// The same of another unit's record.
    PeerItem,
    /// What does not fit.
    Budget,
}

/// Lines that are shown; a principal with a thousand bad rules has one cause.
const MAX_LINES: usize = 40;
/// Bytes of one line. The aggregate shows 120; `show-status` and the log show all.
const MAX_LINE: usize = 400;

/// The faults that were found.
#[derive(Debug, Default)]
pub(super) struct Lines {
    by_rank: BTreeMap<Rank, Vec<String>>,
    seen: BTreeSet<String>,
}

impl Lines {
    pub(super) fn add(&mut self, rank: Rank, line: String) {
        let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = cut(&line, MAX_LINE);
        if self.seen.insert(line.clone()) {
            self.by_rank.entry(rank).or_default().push(line);
        }
    }

    /// All statuses: the faults, or one remark when all is well, or nothing where nothing is related.
    pub(super) fn statuses(self, observed: &Observability, own: &Own) -> Vec<Status> {
        let lines: Vec<String> = self.by_rank.into_values().flatten().collect();
        let more = lines.len().saturating_sub(MAX_LINES);
        let mut statuses: Vec<Status> =
            lines.into_iter().take(MAX_LINES).map(|line| Status::new(Level::Blocked, line)).collect();
        if more > 0 {
            let line = format!("{more} more faults in cos-agent data");
            statuses.push(Status::new(Level::Blocked, line));
        }
        if statuses.is_empty() && !observed.principals.is_empty() {
            statuses.push(Status::new(Level::Active, remark(observed, own)));
        }
        statuses
    }
}

/// `1 principal observed`, and who has said nothing yet: no fault, but worth knowing.
fn remark(observed: &Observability, own: &Own) -> String {
    let related: BTreeSet<&UnitName> = observed.principals.iter().map(|p| &p.unit).collect();
    let silent = related.iter().find(|unit| !own.records.contains_key(**unit));
    let mut remark = match own.records.len() {
        1 => "1 principal observed".to_owned(),
        n => format!("{n} principals observed"),
    };
    if let Some(unit) = silent {
        remark.push_str(&format!("; {unit} has sent nothing yet"));
    }
    remark
}
