//! What a unit remembers about collection. Everything here may be lost: then a file is validated, or the
//! service started anew, once more.

use crate::databag::Digest;
use crate::databag::scrape::Slot;
use crate::juju::{Status, Timestamp, UnitName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The memory of collection.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CollectionMemory {
    /// The digest of all that it looked at when nothing was left to do.
    pub gate: Option<Digest>,
    /// The digest of the configuration that the collector has last accepted.
    pub validated: Option<Digest>,
    /// The digest of what the service was last started with; none: not by this unit.
    pub applied: Option<Digest>,
    /// The principals of what is in force.
    pub principals: BTreeSet<UnitName>,
    /// Principals whose jobs the collector refuses, by the digest of what they tell.
    pub refused: BTreeMap<UnitName, Digest>,
    /// The log slots that this unit has connected.
    pub connected: BTreeSet<Slot>,
    /// When a slot that did not connect is tried again.
    pub slots_again: Option<Timestamp>,
    /// A step that did not succeed.
    pub trouble: Option<Setback>,
}

/// A step that did not succeed, and is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setback {
    /// How often in a row.
    pub tries: u32,
    /// Not before then.
    pub again: Timestamp,
    /// What it was.
    pub status: Status,
}
