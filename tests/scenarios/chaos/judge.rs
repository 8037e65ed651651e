//! What must hold beside S1, S2 and S4: in every event, and when faults have stopped.

use super::begin::{self, Model};
use super::take;
use crate::facts::{applications, json};
use crate::invariants;
use juju_sim::sim::{Event, HookRecord, Outcome, Sim};
use juju_sim::world::{Life, Scope, World};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Rounds of ten minutes in which everybody must get there.
const ROUNDS: usize = 14;

/// What was counted while a run was judged.
#[derive(Debug, Clone, Default)]
pub struct Seen(Rc<(Cell<usize>, Cell<usize>)>);

impl Seen {
    /// Judges the simulation from now on; panics with the first breach.
    pub fn watch(sim: &mut Sim) -> Self {
        let seen = Self::default();
        let counted = seen.clone();
        let mut judge = invariants::judge(sim);
        let mut forwarded = Forwarded::default();
        sim.observe(move |world, event| {
            judge(world, event);
            if let Event::Hook(record) = event {
                let (hooks, faults) = &*counted.0;
                hooks.set(hooks.get() + 1);
                faults.set(faults.get() + record.faults.len());
                hook(record);
            }
            forwarded.look(world);
        });
        seen
    }

    /// Hooks that ran, and faults that came true.
    pub fn counted(&self) -> (usize, usize) {
        (self.0.0.get(), self.0.1.get())
    }
}

/// A hook of ours fails only by a fault that came true in it, and never panics.
fn hook(record: &HookRecord) {
    let (unit, name) = (&record.unit, &record.name);
    if World::app_of(unit) != "lockstep" {
        return;
    }
    // Where hooks run inside tool calls, one that waits for the store holds up the call that it is in.
    let held_up = || record.log.iter().any(|line| line.text.contains("did not answer within"));
    if let Outcome::Failed(why) = &record.outcome
        && record.kind == "hook"
        && record.faults.is_empty()
        && !held_up()
    {
        panic!("hook error without a fault: {name} of {unit}: {why}");
    }
    let lines = record.log.iter().map(|line| line.text.as_str());
    let statuses = record.statuses.iter().map(|status| status.info.message.as_str());
    for line in lines.chain(statuses).chain([record.stdout.as_str(), record.stderr.as_str()]) {
        assert!(
            !line.contains("panicked") && !line.contains("fault in lockstep"),
            "panic text: {unit}: {line}"
        );
        assert!(!line.contains("MSBrdWJl"), "a cohort key is told: {unit}: {line}");
    }
}

/// Which principals' rules are at Prometheus, and whose records units hold.
#[derive(Debug, Default)]
struct Forwarded {
    there: BTreeSet<String>,
    held: BTreeMap<String, BTreeSet<String>>,
}

impl Forwarded {
    fn look(&mut self, world: &World) {
        for (app, peers) in applications(world) {
            let mut held: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (unit, state) in peers.units.iter().filter(|(_, state)| state.scope == Scope::In) {
                let living = world.units.get(unit).is_some_and(|unit| unit.life == Life::Alive);
                for key in state.bag.values.keys().filter(|_| living) {
                    let source = key.strip_prefix("config-").and_then(|name| name.split_once('/'));
                    if let Some((source, _)) = source {
                        held.entry(source.to_owned()).or_default().insert(unit.clone());
                    }
                }
            }
            let ends = [format!("{app}:send-remote-write"), "prometheus:receive-remote-write".to_owned()];
            let relation = world.find_relation(&ends).and_then(|id| world.relations.get(&id));
            let Some(bag) = relation.and_then(|relation| relation.apps.get(app)) else {
                self.there.clear();
                self.held = held;
                continue;
            };
            let rules = json(&bag.values, "alert_rules").to_string();
            let there: BTreeSet<String> = ["kubernetes-control-plane", "kubernetes-worker", "ledger-db"]
                .into_iter()
                .filter(|source| rules.contains(&format!("_{}:", source.replace('-', "_"))))
                .map(str::to_owned)
                .collect();
            for gone in self.there.difference(&there) {
                // Somebody who had its record before has it still.
                let (before, now) = (self.held.get(gone), held.get(gone));
                let stays =
                    before.zip(now).is_some_and(|(before, now)| before.intersection(now).next().is_some());
                assert!(!stays, "lost: the rules of {gone}, whose record {now:?} still hold");
            }
            (self.there, self.held) = (there, held);
        }
    }
}

