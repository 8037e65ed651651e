//! What a pass is going to do, as plain data.

use crate::databag::Digest;
use crate::databag::charm_state::Remembered;
use crate::databag::dashboard::Memo;
use crate::juju::{RelationId, Scope, Status};
use crate::observed::collection::Step;
use crate::snap::{Alteration, SnapName};
use std::collections::{BTreeMap, BTreeSet};

/// A set of keys for one own databag: a value, or `None` for a key that shall not be there.
pub type Keys = BTreeMap<String, Option<String>>;

/// What one pass is going to do. Everything in it is a difference: an empty plan changes nothing.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    /// Changes of own databags, those of units before those of applications.
    pub writes: Vec<BagWrite>,
    /// Of the outgoing application databags in `writes`, the digest of all that each shall hold: should
    /// Juju refuse the commit, it is known what was refused.
    pub outgoing: BTreeMap<RelationId, Digest>,
    /// The charm state to be committed.
    pub remember: Remembered,
    /// The unit's status, if it is to be set.
    pub unit_status: Option<Status>,
    /// The application's status, if it is to be set: leaders only.
    pub app_status: Option<Status>,
    /// Lines for the log, at DEBUG, INFO or WARNING.
    pub log: Vec<(tracing::Level, String)>,
    /// What happened in a rollout, at INFO or WARNING: each line is a record of its own in Juju's log.
    pub story: Vec<(tracing::Level, String)>,
    /// Decoding results worth keeping until the next pass.
    pub memo: Option<Memo>,
    /// To be carried out, observed, and decided upon again, before anything else of this plan is done.
    pub effect: Option<Effect>,
    /// What the unit shows meanwhile.
    pub during: Option<Status>,
    /// In how many seconds a pass is due, if that is sooner than the next update-status.
    pub follow_up: Option<u64>,
}

/// A change of one own databag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagWrite {
    /// The relation.
    pub relation: RelationId,
    /// The unit databag or the application databag.
    pub scope: Scope,
    /// The keys that differ from what the databag holds.
    pub changes: Keys,
}

/// What a pass carries out before it decides again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads the peers application databag afresh; where this unit leads `is-leader` is asked before.
    ReadAppBag,
    /// Reads `goal-state`.
    ReadGoalState,
    /// Runs `snap info --verbose` for each name in order. Once the store is silent the rest is not
    /// asked.
    ReadInfo {
        /// The snaps, installed here or not.
        names: Vec<SnapName>,
    },
    /// Asks the API server: whether it is ready, all nodes and the pods of `kube-system`, or the own node
    /// alone.
    ReadKube {
        /// Whether more than the own node is asked for.
        whole: bool,
    },
    /// Makes a key for each of the names in one command: all or nothing. Alters nothing on the machine.
    CreateCohorts {
        /// The snaps, installed here or not.
        names: BTreeSet<SnapName>,
    },
    /// Alters the machine, which is then read again. The pass writes no application databag any more.
    Alter(Alteration),
    /// Brings the collector on this machine one step further; what it touches is then read again.
    Collect(Step),
}
