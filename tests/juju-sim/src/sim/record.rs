//! The record of a job: what it changed, said and called, for the timeline and for expectations.

use super::conclude::refused;
use super::serve::Run;
use super::{BagRecord, Event, HookRecord, KeyChange, Outcome, Sim, StatusChange, shorten};
use crate::agent::commit::Changes;
use crate::agent::context::{Context, Job};
use crate::snapd::Change;
use crate::world::{HookInfo, Time, World};

/// How long the histories were when a job began.
pub(super) struct Snapshot {
    time: Time,
    history: usize,
    app_history: usize,
    log: usize,
    version: Option<String>,
    machine: String,
    change: u32,
}

impl Sim {
    #[expect(clippy::too_many_arguments, reason = "one record from all that is known of a job")]
    pub(super) fn record(
        &mut self,
        context: &Context,
        before: &Snapshot,
        name: String,
        retry: u32,
        outcome: Outcome,
        run: Run,
        changes: Changes,
    ) {
        let hook = match &context.job {
            Job::Hook(hook) => Some(hook.clone()),
            Job::Action(_) | Job::Exec(_) => None,
        };
        let unit = self.world.units.get(&context.unit);
        let history = unit.map_or(&[][..], |u| u.history.get(before.history..).unwrap_or_default());
        let mut statuses: Vec<StatusChange> = history
            .iter()
            .filter(|entry| entry.kind == "workload")
            .map(|entry| StatusChange { of: context.unit.clone(), info: entry.info.clone() })
            .collect();
        let app_history = self.world.applications.get(&context.app).map(|a| a.status_history.as_slice());
        let app_history = app_history.and_then(|all| all.get(before.app_history..)).unwrap_or_default();
        statuses.extend(
            app_history.iter().map(|info| StatusChange { of: context.app.clone(), info: info.clone() }),
        );
        let log = self.world.log.get(before.log..).unwrap_or_default();
        let log = log.iter().filter(|line| line.unit == context.unit).cloned().collect();
        let version = unit.and_then(|u| u.version.clone()).filter(|v| before.version.as_ref() != Some(v));
        let snapd = self.world.machines.get(&before.machine).map(|machine| &machine.snapd);
        let began = snapd.into_iter().flat_map(|snapd| &snapd.changes).filter(|change| {
            change.id >= before.change && change.by.unit.as_deref() == Some(context.unit.as_str())
        });
        let snaps = began.filter(|change| !change.moves.is_empty()).map(shown).collect();
        let bags = changes.bags.iter().map(|bag| BagRecord {
            relation: context.relation_id(bag.relation),
            owner: bag.owner.clone(),
            keys: bag
                .keys
                .iter()
                .map(|(key, old, new)| KeyChange {
                    key: key.clone(),
                    was: old.as_ref().map(String::len),
                    is: new.as_ref().map(String::len),
                    value: shorten(new.as_deref().unwrap_or(""), 60),
                })
                .collect(),
        });
        let mut faults = run.fired;
        if refused(&outcome) {
            faults.push("the commit was refused".to_owned());
        }
        let record = HookRecord {
            time: before.time,
            ended: self.world.clock,
            unit: context.unit.clone(),
            kind: match &context.job {
                Job::Hook(_) => "hook",
                Job::Action(_) => "action",
                Job::Exec(_) => "exec",
            }
            .to_owned(),
            name,
            relation: hook.as_ref().and_then(HookInfo::relation_id),
            remote: hook.as_ref().and_then(|h| h.remote_unit.clone().or_else(|| h.remote_app.clone())),
            departing: hook.as_ref().and_then(|h| h.departing.clone()),
            retry,
            during: self.running.last().map(|r| format!("{} {}", r.unit, r.name)),
            outcome,
            bags: bags.collect(),
            calls: run.calls,
            state: changes.state,
            ports: changes.ports,
            statuses,
            version,
            log,
            stdout: if hook.is_none() { run.stdout } else { String::new() },
            stderr: if hook.is_none() { run.stderr } else { String::new() },
            snaps,
            faults,
        };
        self.tell(Event::Hook(Box::new(record)));
    }

    pub(super) fn snapshot(&self, unit: &str) -> Snapshot {
        let of = self.world.units.get(unit);
        let app = self.world.applications.get(World::app_of(unit));
        Snapshot {
            time: self.world.clock,
            history: of.map_or(0, |u| u.history.len()),
            app_history: app.map_or(0, |a| a.status_history.len()),
            log: self.world.log.len(),
            version: of.and_then(|u| u.version.clone()),
            machine: of.map(|u| u.machine.clone()).unwrap_or_default(),
            change: of.and_then(|u| self.world.machines.get(&u.machine)).map_or(0, |m| m.snapd.next_change),
        }
    }
}

/// A change for the timeline.
fn shown(change: &Change) -> String {
    let what = change.describe();
    match (change.ready, &change.error) {
        (None, _) => format!("{what}, still under way"),
        (Some(_), Some(error)) => {
            format!("{what}: FAILED and undone: {}", shorten(&error.replace('\n', " "), 160))
        }
        (Some(end), None) => match end.0.saturating_sub(change.spawn.0) / 1000 {
            0 => what,
            seconds => format!("{what}, in {seconds} s"),
        },
    }
}
