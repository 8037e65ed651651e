//! The interface `snap_cohort`: keys for another lockstep application, and what it tells back.

use super::Fault;
use super::target::TargetId;
use super::wire::{self, Format, Line, More, Unread};
use crate::snap::{CohortKey, SnapName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The key of the cohort keys, as the interface `kube-control` spells it.
pub const COHORT_KEYS: &str = "cohort-keys";
/// The key of what the source says about its control plane.
pub const COHORT_STATE: &str = "cohort-state";
/// The key of what a follower tells back.
pub const VERSIONS: &str = "versions";

/// Cohort keys by snap.
pub type Keys = BTreeMap<SnapName, CohortKey>;

/// What the source says beside the keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CohortState {
    format: Format,
    /// The target that the keys belong to.
    pub target: TargetId,
    /// Whether its control plane runs it; false while a newer target is under way.
    pub completed: bool,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// What a follower tells back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    format: Format,
    /// The source's target that it follows.
    pub target: Option<TargetId>,
    /// The oldest version of a Kubernetes snap on its members.
    pub oldest: Option<Line>,
    /// The newest.
    pub newest: Option<Line>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// What a source's application databag says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The keys.
    pub keys: Keys,
    /// What it says beside them.
    pub state: CohortState,
}

impl CohortState {
    /// That state.
    pub fn new(target: TargetId, completed: bool) -> Self {
        Self { format: Format, target, completed, more: More::new() }
    }
}

impl Versions {
    /// Those versions.
    pub fn new(target: Option<TargetId>, oldest: Option<Line>, newest: Option<Line>) -> Self {
        Self { format: Format, target, oldest, newest, more: More::new() }
    }

    /// Reads a follower's application databag; none where it has told nothing yet.
    pub fn read(bag: &BTreeMap<String, String>) -> Result<Option<Self>, Unread> {
        bag.get(VERSIONS).map(|text| wire::read(text, &[])).transpose()
    }

    /// The key and its value.
    pub fn write(&self) -> (String, String) {
        (VERSIONS.to_owned(), wire::write(self))
    }
}

impl Offer {
    /// Reads a source's application databag; none where it has told nothing yet. The fault names the
    /// key that it is in.
    pub fn read(bag: &BTreeMap<String, String>) -> Result<Option<Self>, (&'static str, Unread)> {
        let (Some(keys), Some(state)) = (bag.get(COHORT_KEYS), bag.get(COHORT_STATE)) else {
            return Ok(None);
        };
        let state = wire::read(state, &[]).map_err(|unread| (COHORT_STATE, unread))?;
        let keys = wire::parse(keys).map_err(|fault: Fault| (COHORT_KEYS, Unread::Broken(fault)))?;
        Ok(Some(Self { keys, state }))
    }

    /// The keys of the databag and their values.
    pub fn write(&self) -> [(String, String); 2] {
        [
            (COHORT_KEYS.to_owned(), wire::write(&self.keys)),
            (COHORT_STATE.to_owned(), wire::write(&self.state)),
        ]
    }
}
