//! The leader's choice among the units' records: per principal application and per kind.
//!
//! Something beats nothing, fewer faults beat more, then the lowest principal unit number and the lowest
//! lockstep unit. A metric rule set that holds nothing but the group that newer providers always add
//! stands between: a principal that is starting up sends just that. While a principal is refreshed unit
//! by unit the choice changes at most once, with its lowest unit.

use super::lines::{Lines, Rank};
use super::own::Own;
use super::workshop::Workshop;
use crate::databag::Fault;
use crate::databag::record::{Content, record_key, unit_of_key};
use crate::databag::rules::Query;
use crate::databag::{grafana, remote_write};
use crate::juju::{AppName, Endpoint, UnitName};
use crate::observed::observability::{Observability, Strangers};
use std::collections::{BTreeMap, BTreeSet};

/// One record that could be chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate<'a> {
    holder: &'a UnitName,
    unit: &'a UnitName,
    pub(super) content: &'a Content,
}

/// The chosen contents of one application.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chosen<'a> {
    metrics: Candidate<'a>,
    logs: Candidate<'a>,
    pub(super) dashboards: Candidate<'a>,
}

impl<'a> Chosen<'a> {
    /// The content whose rules of that kind are forwarded.
    pub(super) fn rules(&self, query: Query) -> &'a Content {
        match query {
            Query::Metrics => self.metrics.content,
            Query::Logs => self.logs.content,
        }
    }
}

/// What the leader hands on.
#[derive(Debug, Default)]
pub(super) struct Gathered<'a> {
    /// By principal application.
    pub(super) chosen: BTreeMap<&'a AppName, Chosen<'a>>,
    /// Applications of which no record can be read, but one that should be there cannot: what the
    /// outgoing databags hold of them stays.
    pub(super) held: BTreeSet<AppName>,
    /// Those among them of which only units can tell that this leader has not met.
    pub(super) strangers: BTreeSet<AppName>,
}

impl<'a> Gathered<'a> {
    /// All applications of which something may go out.
    pub(super) fn applications(&self) -> BTreeSet<&AppName> {
        self.chosen.keys().copied().chain(&self.held).collect()
    }
}

pub(super) fn gather<'a>(
    observed: &'a Observability,
    own: &'a Own,
    workshop: &mut Workshop<'_>,
    lines: &mut Lines,
) -> Gathered<'a> {
    let mut candidates: BTreeMap<&AppName, Vec<Candidate<'a>>> = BTreeMap::new();
    let mut add = |holder, unit: &'a UnitName, content| {
        let of_application = candidates.entry(unit.application()).or_default();
        of_application.push(Candidate { holder, unit, content });
    };
    for (unit, record) in &own.records {
        add(&observed.unit, unit, &record.content);
    }
    let mut unreadable = Vec::new();
    for (holder, records) in &observed.peer_records {
        for (key, record) in records {
            match record {
                Ok(record) => add(holder, &record.unit, &record.content),
                Err(fault) => unreadable.push((holder, key, fault)),
            }
        }
    }
    let mut held = own.bereft.clone();
    for (holder, key, fault) in unreadable {
        let application = unit_of_key(key).map(|unit| unit.application().clone());
        let kept = match &application {
            Some(application) if candidates.contains_key(application) => {
                format!("{application} is taken from another unit")
            }
            Some(application) => format!("what went out for {application} stays"),
            None => "left out".to_owned(),
        };
        held.extend(application);
        lines.add(Rank::PeerValue, format!("{holder} {key} {fault}; {kept}"));
    }
    let mut strangers = strangers(observed);
    strangers.retain(|application| !candidates.contains_key(application));
    held.extend(strangers.iter().cloned());
    held.retain(|application| !candidates.contains_key(application));
    let mut gathered = Gathered { chosen: BTreeMap::new(), held, strangers };
    for (application, candidates) in candidates {
        if let Some(chosen) = choose(&candidates, workshop) {
            peer_faults(&chosen, own, workshop, lines);
            gathered.chosen.insert(application, chosen);
        }
    }
    gathered
}

/// The applications that went out before this unit led, as far as it may not know them yet.
fn strangers(observed: &Observability) -> BTreeSet<AppName> {
    match &observed.strangers {
        Strangers::None => BTreeSet::new(),
        Strangers::These(applications) => applications.clone(),
        Strangers::Any => {
            let bags = observed.outgoing.iter().filter_map(|outgoing| {
                let bag = outgoing.own.as_ref()?;
                // The databags for Prometheus and Loki have one form.
                Some(if outgoing.relation.endpoint == Endpoint::GrafanaDashboards {
                    grafana::applications_of(bag, &observed.topology)
                } else {
                    remote_write::applications_of(bag)
                })
            });
            bags.flatten().filter(|application| *application != observed.topology.application).collect()
        }
    }
}

/// How good a candidate is for one kind; the lowest is chosen.
type Goodness<'a> = (u8, usize, u32, &'a UnitName);

fn choose<'a>(candidates: &[Candidate<'a>], workshop: &mut Workshop<'_>) -> Option<Chosen<'a>> {
    let best = |of: &mut dyn FnMut(&Content) -> (u8, usize)| {
        let goodness = |candidate: &Candidate<'a>| -> Goodness<'a> {
            let (emptiness, faults) = of(candidate.content);
            let number = candidate.unit.number();
            (emptiness, faults, number, candidate.holder)
        };
        candidates.iter().copied().min_by_key(goodness)
    };
    Some(Chosen {
        metrics: best(&mut |content| rules_goodness(content, Query::Metrics, workshop))?,
        logs: best(&mut |content| rules_goodness(content, Query::Logs, workshop))?,
        dashboards: best(&mut |content| {
            let faults = workshop.dashboard_faults(content).len();
            let empty = faults == content.dashboards.len();
            (if empty { 2 } else { 0 }, faults)
        })?,
    })
}

fn rules_goodness(content: &Content, query: Query, workshop: &mut Workshop<'_>) -> (u8, usize) {
    let rules = workshop.rules(content, query);
    let emptiness = match rules.groups.iter().all(|group| group.is_host_health()) {
        _ if rules.groups.is_empty() => 2,
        true => 1,
        false => 0,
    };
    (emptiness, rules.faults.count())
}

/// Names what is left out of the chosen records of other units. A record that was not chosen costs
/// nothing; the unit that holds it names its faults itself. What this unit's own principals send too
/// is named once.
fn peer_faults(chosen: &Chosen<'_>, own: &Own, workshop: &mut Workshop<'_>, lines: &mut Lines) {
    let mut report = |from: Candidate<'_>, fault: Fault| {
        let key = record_key(from.unit);
        let line = format!("{} {key} {fault}; left out", from.holder);
        lines.add(Rank::PeerItem, line);
    };
    for (query, from) in [(Query::Metrics, chosen.metrics), (Query::Logs, chosen.logs)] {
        if !own.checked.contains(&Workshop::digest(from.content, query)) {
            for fault in workshop.rule_faults(from.content, query) {
                report(from, fault);
            }
        }
    }
    for (digest, fault) in workshop.dashboard_faults(chosen.dashboards.content) {
        if !own.checked.contains(&digest) {
            report(chosen.dashboards, fault);
        }
    }
}
