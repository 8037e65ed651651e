//! The rollout: a target that the members move to, each when it is granted.
//!
//! Pure and total. It asks for at most one effect at a time; the pass carries it out, puts the
//! outcome into [`Rollout`] and decides again. What is written is wanted only of a decision that asks
//! for no effect.

use super::options::RolloutOptions;
use crate::databag::charm_state::RolloutMemory;
use crate::juju::{RelationId, Status};
use crate::observed::Rollout;
use crate::plan::{Effect, Keys};
use std::collections::BTreeMap;
use tracing::Level;

/// What the rollout wants.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// To be carried out before it decides again; none: this is its last word in this pass.
    pub effect: Option<Effect>,
    /// Keys of the own peer unit databag.
    pub unit: Keys,
    /// Keys of the peers application databag, to be written together; none: nothing of it is to be
    /// written in this pass.
    pub app: Option<Keys>,
    /// Keys of the own application databag at `cohorts` and `follow-cohorts`: leaders only.
    pub related: BTreeMap<RelationId, Keys>,
    /// The statuses of the concern.
    pub statuses: Vec<Status>,
    /// How far the rollout is, for the application's status: leaders only.
    pub progress: Option<Status>,
    /// What to set before the effect is carried out, since it may take minutes.
    pub during: Option<Status>,
    /// What to remember.
    pub memory: RolloutMemory,
    /// One line each for a grant, a report, a skip, a new target.
    pub log: Vec<(Level, String)>,
    /// In how many seconds it wants to look again, if that is sooner than the next update-status.
    pub follow_up: Option<u64>,
}

/// Decides for one unit.
pub fn decide(rollout: &Rollout, options: &RolloutOptions) -> Outcome {
    let _ = options;
    Outcome {
        effect: None,
        unit: Keys::new(),
        app: None,
        related: BTreeMap::new(),
        statuses: Vec::new(),
        progress: None,
        during: None,
        memory: rollout.memory.clone(),
        log: Vec::new(),
        follow_up: None,
    }
}
