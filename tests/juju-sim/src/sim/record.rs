//! The record of a job: what it changed, said and called, for the timeline and for expectations.

use super::conclude::refused;
use super::serve::Run;
use super::{BagRecord, Event, HookRecord, KeyChange, Outcome, Sim, StatusChange, shorten};
use crate::agent::commit::Changes;
use crate::agent::context::{Context, Job};
use crate::world::{HookInfo, Time, World};

/// How long the histories were when a job began.
pub(super) struct Snapshot {
    time: Time,
    history: usize,
    app_history: usize,
    log: usize,
    version: Option<String>,
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
        }
    }
}
