//! S1 to S4, judged after every event of every scenario by facts: what snapd did on the machines
//! and what Juju committed. Nothing of the code under test is used.
//!
//! A move is a refresh that a unit of lockstep began, from its start to that unit's committed answer.

mod grants;

use crate::facts::{Grant, applications, completes, done, is_move, json, node_of, parallelism, text, wanted};
use juju_sim::sim::{Event, HookRecord, Outcome, Sim};
use juju_sim::snapd::{Change, Presence};
use juju_sim::world::{Relation, Scope, Time, World};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A rule that a scenario may be exempt from, because in it an admin forces something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Who moves at once, and which role first.
    S1,
    /// Nobody moves without a committed grant.
    S2,
    /// Nothing is granted after a failure that the leader has read.
    S3,
    /// Who says completed runs what the target says.
    S4,
}

/// Scenarios in which an admin forces what the rule forbids.
const EXEMPT: &[(&str, Rule)] = &[];

/// Judges the simulation from now on; panics with the first breach.
pub fn watch(name: &str, sim: &mut Sim) {
    let exempt = EXEMPT.iter().filter(|(scenario, _)| *scenario == name).map(|(_, rule)| *rule).collect();
    sim.observe(judging(sim, exempt));
}

/// A judge for whoever has more to look at.
pub fn judge(sim: &Sim) -> impl FnMut(&World, &Event) + use<> {
    judging(sim, Vec::new())
}

fn judging(sim: &Sim, exempt: Vec<Rule>) -> impl FnMut(&World, &Event) + use<> {
    let mut judge = Judge { exempt: vec![Rule::S1, Rule::S2, Rule::S3, Rule::S4], ..Judge::default() };
    // What is there when it begins is nobody's doing.
    judge.look(&sim.world);
    judge.exempt = exempt;
    move |world, event| judge.see(world, event)
}

/// At the end: units of one architecture and channel that completed one target run the same, or a
/// status says that they differ.
pub fn judge_end(sim: &Sim) {
    let world = &sim.world;
    for (app, relation) in applications(world) {
        let target = relation.apps.get(app).map_or(Value::Null, |bag| json(&bag.values, "target"));
        let mut first: BTreeMap<(String, String, String), (&str, String)> = BTreeMap::new();
        for (unit, state) in relation.units.iter().filter(|(_, state)| state.scope == Scope::In) {
            let progress = json(&state.bag.values, "progress");
            let (Some(at), true) = (world.units.get(unit), completes(&progress, &target["id"])) else {
                continue;
            };
            let machine = &world.machines[&at.machine];
            for name in done(&progress) {
                let Some(snap) = machine.snapd.snaps.get(&name) else { continue };
                let tracking = snap.tracking.as_ref().map(ToString::to_string).unwrap_or_default();
                let place = (name.clone(), machine.arch.clone(), tracking);
                let (other, than) =
                    first.entry(place).or_insert((unit.as_str(), snap.revision.clone())).clone();
                let mut said = world.units.values().map(|unit| &unit.workload.message);
                let told = said.any(|line| line.contains("differs in one target"));
                assert!(
                    than == snap.revision || told,
                    "S4: {other} and {unit} completed {} and run {name} {than} and {}; no status says so",
                    target["id"],
                    snap.revision
                );
            }
        }
    }
}

/// What a leader has committed, since when.
#[derive(Debug, Clone)]
struct Committed {
    since: Time,
    target: Value,
    grants: Vec<Grant>,
    skipped: BTreeSet<String>,
}

/// A unit that has begun to move and has not answered.
#[derive(Debug)]
struct Moving {
    unit: String,
    role: String,
    serial: u64,
}

#[derive(Debug, Default)]
struct Judge {
    exempt: Vec<Rule>,
    /// By application: what was committed, in order, and at which version of its databag.
    committed: BTreeMap<String, Vec<Committed>>,
    versions: BTreeMap<String, u64>,
    targets: BTreeMap<(String, String), Value>,
    /// By unit, as committed before the present event.
    progress: BTreeMap<String, Value>,
    read: BTreeMap<String, u64>,
    moving: Vec<Moving>,
    /// By machine: the first change that was not seen, and those whose hook has not ended.
    seen: BTreeMap<String, u32>,
    open: Vec<(String, Change)>,
}

impl Judge {
    fn see(&mut self, world: &World, event: &Event) {
        let record = match event {
            Event::Hook(record) => Some(record.as_ref()),
            Event::Step { .. } | Event::Note { .. } => None,
        };
        let before = self.progress.clone();
        self.look(world);
        for (app, _) in applications(world) {
            self.judge_moving(world, app);
            if let Some(record) = record.filter(|record| World::app_of(&record.unit) == app) {
                self.judge_grant(app, record, &before);
                self.judge_completed(world, app, record);
            }
        }
    }

    /// What there is to see: moves, reports, grants.
    fn look(&mut self, world: &World) {
        self.see_moves(world);
        for (app, relation) in applications(world) {
            let before = self.progress.clone();
            self.see_reports(relation);
            self.see_grants(world, app, relation, &before);
        }
    }

    fn broken(&self, rule: Rule, what: &str) {
        assert!(self.exempt.contains(&rule), "{rule:?}: {what}");
    }

