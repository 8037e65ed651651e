//! The key `granted` of the peers application databag: whose turn it is.

use super::node::Role;
use super::target::TargetId;
use super::wire::{self, Format, More, Unread};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};

/// The key.
pub const GRANTED: &str = "granted";

/// The outstanding grants.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Granted {
    format: Format,
    /// The last serial that was used. One counter for all grants, and no number comes back.
    pub last: u64,
    /// The grants, in order of their serials.
    pub grants: Vec<Grant>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// One unit's permission to move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who may move.
    pub unit: UnitName,
    /// The principal beside it, by which it is known that it is gone.
    pub principal: Option<UnitName>,
    /// Its role when it was granted.
    pub role: Role,
    /// Where it may move to.
    pub target: TargetId,
    /// The number of this grant.
    pub serial: u64,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

impl Granted {
    /// The grant that a unit holds.
    pub fn of(&self, unit: &UnitName) -> Option<&Grant> {
        self.grants.iter().find(|grant| grant.unit == *unit)
    }

    /// Adds a grant with the next serial, and takes off the one that the unit held.
    pub fn grant(
        &mut self,
        unit: UnitName,
        principal: Option<UnitName>,
        role: Role,
        target: TargetId,
    ) -> u64 {
        let highest = self.grants.iter().map(|grant| grant.serial).max().unwrap_or(0);
        let serial = self.last.max(highest) + 1;
        self.last = serial;
        self.grants.retain(|grant| grant.unit != unit);
        self.grants.push(Grant { unit, principal, role, target, serial, more: More::new() });
        serial
    }

    /// Reads the value of the key; an absent one is no grant.
    pub fn read(text: Option<&str>) -> Result<Self, Unread> {
        text.map_or_else(|| Ok(Self::default()), |text| wire::read(text, &[]))
    }

    /// The value of the key.
    pub fn write(&self) -> String {
        wire::write(self)
    }
}
