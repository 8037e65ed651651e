//! What a leader grants: S1, S2 and S3 by what it had committed and could know.

use super::{Committed, Judge, Rule};
use crate::facts::{Grant, completes, first_role, grants, json, member_role, parallelism, text};
use juju_sim::world::{Relation, Scope, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// A databag of the application that has just been committed.
struct Seen<'a> {
    world: &'a World,
    relation: &'a Relation,
    /// The unit that wrote it.
    leader: String,
    /// By unit, as committed before the event.
    before: &'a BTreeMap<String, Value>,
    new: &'a Committed,
}

impl Judge {
    /// What the leader has committed.
    pub(super) fn see_grants(
        &mut self,
        world: &World,
        app: &str,
        relation: &Relation,
        before: &BTreeMap<String, Value>,
    ) {
        let Some(bag) = relation.apps.get(app) else { return };
        if self.versions.insert(app.to_owned(), bag.version) == Some(bag.version) {
            return;
        }
        let skipped = json(&bag.values, "skipped");
        let new = Committed {
            since: world.clock,
            target: json(&bag.values, "target"),
            grants: grants(&json(&bag.values, "granted")),
            skipped: skipped["units"].as_object().into_iter().flatten().map(|(u, _)| u.clone()).collect(),
        };
        let id = text(&new.target["id"]);
        self.targets.insert((app.to_owned(), id.clone()), new.target.clone());
        let known = self.committed.entry(app.to_owned()).or_default();
        let old: Vec<u64> =
            known.last().into_iter().flat_map(|old| &old.grants).map(|grant| grant.serial).collect();
        known.push(new.clone());
        let parallel = parallelism(world, app);
        let leader = text(&json(&bag.values, "leader")["unit"]);
        let seen = Seen { world, relation, leader, before, new: &new };
        for grant in new.grants.iter().filter(|grant| !old.contains(&grant.serial)) {
            self.judge_slot(&new, parallel, grant);
            if grant.target != id {
                let what = format!("{} was granted {}, the target is {id}", grant.unit, grant.target);
                self.broken(Rule::S2, &what);
            }
            if grant.role != first_role(&new.target) {
                self.judge_order(&seen, grant);
            }
            self.judge_failed(&seen, grant);
        }
    }

    /// S1: beside whom somebody may be granted something.
    fn judge_slot(&self, new: &Committed, parallel: u64, grant: &Grant) {
        let (workers, control_plane): (Vec<&Grant>, Vec<&Grant>) =
            new.grants.iter().partition(|grant| grant.role == "worker");
        let alone = control_plane.len() + workers.len() == 1;
        let few = control_plane.is_empty() && workers.len() as u64 <= parallel;
        if !(alone || few) {
            self.broken(Rule::S1, &format!("{} was granted beside {:?}", grant.unit, new.grants));
        }
    }

    /// S1: no grant to the second role before the first is through, as far as the leader can know.
    fn judge_order(&self, seen: &Seen<'_>, grant: &Grant) {
        for (unit, told) in self.known(seen) {
            let first = member_role(seen.world, seen.relation, unit).is_some_and(|role| role != grant.role);
            let through = told.is_some_and(|told| completes(told, &seen.new.target["id"]))
                && !seen.new.grants.iter().any(|grant| grant.unit == *unit);
            if first && !through && !seen.new.skipped.contains(unit) {
                self.broken(Rule::S1, &format!("{} was granted before {unit} was through", grant.unit));
            }
        }
    }

    /// S3: nothing is granted while the leader knows of a failure in this target that nobody has
    /// answered with a new grant or a skip.
    fn judge_failed(&self, seen: &Seen<'_>, grant: &Grant) {
        for (unit, told) in self.known(seen) {
            let Some(told) = told.filter(|told| told["state"] == "failed") else { continue };
            let here = told["target"] == seen.new.target["id"];
            let serial = told["serial"].as_u64().unwrap_or(0);
            let again = seen.new.grants.iter().any(|grant| grant.unit == *unit && grant.serial > serial);
            if here && !again && !seen.new.skipped.contains(unit) {
                let cause = &told["cause"];
                self.broken(
                    Rule::S3,
                    &format!("{} was granted after {unit} had failed: {cause}", grant.unit),
                );
            }
        }
    }

    /// The members of which the leader knows the last committed progress, with it. Its own is the one
    /// that was committed before its hook.
    fn known<'a>(&'a self, seen: &'a Seen<'_>) -> impl Iterator<Item = (&'a String, Option<&'a Value>)> {
        let uniter = seen.world.units.get(&seen.leader);
        let heard = uniter.and_then(|unit| unit.uniter.relations.get(&seen.relation.id));
        let here = seen.relation.units.iter().filter(|(_, state)| state.scope == Scope::In);
        here.filter_map(move |(unit, state)| {
            if *unit == seen.leader {
                return Some((unit, seen.before.get(unit)));
            }
            let known = heard.and_then(|heard| heard.members.get(unit));
            (known == Some(&state.bag.version)).then(|| (unit, self.progress.get(unit)))
        })
    }
}
