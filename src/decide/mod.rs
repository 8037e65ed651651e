//! The pure core: [`Observed`] in, a [`Plan`] out. No I/O, no clock, no randomness; total.
//!
//! Each concern decides alone. What it wants is a set of keys for each own databag, its statuses,
//! and nothing else; what differs from what is there is worked out once, here.

pub mod coherence;
pub mod collection;
mod concern;
mod difference;
mod leader;
pub mod observability;
pub mod options;
pub mod rollout;
mod setup;
mod status;
pub mod upgrade;
mod withheld;

use concern::DECISIONS;
pub use concern::{CONCERNS, rollout_part};
use difference::Digests;
use options::Options;
pub use status::aggregate;

use crate::databag::Digest;
use crate::databag::charm_state::{Remembered, RolloutMemory};
use crate::juju::{Endpoint, Event, PlainHook, RelationId, Scope, Status};
use crate::observed::Observed;
use crate::plan::{BagWrite, Effect, Keys, Plan};
use std::collections::BTreeMap;

/// Decides what one pass is going to do.
pub fn decide(observed: &Observed) -> Plan {
    let mut remember = observed.remembered.clone();
    let options = options::read(&observed.config, &observed.remembered.options);
    if leaves(observed) {
        return leave(observed, &options, remember);
    }
    remember.options.clone_from(&options.good);
    let mut keys = leader::keys(observed);
    let mut plan = Plan::default();
    let mut progress = None;
    for decision in DECISIONS {
        let outcome = decision.run(observed, &options);
        for (bag, wanted) in outcome.keys {
            keys.entry(bag).or_default().extend(wanted);
        }
        if let Some(digest) = outcome.observed {
            remember.observability = Some(digest);
        }
        remember.strangers = outcome.strangers.unwrap_or(remember.strangers);
        plan.memo = outcome.memo.or(plan.memo);
        remember.rollout = outcome.rollout.unwrap_or(remember.rollout);
        remember.collection = outcome.collection.unwrap_or(remember.collection);
        plan.follow_up = plan.follow_up.into_iter().chain(outcome.follow_up).min();
        progress = outcome.progress.or(progress);
        plan.story.extend(outcome.story);
        if let (None, Some((effect, during))) = (&plan.effect, outcome.effect) {
            (plan.effect, plan.during) = (Some(effect), during);
        }
        let statuses = outcome.statuses.into_iter();
        remember.statuses.extend(statuses.map(|(name, statuses)| (name.to_owned(), status::tidy(statuses))));
    }
    remember.statuses.retain(|name, _| CONCERNS.contains(&name.as_str()));
    plan.log = status::news(&observed.remembered.statuses, &remember.statuses);
    let digests = difference::digests(&keys);
    withheld::apply(observed, &mut keys, &digests, &mut remember);
    plan.writes = difference::writes(observed, &keys, &digests);
    plan.outgoing = outgoing(&digests, &plan.writes);
    collect_later(&mut plan);
    difference::remember(observed, &plan.writes, &digests, &mut remember);
    show(observed, progress, &mut remember, &mut plan);
    plan.remember = remember;
    plan
}

/// A pass that writes what a leader decides alters no machine: the collector's turn is the next one.
fn collect_later(plan: &mut Plan) {
    let writes = plan.writes.iter().any(|write| write.scope == Scope::App);
    if writes && matches!(plan.effect, Some(Effect::Collect(_))) {
        (plan.effect, plan.during) = (None, None);
        plan.follow_up = plan.follow_up.into_iter().chain([rollout::AT_ONCE]).min();
    }
}

/// What the outgoing application databags that are written shall hold, by digest.
fn outgoing(digests: &Digests, writes: &[BagWrite]) -> BTreeMap<RelationId, Digest> {
    let written =
        writes.iter().filter(|write| write.scope == Scope::App && write.relation.endpoint != Endpoint::Peers);
    written
        .filter_map(|write| {
            Some((write.relation, withheld::content(digests.get(&(write.relation, write.scope))?)))
        })
        .collect()
}

fn leaves(observed: &Observed) -> bool {
    match &observed.event {
        Some(event @ Event::Plain(_)) => event.is(PlainHook::Stop) || event.is(PlainHook::Remove),
        Some(Event::Relation(_)) | None => false,
    }
}

/// What an admin's action comes to: these keys of the peers application databag, and what to remember.
pub fn by_admin(observed: &Observed, app: Keys, memory: RolloutMemory) -> Plan {
    let peers = observed.at(Endpoint::Peers).map(|(id, _)| id).next();
    let mut keys = leader::keys(observed);
    if let (Some(peers), false) = (peers, app.is_empty()) {
        keys.entry((peers, Scope::App)).or_default().extend(app);
    }
    let mut remember = observed.remembered.clone();
    remember.rollout = memory;
    let digests = difference::digests(&keys);
    let writes = difference::writes(observed, &keys, &digests);
    difference::remember(observed, &writes, &digests, &mut remember);
    // What the leader wrote wakes the others, not itself.
    Plan { writes, remember, follow_up: Some(rollout::AT_ONCE), ..Plan::default() }
}

/// A leaving unit: what it writes reaches nobody, and Juju sets its statuses. What it did to the
/// machine is taken back.
fn leave(observed: &Observed, options: &Options, mut remember: Remembered) -> Plan {
    let mut plan = Plan::default();
    for outcome in DECISIONS.map(|decision| decision.run(observed, options)) {
        remember.rollout = outcome.rollout.unwrap_or(remember.rollout);
        remember.collection = outcome.collection.unwrap_or(remember.collection);
        plan.effect = plan.effect.or(outcome.effect.map(|(effect, _)| effect));
    }
    Plan { remember, ..plan }
}

/// Sets statuses where they differ from what was last shown, or where that is not certain.
fn show(observed: &Observed, progress: Option<Status>, remember: &mut Remembered, plan: &mut Plan) {
    let status = aggregate(&remember.statuses);
    let due = |shown: &Option<Status>, status: &Status| !observed.committed || shown.as_ref() != Some(status);
    if due(&remember.shown.unit, &status) {
        plan.unit_status = Some(status.clone());
    }
    // A new leader always sets it: the text of the leader before would stay for ever.
    let shown = if observed.leader { remember.shown.app.take() } else { None };
    // The application shows how far a rollout is; without one, what its leader shows.
    let of_app = progress.map_or_else(|| status.clone(), status::shown);
    if observed.leader && (due(&shown, &of_app) || leader::is_new(observed)) {
        plan.app_status = Some(of_app.clone());
    }
    remember.shown.app = observed.leader.then_some(of_app);
    remember.shown.unit = Some(status);
}

/// The scoped statuses by the names of their concerns.
pub type Scoped = BTreeMap<String, Vec<Status>>;

#[cfg(test)]
pub(crate) mod tests;
