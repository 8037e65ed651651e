//! The lists of concerns and of what decides for them. A new concern is one more line in each.

use super::options::{Options, RolloutOptions};
use super::{collection, leader, observability, rollout, setup};
use crate::databag::Digest;
use crate::databag::certificates;
use crate::databag::charm_state::{CollectionMemory, RolloutMemory};
use crate::databag::collected::COLLECTED;
use crate::databag::dashboard::Memo;
use crate::databag::node::Role;
use crate::juju::{AppName, Endpoint, Level, RelationId, Scope, Status};
use crate::observed::observability::Strangers;
use crate::observed::rollout::Occasion;
use crate::observed::{Observed, Part, Rollout};
use crate::plan::{Effect, Keys};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

const SETUP: &str = "setup";
const UPGRADE: &str = "upgrade";
const COHERENCE: &str = "coherence";
const OBSERVABILITY: &str = "observability";
const COLLECTION: &str = "collection";

/// Every concern by the name under which its statuses are kept and shown, in the order by which ties
/// between statuses are decided.
pub const CONCERNS: [&str; 5] = [SETUP, UPGRADE, COHERENCE, OBSERVABILITY, COLLECTION];

/// What decides for a concern. A rollout decides for two: its target's kind says whose its statuses are.
#[derive(Debug, Clone, Copy)]
pub struct Decision {
    concern: &'static str,
    decide: fn(&Observed, &Options) -> Outcome,
}

/// Every decision, in the order of their concerns.
pub const DECISIONS: [Decision; 4] = [
    Decision { concern: SETUP, decide: setup },
    Decision { concern: COHERENCE, decide: rollouts },
    Decision { concern: OBSERVABILITY, decide: forwarding },
    Decision { concern: COLLECTION, decide: collecting },
];

/// What one decision wants.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The statuses of a concern; of one that is not in here the ones before stay: there was no reason
    /// to look again.
    pub statuses: BTreeMap<&'static str, Vec<Status>>,
    /// What own databags shall hold.
    pub keys: BTreeMap<(RelationId, Scope), Keys>,
    /// The digest of what it looked at, to be remembered.
    pub observed: Option<Digest>,
    /// Applications that are held by a leader which has not met every unit yet, to be remembered.
    pub strangers: Option<BTreeSet<AppName>>,
    /// Decoding results worth keeping.
    pub memo: Option<Memo>,
    /// What the rollout remembers.
    pub rollout: Option<RolloutMemory>,
    /// What collection remembers.
    pub collection: Option<CollectionMemory>,
    /// To be carried out before it decides again, and what the unit shows meanwhile.
    pub effect: Option<(Effect, Option<Status>)>,
    /// How far a rollout is, for the application's status.
    pub progress: Option<Status>,
    /// In how many seconds it wants to look again.
    pub follow_up: Option<u64>,
    /// What happened in a rollout, for the log.
    pub story: Vec<(tracing::Level, String)>,
}

impl Decision {
    /// Decides. A panic in it is a status of its concern: the others go on.
    pub fn run(&self, observed: &Observed, options: &Options) -> Outcome {
        catch_unwind(AssertUnwindSafe(|| (self.decide)(observed, options))).unwrap_or_else(|panic| {
            let line = format!("{}: fault in lockstep, please report it: {}", self.concern, text(&*panic));
            Outcome::told(self.concern, vec![Status::new(Level::Blocked, line)])
        })
    }
}

impl Outcome {
    fn told(concern: &'static str, statuses: Vec<Status>) -> Self {
        Self { statuses: BTreeMap::from([(concern, statuses)]), ..Self::default() }
    }
}

fn text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

/// The rollout's part of what is observed, with what follows from the options and the endpoints; and
/// the options as they are in force here.
pub fn rollout_part(observed: &Observed, options: &Options) -> (Rollout, RolloutOptions) {
    let mut part = (*observed.rollout).clone();
    let endpoint = |endpoint| observed.at(endpoint).any(|(_, relation)| !relation.units.is_empty());
    part.as_principal = options.rollout.role.is_some() && observed.context.principal_unit.is_none();
    part.role =
        options.rollout.role.or(match (endpoint(Endpoint::ControlPlane), endpoint(Endpoint::Worker)) {
            (true, false) => Some(Role::ControlPlane),
            (false, true) => Some(Role::Worker),
            (true, true) | (false, false) => None,
        });
    let packed = part.packed.as_ref().and_then(|packed| packed.as_ref().ok());
    let options = options.rollout.clone().on(part.as_principal, packed);
    (part, options)
}

fn setup(observed: &Observed, options: &Options) -> Outcome {
    Outcome::told(SETUP, setup::statuses(observed, options))
}

