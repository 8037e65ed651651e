//! What is to be collected, if anything: the options, what principals tell, where COS takes it, and whether
//! another collector has the machine.

use super::render::Wanted;
use super::{file_name, places};
use crate::databag::certificates;
use crate::databag::charm_state::CollectionMemory;
use crate::databag::header::Header;
use crate::juju::{Level, Status, UnitName};
use crate::observed::collection::{Collection, Occasion};
use std::collections::{BTreeMap, BTreeSet};

/// What is wished.
#[derive(Debug)]
pub(super) enum Wish {
    /// Nothing of this unit is to be on the machine.
    Nothing,
    /// What is in force stays.
    AsItIs,
    /// That.
    Collect(Box<Wanted>),
}

/// The wish, and what is wrong with what others tell.
pub(super) fn of(part: &Collection, on: bool, memory: &CollectionMemory) -> (Vec<Status>, Wish) {
    let related = part.remote_write.related || part.loki.related;
    let told = part.sources.values().any(|source| {
        let jobs = &source.jobs;
        !jobs.jobs.is_empty() || !jobs.slots.is_empty() || !jobs.faults.is_empty()
    });
    let lost = part.silent.iter().find(|unit| memory.principals.contains(*unit));
    if !on || !related || !(told || lost.is_some()) || part.occasion == Occasion::Removing {
        return (Vec::new(), Wish::Nothing);
    }
    let rivals = rivals(part);
    if !rivals.is_empty() {
        let line = format!(
            "metrics and logs are left to {} on this machine; set collect=off to accept that, or remove it",
            rivals.into_iter().collect::<Vec<_>>().join(", ")
        );
        return (vec![Status::new(Level::Waiting, line)], Wish::Nothing);
    }
    let mut statuses = statuses(part, memory);
    if let Some(unit) = lost {
        // It starts anew, or sends garbage, which another concern names.
        let line = format!("{unit} tells nothing that can be read: what was collected before goes on");
        statuses.push(Status::new(Level::Active, line));
        return (statuses, Wish::AsItIs);
    }
    if part.remote_write.urls.is_empty() && part.loki.urls.is_empty() {
        return (statuses, Wish::Nothing);
    }
    (statuses, Wish::Collect(Box::new(wanted(part, memory))))
}

fn wanted(part: &Collection, memory: &CollectionMemory) -> Wanted {
    let mut slots = BTreeMap::new();
    for (unit, source) in part.sources.iter().filter(|_| !part.loki.urls.is_empty()) {
        for slot in &source.jobs.slots {
            slots.entry(slot.clone()).or_insert_with(|| unit.clone());
        }
    }
    let jobs = part.sources.iter().filter(|(unit, _)| !memory.refused.contains_key(*unit));
    let alone = others(part).next().is_none() && part.sources.len() == 1;
    Wanted {
        unit: part.unit.clone(),
        topology: part.topology.clone(),
        host: part.host.clone(),
        jobs: jobs.map(|(unit, source)| (unit.clone(), source.jobs.jobs.clone())).collect(),
        slots,
        mounts: part.machine.mounts.clone(),
        remote_write: part.remote_write.urls.clone(),
        loki: part.loki.urls.clone(),
        certificates: certificates::bundle(&part.certificates).is_some(),
        host_logs: ships_host_logs(part),
        sole: part.sources.keys().next().filter(|_| alone).cloned(),
    }
}

/// The files of other lockstep units on this machine.
pub(super) fn others(part: &Collection) -> impl Iterator<Item = &Header> {
    let headers = part.machine.files.values().filter_map(|file| file.header.as_ref());
    headers.filter(|header| header.unit != part.unit)
}

/// Whether this unit ships the machine's own lines: one does, and goes on as long as it is there. Juju
/// runs one hook at a time on a machine; should two ship them all the same, the first by name goes on.
fn ships_host_logs(part: &Collection) -> bool {
    let own = part.machine.files.get(&file_name(part)).and_then(|file| file.header.as_ref());
    let ships = own.is_some_and(|header| header.host);
    let mut rivals = others(part).filter(|header| header.host).peekable();
    rivals.peek().is_none() || (ships && rivals.all(|header| part.unit < header.unit))
}

/// Other collectors on this machine, by the names of their units as far as they tell them.
fn rivals(part: &Collection) -> BTreeSet<String> {
    let machine = &part.machine;
    let own = file_name(part);
    let files = machine.files.iter().filter(|(name, file)| file.header.is_none() && **name != own);
    let files = files.map(|(name, _)| name.trim_end_matches(".yaml"));
    let locks = machine.locks.iter().filter(|(_, owner)| owner.is_none());
    let locks = locks.map(|(name, _)| name.rsplit_once("__").map_or(name.as_str(), |(_, unit)| unit));
    let agent = machine.agent.then_some(places::AGENT_SNAP);
    files.chain(locks).chain(agent).map(shown).collect()
}

/// `otelcol_0` is the unit `otelcol/0`; any other name as it is, shortened.
fn shown(name: &str) -> String {
    let unit =
        name.rsplit_once('_').and_then(|(app, number)| format!("{app}/{number}").parse::<UnitName>().ok());
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    unit.map_or_else(|| name.chars().take(40).map(plain).collect(), |unit| unit.to_string())
}

fn statuses(part: &Collection, memory: &CollectionMemory) -> Vec<Status> {
    let mut statuses = Vec::new();
    for (who, fault) in &part.faults {
        statuses.push(Status::new(Level::Blocked, format!("{who} {fault}")));
    }
    for (unit, source) in &part.sources {
        for fault in &source.jobs.faults {
            statuses.push(Status::new(Level::Blocked, format!("{unit} config {fault}; not collected")));
        }
    }
    for unit in memory.refused.keys() {
        let line = format!("the collector refuses the jobs of {unit}; not collected");
        statuses.push(Status::new(Level::Blocked, line));
    }
    let jobs = part.sources.values().any(|source| !source.jobs.jobs.is_empty());
    let silent = part.remote_write.silent.iter().filter(|_| jobs);
    statuses
        .extend(silent.map(|app| Status::new(Level::Waiting, format!("no remote-write URL from {app} yet"))));
    let silent = part.loki.silent.iter();
    statuses.extend(silent.map(|app| Status::new(Level::Waiting, format!("no Loki URL from {app} yet"))));
    statuses
}