/// Faults stop, principals send what is good, and an admin does what statuses ask for: everybody gets there.
pub fn come_to_rest(sim: &mut Sim, model: &Model) -> Result<(), String> {
    sim.disarm();
    take(sim, "store: {outage: none, slow: 0}")?;
    let dead: Vec<String> =
        sim.world.machines.iter().filter(|(_, machine)| !machine.up).map(|(id, _)| id.clone()).collect();
    for machine in dead {
        take(sim, &format!("reboot: {{machine: \"{machine}\"}}"))?;
    }
    // Wrong options stay in force as the last good ones; these are good, and what there is to move stays open.
    take(
        sim,
        "config: {application: lockstep, set: {worker-parallelism: 1, cohort-refresh: auto, pause-after-unit-refresh: none}}",
    )?;
    if sim.world.applications["lockstep"].config()["channel"] == "nonsense/" {
        take(sim, "config: {application: lockstep, set: {channel: 1.32/stable}}")?;
    }
    for sender in &model.senders {
        take(sim, &begin::integrate_sender(sender))?;
    }
    take(sim, "settle: {}")?;
    let senders: Vec<String> = sim
        .world
        .units
        .values()
        .filter(|unit| model.senders.contains(&unit.application.as_str()))
        .map(|unit| unit.name.clone())
        .collect();
    for unit in senders {
        take(sim, &begin::sends(&unit))?;
    }
    // Nobody refuses anything any more.
    for (name, theirs, ours) in &model.receivers {
        let good = r#""{\"valid\": true, \"errors\": []}""#;
        let ends = format!("[\"lockstep:{ours}\", \"{name}:{theirs}\"]");
        take(sim, &format!("databag: {{relation: {ends}, app: {name}, set: {{event: {good}}}}}"))?;
    }
    for _ in 0..ROUNDS {
        take(sim, "live: {minutes: 10}")?;
        if open(sim).is_none() {
            return Ok(());
        }
        take(sim, "action: {unit: lockstep/leader, name: override-checks, params: {checks: all}}")?;
        take(sim, "action: {unit: lockstep/leader, name: resume-upgrade}")?;
        for unit in waiting(sim) {
            take(
                sim,
                &format!("action: {{unit: lockstep/leader, name: retry-unit, params: {{unit: {unit}}}}}"),
            )?;
        }
    }
    Err(format!("not in step: {}", open(sim).unwrap_or_default()))
}

/// Who has failed or was passed over.
fn waiting(sim: &Sim) -> Vec<String> {
    let Some((app, peers)) = applications(&sim.world).next() else { return Vec::new() };
    let skipped = peers.apps.get(app).map(|bag| json(&bag.values, "skipped"));
    let listed = skipped.iter().filter_map(|skipped| skipped["units"].as_object()).flatten();
    let mut units: Vec<String> = listed.map(|(unit, _)| unit.clone()).collect();
    let failed =
        peers.units.iter().filter(|(_, state)| json(&state.bag.values, "progress")["state"] == "failed");
    units.extend(failed.map(|(unit, _)| unit.clone()));
    units
}

/// What is still open: who is not in step, in error, or blocked.
fn open(sim: &Sim) -> Option<String> {
    let world = &sim.world;
    let members = world.units.values().filter(|unit| unit.application.starts_with("kubernetes-")).count();
    let status = world.app_status("lockstep").to_string();
    let wanted = format!("{members} of {members} in step");
    if !status.contains(&wanted) {
        return Some(format!("the application is {status}, not {wanted}"));
    }
    let mut ours = world.units.values().filter(|unit| unit.application == "lockstep");
    let bad = ours.find(|unit| unit.in_error() || unit.workload.status == "blocked");
    bad.map(|unit| format!("{} is {}", unit.name, unit.shown_status()))
}