fn rollouts(observed: &Observed, options: &Options) -> Outcome {
    let (part, options) = rollout_part(observed, options);
    let outcome = rollout::decide(&part, &options);
    let peers = observed.at(Endpoint::Peers).map(|(id, _)| id).next();
    let mut keys: BTreeMap<_, Keys> =
        outcome.related.into_iter().map(|(id, bag)| ((id, Scope::App), bag)).collect();
    if let Some(peers) = peers {
        keys.insert((peers, Scope::Unit), outcome.unit);
        if !outcome.app.is_empty() {
            keys.insert((peers, Scope::App), outcome.app);
        }
    }
    Outcome {
        statuses: BTreeMap::from([(UPGRADE, outcome.upgrade), (COHERENCE, outcome.statuses)]),
        keys,
        rollout: Some(outcome.memory),
        effect: outcome.effect.map(|effect| (effect, outcome.during)),
        progress: outcome.progress,
        follow_up: outcome.follow_up,
        story: outcome.log,
        ..Outcome::default()
    }
}

fn forwarding(observed: &Observed, options: &Options) -> Outcome {
    let (part, digest) = match &observed.observability {
        Part::Unchanged => return Outcome::default(),
        Part::Changed { part, digest } => (part, *digest),
    };
    let mut part = part.clone();
    part.options = options.forwarding.clone();
    part.strangers = if rollout::has_met(&observed.rollout) {
        Strangers::None
    } else if leader::is_new(observed) {
        Strangers::Any
    } else {
        Strangers::These(observed.remembered.strangers.clone())
    };
    let outcome = observability::decide(&part);
    let peers = observed.at(Endpoint::Peers).map(|(id, _)| id);
    let records = part.own_records.keys().map(|key| (key.clone(), None));
    let wanted = outcome.records.into_iter().map(|(key, text)| (key, Some(text)));
    let records: Keys = records.chain(wanted).collect();
    let mut keys: BTreeMap<_, Keys> = peers.map(|id| ((id, Scope::Unit), records.clone())).collect();
    for (id, bag) in outcome.outgoing {
        let present = observed.own.get(&(id, Scope::App)).into_iter().flatten();
        let mut wanted: Keys = present.map(|(key, _)| (key.clone(), None)).collect();
        wanted.extend(bag.into_iter().map(|(key, text)| (key, Some(text))));
        keys.insert((id, Scope::App), wanted);
    }
    Outcome {
        statuses: BTreeMap::from([(OBSERVABILITY, outcome.statuses)]),
        keys,
        observed: Some(digest),
        strangers: Some(outcome.strangers),
        memo: Some(outcome.memo),
        ..Outcome::default()
    }
}

fn collecting(observed: &Observed, options: &Options) -> Outcome {
    let mut keys: BTreeMap<(RelationId, Scope), Keys> = BTreeMap::new();
    if observed.leader {
        let told: Keys = certificates::app_bag().into_iter().map(|(key, text)| (key, Some(text))).collect();
        keys.extend(observed.at(Endpoint::ReceiveCaCert).map(|(id, _)| ((id, Scope::App), told.clone())));
    }
    let memory = &observed.remembered.collection;
    let leaves = observed.rollout.occasion == Occasion::Removing;
    let (part, gate) = match &observed.collection {
        Part::Changed { part, digest } if leaves || !rollout::is_moving(&observed.rollout) => (part, *digest),
        Part::Changed { .. } | Part::Unchanged => {
            let again =
                memory.trouble.as_ref().map(|setback| setback.again.0.saturating_sub(observed.now.0).max(1));
            return Outcome { keys, follow_up: again, ..Outcome::default() };
        }
    };
    let outcome = collection::decide(part, options.collect, gate);
    let mut follow_up = outcome.follow_up;
    if let (Some((peers, _)), Some(collected)) = (observed.at(Endpoint::Peers).next(), outcome.collected) {
        let key = (peers, Scope::Unit);
        let text = collected.map(|collected| collected.write());
        let held = observed.own.get(&key).and_then(|held| held.get(COLLECTED));
        if observed.leader && held != text.as_deref().map(Digest::of).as_ref() {
            // What the leader writes wakes the others, and it is the one that goes by it.
            follow_up = Some(rollout::AT_ONCE);
        }
        keys.insert(key, Keys::from([(COLLECTED.to_owned(), text)]));
    }
    Outcome {
        statuses: BTreeMap::from([(COLLECTION, outcome.statuses)]),
        keys,
        collection: Some(outcome.memory),
        effect: outcome.step.map(|(step, during)| (Effect::Collect(step), during)),
        follow_up,
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_one_concern_is_its_status() {
        let decision = Decision { concern: "test", decide: |_, _| panic!("boom {}", 7) };
        let observed = crate::decide::tests::observed();
        let outcome = decision.run(&observed, &Options::default());
        let line = "test: fault in lockstep, please report it: boom 7";
        let statuses = BTreeMap::from([("test", vec![Status::new(Level::Blocked, line)])]);
        assert_eq!(outcome.statuses, statuses);
    }
}
