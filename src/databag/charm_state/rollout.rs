//! What a unit remembers about rollouts: timers, and what it cannot see on the machine. Everything
//! here may be lost: then something is read, joined or waited for once more, never done wrongly.

use crate::databag::node::{Cluster, Health};
use crate::databag::target::TargetId;
use crate::juju::{Timestamp, UnitName};
use crate::snap::{Channel, KeyDigest, Revision, SnapName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The memory of the rollout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolloutMemory {
    /// Whether an update-status has run while the peer relation was there.
    pub met: bool,
    /// Whether this unit was told that it is leaving.
    pub leaving: bool,
    /// The peers that this unit has seen listed; only while it leads, and they are of use.
    pub joined: BTreeSet<UnitName>,
    /// The key stored on the machine, by digest, and what was installed when it was read.
    pub keys: BTreeMap<SnapName, SeenKey>,
    /// What joining a key, or moving to a revision, gave.
    pub given: BTreeMap<SnapName, Given>,
    /// Snaps that this unit holds or is about to hold: written before the hold is placed, so that a
    /// hook that was killed does not make an own hold a foreign one.
    pub holds: BTreeSet<SnapName>,
    /// What this unit has moved lately, to tell when somebody moves it back.
    pub moved: BTreeMap<SnapName, Moved>,
    /// Snaps that somebody moved back.
    pub moved_back: BTreeSet<SnapName>,
    /// The move that is under way and waits for something.
    pub attempt: Option<Attempt>,
    /// The health that the pass before saw: two must agree before it is published.
    pub health: Option<Health>,
    /// The same of the cluster.
    pub cluster: Option<Cluster>,
    /// When the store was last asked for heads.
    pub asked: Option<Timestamp>,
    /// Whether it did not answer then.
    pub silent: bool,
    /// For which wanted channels it was asked then.
    pub asked_for: BTreeSet<Channel>,
    /// When the store was last asked for keys in vain, or never if it answered.
    pub keys_asked: Option<Timestamp>,
    /// Names that the store does not know, and when it said so.
    pub unknown: BTreeMap<SnapName, Timestamp>,
    /// When a snap was last installed in vain.
    pub installs: BTreeMap<SnapName, Timestamp>,
    /// When the stored keys were last read without a reason of their own.
    pub keys_read: Option<Timestamp>,
    /// When this leader first read each outstanding grant.
    pub read: BTreeMap<u64, Timestamp>,
    /// Principals that goal-state lists and no member has reported, and since when.
    pub unreported: BTreeMap<UnitName, Timestamp>,
}

/// A stored key as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenKey {
    /// Its digest.
    pub digest: Option<KeyDigest>,
    /// The revision that was installed then.
    pub revision: Revision,
    /// The channel that was tracked then.
    pub channel: Option<Channel>,
}

/// What a move gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// The key that was joined; none for a move to a revision.
    pub key: Option<KeyDigest>,
    /// The revision that was there afterwards.
    pub revision: Revision,
    /// The channel that was tracked afterwards.
    pub channel: Option<Channel>,
}

/// A move by this unit, watched for three passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// What was there before.
    pub from: (Revision, Option<Channel>),
    /// What was there afterwards.
    pub to: (Revision, Option<Channel>),
    /// Passes since then.
    pub passes: u32,
}

/// A granted move that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The serial of its grant.
    pub serial: u64,
    /// Its target.
    pub target: TargetId,
    /// Transient troubles so far.
    #[serde(default)]
    pub tries: u32,
    /// Not tried again before.
    #[serde(default)]
    pub again: Option<Timestamp>,
    /// What the trouble was, for the status.
    #[serde(default)]
    pub trouble: Option<String>,
    /// Since when the snaps are where they should be and the unit is not healthy.
    #[serde(default)]
    pub unhealthy: Option<Timestamp>,
}
