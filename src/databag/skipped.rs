//! The key `skipped` of the peers application databag: units passed over, and lifted pauses.

use super::target::TargetId;
use super::wire::{self, Format, Line, More, Unread};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The key.
pub const SKIPPED: &str = "skipped";

/// What an admin has decided about units and pauses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    format: Format,
    /// The units that are passed over.
    #[serde(default)]
    pub units: BTreeMap<UnitName, Skip>,
    /// Up to which serial a pause was lifted.
    #[serde(default)]
    pub resumed: u64,
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
