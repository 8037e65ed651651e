//! The key `history` of the peers application databag: the last targets and how they ended.

use super::target::{Kind, TargetId};
use super::wire::{self, Format, More, Unread};
use crate::juju::Timestamp;
use serde::{Deserialize, Serialize};

/// The key.
pub const HISTORY: &str = "history";
/// Targets that are kept.
const KEPT: usize = 10;

/// The last targets, oldest first; the last entry is the present one once something is to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    format: Format,
    /// The targets.
    pub targets: Vec<Past>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// One target and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Past {
    /// Its id.
    pub id: TargetId,
    /// Its kind.
    pub kind: Kind,
    /// When it was made.
    pub made: Timestamp,
    /// Whether every control-plane member has completed it at some time.
    #[serde(default)]
    pub control_plane: bool,
    /// Whether all members have completed it at some time.
    #[serde(default)]
    pub completed: bool,
    /// How it ended; none while it is in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// How a target ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// All members had completed it when the next one was made.
    Completed,
    /// Another one took its place.
    Replaced,
    /// An admin went back.
    RolledBack,
}

impl History {
    /// What is told of a target.
    pub fn of(&self, id: &TargetId) -> Option<&Past> {
        self.targets.iter().find(|past| past.id == *id)
    }

    /// The entry of a target, made where there is none.
    pub fn entry(&mut self, id: &TargetId, kind: Kind, made: Timestamp) -> Option<&mut Past> {
        if self.of(id).is_none() {
            let (control_plane, completed) = (false, false);
            let past =
                Past { id: id.clone(), kind, made, control_plane, completed, end: None, more: More::new() };
            self.targets.push(past);
            let surplus = self.targets.len().saturating_sub(KEPT);
            self.targets.drain(..surplus);
        }
        self.targets.iter_mut().find(|past| past.id == *id)
    }

    /// Reads the value of the key; an absent one is empty.
    pub fn read(text: Option<&str>) -> Result<Self, Unread> {
        text.map_or_else(|| Ok(Self::default()), |text| wire::read(text, &[]))
    }

    /// The value of the key.
    pub fn write(&self) -> String {
        wire::write(self)
    }
}