    /// Refreshes that units of lockstep began.
    fn see_moves(&mut self, world: &World) {
        for (id, machine) in &world.machines {
            let from = self.seen.get(id).copied().unwrap_or(0);
            self.seen.insert(id.clone(), machine.snapd.next_change);
            for change in machine.snapd.changes.iter().filter(|change| change.id >= from && is_move(change)) {
                let Some(unit) = &change.by.unit else { continue };
                let Some(committed) = self.committed.get(World::app_of(unit)) else { continue };
                let grant = committed.iter().rev().filter(|committed| committed.since <= change.spawn);
                let grant = grant.flat_map(|committed| &committed.grants).find(|grant| grant.unit == *unit);
                let (serial, role) = grant.map_or((0, String::new()), |g| (g.serial, g.role.clone()));
                if !self.moving.iter().any(|moving| moving.unit == *unit && moving.serial == serial) {
                    self.moving.push(Moving { unit: unit.clone(), role, serial });
                }
                self.open.push((id.clone(), change.clone()));
            }
        }
    }

    /// Progress that was committed: it ends moves.
    fn see_reports(&mut self, relation: &Relation) {
        for (unit, state) in &relation.units {
            if self.read.insert(unit.clone(), state.bag.version) != Some(state.bag.version) {
                self.progress.insert(unit.clone(), json(&state.bag.values, "progress"));
            }
        }
        self.moving.retain(|moving| {
            let told = self.progress.get(&moving.unit);
            !told.is_some_and(|told| {
                told["serial"].as_u64() >= Some(moving.serial) && told["state"] != "upgrading"
            })
        });
    }

    /// S1: who moves at once.
    fn judge_moving(&mut self, world: &World, app: &str) {
        self.moving.retain(|moving| world.units.contains_key(&moving.unit));
        let skipped = self.committed.get(app).and_then(|all| all.last()).map(|last| &last.skipped);
        let counts = |moving: &&Moving| {
            World::app_of(&moving.unit) == app
                && !skipped.is_some_and(|skipped| skipped.contains(&moving.unit))
        };
        let moving = self.moving.iter().filter(counts);
        let (workers, others): (Vec<&Moving>, Vec<&Moving>) =
            moving.partition(|moving| moving.role == "worker");
        let parallel = parallelism(world, app);
        if others.len() > 1 || workers.len() as u64 > parallel || !(others.is_empty() || workers.is_empty()) {
            self.broken(Rule::S1, &format!("{others:?} and {workers:?} move at once"));
        }
    }

    /// S2: what this hook moved was granted, for the target that was in force, and not yet answered.
    fn judge_grant(&mut self, app: &str, record: &HookRecord, before: &BTreeMap<String, Value>) {
        let ours =
            |change: &Change| change.by.unit.as_ref() == Some(&record.unit) && change.spawn <= record.ended;
        let (moves, open) = std::mem::take(&mut self.open).into_iter().partition(|(_, change)| ours(change));
        self.open = open;
        let moves: Vec<(String, Change)> = moves;
        for (machine, change) in moves {
            let all = self.committed.get(app).map(Vec::as_slice).unwrap_or_default();
            let valid = all.iter().enumerate().any(|(number, committed)| {
                let until = all.get(number + 1).map(|next| next.since);
                let in_force =
                    committed.since <= change.spawn && until.is_none_or(|until| until >= record.time);
                in_force && grants_move(committed, &record.unit, before.get(&record.unit), &change)
            });
            if !valid {
                let (unit, what) = (&record.unit, change.describe());
                self.broken(Rule::S2, &format!("machine {machine}: {unit} moves without a grant: {what}"));
            }
        }
    }

    /// S4: whoever says in this hook that it has completed a target runs what that says.
    fn judge_completed(&self, world: &World, app: &str, record: &HookRecord) {
        let Some(progress) = self.progress.get(&record.unit).filter(|told| told["state"] == "completed")
        else {
            return;
        };
        let target = self.targets.get(&(app.to_owned(), text(&progress["target"])));
        let (Some(target), Some(unit)) = (target, world.units.get(&record.unit)) else { return };
        let machine = &world.machines[&unit.machine];
        if record.outcome != Outcome::Done
            || record.kind == "action"
            || machine.snapd.presence != Presence::Up
        {
            return;
        }
        for name in done(progress) {
            let Some(snap) = machine.snapd.snaps.get(&name) else { continue };
            let wanted = wanted(
                world,
                &target["snaps"][&name],
                &node_of(world, &record.unit),
                &machine.arch,
                snap.tracking.as_ref(),
            );
            if wanted.as_ref().is_some_and(|wanted| *wanted != snap.revision) {
                let (unit, runs, wanted) = (&record.unit, &snap.revision, wanted.unwrap_or_default());
                self.broken(Rule::S4, &format!("{unit} says completed and runs {name} {runs}, not {wanted}"));
            }
        }
    }
}

/// Whether what was committed allows this move of a unit.
fn grants_move(committed: &Committed, unit: &str, told: Option<&Value>, change: &Change) -> bool {
    let target = &committed.target;
    let Some(grant) = committed.grants.iter().find(|grant| grant.unit == unit) else { return false };
    let answered = told.is_some_and(|told| {
        let serial = told["serial"].as_u64().unwrap_or(0);
        serial > grant.serial || (serial == grant.serial && told["state"] != "upgrading")
    });
    // The channel may be another one only in an upgrade or on the way back.
    let stays =
        change.moves.iter().all(|m| m.from.as_ref().is_some_and(|from| from.tracking == m.to.tracking));
    let leaves = target["kind"] == "upgrade" || target["rollback"] == true;
    let there = change.moves.iter().all(|m| {
        let wanted = &target["snaps"][&m.snap]["cohort"];
        wanted.is_null() || m.to.cohort_key.as_deref() == wanted.as_str()
    });
    grant.target == text(&target["id"]) && !answered && (stays || leaves) && there
}
