//! The action `show-status`: every scoped status, and what every node runs, as tables and as
//! structured results.

use super::table::table;
use crate::decide::coherence::{Remark, Row, overview};
use crate::decide::{CONCERNS, aggregate, options, rollout_part};
use crate::juju::{Level, Status};
use crate::observed::Observed;
use crate::plan::Plan;
use std::collections::BTreeMap;

/// What the action gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// For a person.
    pub text: String,
    /// For a machine: keys as `action-set` takes them.
    pub results: BTreeMap<String, String>,
}

/// The statuses that a pass would leave.
pub fn show_status(observed: &Observed, plan: &Plan) -> Shown {
    let scoped = &plan.remember.statuses;
    let unit = aggregate(scoped);
    let mut rows = vec![["Concern", "Status", "Message"].map(str::to_owned)];
    let mut results = BTreeMap::from([
        ("unit.status".to_owned(), unit.level.to_string()),
        ("unit.message".to_owned(), unit.line.clone()),
        ("unit.leader".to_owned(), observed.leader.to_string()),
    ]);
    for concern in CONCERNS {
        let statuses = scoped.get(concern).cloned().unwrap_or_default();
        let quiet = [Status::new(Level::Active, "")];
        let shown = if statuses.is_empty() { &quiet[..] } else { &statuses[..] };
        for (number, status) in shown.iter().enumerate() {
            let name = if number == 0 { concern } else { "" };
            rows.push([name.to_owned(), status.level.to_string(), status.line.clone()]);
            let key = |part| format!("concerns.{concern}.{number}.{part}");
            results.insert(key("status"), status.level.to_string());
            results.insert(key("message"), status.line.clone());
        }
    }
    rows.push(["unit".to_owned(), unit.level.to_string(), unit.line]);
    let mut text = table(&rows);
    let options = options::read(&observed.config, &observed.remembered.options);
    let (part, options) = rollout_part(observed, &options);
    let snaps = overview(&part, &options);
    if !snaps.is_empty() {
        text.push('\n');
        text.push_str(&snap_table(&snaps));
        for (key, value) in snaps.iter().flat_map(snap_results) {
            let known = results.entry(key).or_default();
            // Two channels may have one revision.
            if !known.split(' ').any(|part| part == value) {
                known.push_str(if known.is_empty() { "" } else { " " });
                known.push_str(&value);
            }
        }
    }
    Shown { text, results }
}

/// What every node runs: who differs, and why.
fn snap_table(snaps: &[Row]) -> String {
    let mut rows = vec![["Snap", "Arch", "Channel", "Revision", "Version", "Units"].map(str::to_owned)];
    rows.extend(snaps.iter().map(|row| {
        let channel = row.channel.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        let (name, arch, revision) =
            (row.snap.to_string(), row.architecture.to_string(), row.revision.to_string());
        [name, arch, channel, revision, row.version.clone(), units(row)]
    }));
    table(&rows)
}

/// The units of a row, those together of which the same is to be said.
fn units(row: &Row) -> String {
    let mut alike: Vec<(&[Remark], Vec<String>)> = Vec::new();
    for (unit, remarks) in &row.units {
        match alike.iter_mut().find(|(others, _)| others == remarks) {
            Some((_, units)) => units.push(unit.to_string()),
            None => alike.push((remarks, vec![unit.to_string()])),
        }
    }
    let told = alike.into_iter().map(|(remarks, units)| {
        let remarks: Vec<&str> = remarks.iter().map(|remark| remark.as_str()).collect();
        let units = units.join(", ");
        if remarks.is_empty() { units } else { format!("{units}: {}", remarks.join(", ")) }
    });
    told.collect::<Vec<_>>().join("; ")
}

/// Keys as `action-set` takes them: below snap, architecture and revision.
fn snap_results(row: &Row) -> BTreeMap<String, String> {
    let key = |part: &str| format!("snaps.{}.{}.{}.{part}", row.snap, row.architecture, row.revision);
    let units: Vec<String> = row.units.iter().map(|(unit, _)| unit.to_string()).collect();
    let mut results =
        BTreeMap::from([(key("version"), row.version.clone()), (key("units"), units.join(" "))]);
    if let Some(channel) = &row.channel {
        results.insert(key("channel"), channel.to_string());
    }
    for (unit, remarks) in row.units.iter().filter(|(_, remarks)| !remarks.is_empty()) {
        let remarks: Vec<&str> = remarks.iter().map(|remark| remark.as_str()).collect();
        // `action-set` takes no slash in a key.
        let unit = unit.to_string().replace('/', "-");
        results.insert(key(&format!("why.{unit}")), remarks.join(", "));
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snap::{Architecture, Revision};

    #[test]
    fn units_of_which_the_same_is_to_be_said_stand_together() {
        let held = vec![Remark::HeldByLockstep];
        let failed = vec![Remark::HeldByLockstep, Remark::Failed];
        let told = [held.clone(), failed, held, Vec::new()];
        let units = (0..).zip(told).map(|(n, told)| (format!("lockstep/{n}").parse().unwrap(), told));
        let row = Row {
            snap: "kubelet".parse().unwrap(),
            architecture: Architecture::Amd64,
            channel: None,
            revision: Revision::Store(200),
            version: "1.31.1".to_owned(),
            units: units.collect(),
        };
        assert_eq!(
            super::units(&row),
            "lockstep/0, lockstep/2: held by lockstep; lockstep/1: held by lockstep, failed; lockstep/3"
        );
    }
}
