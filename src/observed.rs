//! Everything that `decide` may look at, as plain data, the time included.

pub mod collection;
pub mod observability;
pub mod rollout;

pub use collection::Collection;
pub use observability::Observability;
pub use rollout::Rollout;

use crate::databag::{Digest, charm_state::Remembered};
use crate::juju::{AppName, Context, Endpoint, Event, RelationId, Scope, Timestamp, UnitName};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What one pass has observed.
#[derive(Debug, Clone)]
pub struct Observed {
    /// When the pass began.
    pub now: Timestamp,
    /// The hook that is running; none in an action and in `juju exec`.
    pub event: Option<Event>,
    /// Who and where this unit is.
    pub context: Context,
    /// The charm build: the first line of the charm's `version` file.
    pub build: String,
    /// Whether this unit leads, as told at the begin of the pass.
    pub leader: bool,
    /// Why everything was read instead of what the event makes stale; none if it was not.
    pub full_read: Option<&'static str>,
    /// False after a pass whose hook was not committed: what it showed may differ from what is
    /// remembered, so statuses are set again.
    pub committed: bool,
    /// The options that have a value or a default.
    pub config: BTreeMap<String, Value>,
    /// Every relation of this unit.
    pub relations: BTreeMap<RelationId, Relation>,
    /// The charm state that the last committed pass left.
    pub remembered: Remembered,
    /// The keys of own databags that lockstep wrote, by the digest of their values. A databag that
    /// is not in here is not to be written: its relation is gone, or this unit does not lead.
    pub own: BTreeMap<(RelationId, Scope), BTreeMap<String, Digest>>,
    /// Who signed the peers application databag; only known to a leader.
    pub signed: Option<UnitName>,
    /// What the observability concern looks at.
    pub observability: Part<Observability>,
    /// What collection looks at; `Unchanged` as long as nothing is to be done.
    pub collection: Part<Collection>,
    /// What the rollout looks at.
    pub rollout: Box<Rollout>,
}

/// What a concern looks at.
#[derive(Debug, Clone)]
pub enum Part<T> {
    /// The same as when the concern last decided, and that was committed.
    Unchanged,
    /// Something else. The digest of all of it is remembered if the pass succeeds.
    Changed {
        /// What the concern looks at.
        part: Box<T>,
        /// The digest by which the next pass tells whether it has changed.
        digest: Digest,
    },
}

/// One relation of this unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relation {
    /// The application at the other side, where it was read.
    pub app: Option<AppName>,
    /// The units at the other side (on peers: the others) that this unit has met.
    pub units: BTreeSet<UnitName>,
}

impl Observed {
    /// The relations at an endpoint, in order of their numbers.
    pub fn at(&self, endpoint: Endpoint) -> impl Iterator<Item = (RelationId, &Relation)> {
        self.relations
            .iter()
            .filter(move |(id, _)| id.endpoint == endpoint)
            .map(|(id, relation)| (*id, relation))
    }
}
