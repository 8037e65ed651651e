//! The key `skipped` of the peers application databag: units passed over, lifted pauses, and checks
//! that an upgrade may begin without.

use super::target::{TargetId, Wishes};
use super::wire::{self, Format, Line, More, Unread};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The key.
pub const SKIPPED: &str = "skipped";

/// What an admin has decided about units, pauses and checks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    format: Format,
    /// The units that are passed over.
    #[serde(default)]
    pub units: BTreeMap<UnitName, Skip>,
    /// Up to which serial a pause was lifted.
    #[serde(default)]
    pub resumed: u64,
    /// The checks that are overridden, until the target is made that they are overridden for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<Overridden>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// Checks that do not hold one upgrade back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overridden {
    /// Their names, or `all`.
    pub checks: BTreeSet<Line>,
    /// The upgrade that they are overridden for: where it leads.
    pub wanted: Wishes,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// How one unit is passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skip {
    /// For which target.
    pub target: Option<TargetId>,
    /// Taken for dead: also for later targets, until it tells something else than `seen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dead: Option<Line>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

impl Overridden {
    /// Overrides these checks for what is wanted.
    pub fn new(checks: BTreeSet<Line>, wanted: Wishes) -> Self {
        Self { checks, wanted, more: More::new() }
    }
}

impl Skip {
    /// Skips a unit for a target. `dead`: what it last told, where it is taken for dead.
    pub fn new(target: Option<TargetId>, dead: Option<Line>) -> Self {
        Self { target, dead, more: More::new() }
    }
}

impl Skipped {
    /// Reads the value of the key; an absent one skips nobody.
    pub fn read(text: Option<&str>) -> Result<Self, Unread> {
        text.map_or_else(|| Ok(Self::default()), |text| wire::read(text, &[]))
    }

    /// The value of the key.
    pub fn write(&self) -> String {
        wire::write(self)
    }
}
