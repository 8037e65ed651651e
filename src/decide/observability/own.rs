//! The own principals' data become records in the own peer unit databag.
//!
//! A record goes only with its source: when the principal unit is no longer related, or when its new
//! data replace it. Data that are no use as a whole, or a databag that holds nothing (a principal that
//! starts up again), leave the last good record where it is; an empty but valid value replaces it.
//! One principal unit over two relations is one record: the lowest relation with valid data wins.

use super::budget;
use super::lines::{Lines, Rank};
use super::workshop::Workshop;
use crate::databag::Digest;
use crate::databag::record::{Record, unit_of_key};
use crate::juju::{AppName, UnitName};
use crate::observed::observability::{Observability, Principal};
use std::collections::{BTreeMap, BTreeSet};

/// What this unit tells its peers.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// Records by principal unit.
    pub(super) records: BTreeMap<UnitName, Record>,
    /// Applications of related principals whose data cannot be read and of which no record is left.
    pub(super) bereft: BTreeSet<AppName>,
    /// Rules and dashboards whose faults this unit has named.
    pub(super) checked: BTreeSet<Digest>,
}

pub(super) fn decide(observed: &Observability, workshop: &mut Workshop<'_>, lines: &mut Lines) -> Own {
    let mut by_unit: BTreeMap<&UnitName, Vec<&Principal>> = BTreeMap::new();
    for principal in &observed.principals {
        by_unit.entry(&principal.unit).or_default().push(principal);
    }
    // The bare key of the first generation sorts before a `config-<unit>` of the same unit.
    let mut last_good: BTreeMap<&UnitName, &Record> = BTreeMap::new();
    let mut unreadable: BTreeSet<UnitName> = BTreeSet::new();
    for (key, record) in &observed.own_records {
        match record {
            Ok(record) => drop(last_good.insert(&record.unit, record)),
            Err(_) => unreadable.extend(unit_of_key(key)),
        }
    }
    let mut own = Own::default();
    for (unit, mut principals) in by_unit {
        principals.sort_by_key(|principal| principal.relation);
        let fresh = principals.iter().find_map(|principal| {
            let content = principal.config.as_ref()?.as_ref().ok()?;
            Some((*principal, content))
        });
        let old = last_good.get(unit).copied();
        let mut faulty = false;
        for principal in &principals {
            if let Some(Err(fault)) = &principal.config {
                faulty = true;
                let kept = match (fresh, old) {
                    (Some((other, _)), _) => format!("{} is used", other.relation),
                    (None, Some(_)) => "its last good data stay".to_owned(),
                    (None, None) => "not forwarded".to_owned(),
                };
                let line = format!("{unit} ({}) config {fault}; {kept}", principal.relation);
                lines.add(Rank::OwnValue, line);
            }
        }
        if let Some((principal, content)) = fresh {
            for fault in workshop.faults(content) {
                let line = format!("{unit} ({}) config {fault}; left out", principal.relation);
                lines.add(Rank::OwnItem, line);
            }
            own.checked.extend([content.metric_rules, content.log_rules]);
            own.checked.extend(&content.dashboards);
            let record = Record {
                unit: unit.clone(),
                relation_number: principal.relation.number.to_string(),
                relation_name: principal.relation.endpoint.name().to_owned(),
                content: content.clone(),
            };
            own.records.insert(unit.clone(), record);
        } else if let Some(record) = old {
            own.records.insert(unit.clone(), record.clone());
        } else if faulty || unreadable.contains(unit) {
            own.bereft.insert(unit.application().clone());
        }
    }
    budget::records(observed, &last_good, &mut own, lines);
    own
}
