//! The key `progress` of a peer unit databag: how far a unit is with the target.

use super::target::TargetId;
use super::wire::{self, Format, Line, More, Unread};
use crate::snap::SnapName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// The key.
pub const PROGRESS: &str = "progress";

/// How far a unit is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    format: Format,
    /// The target that it tells about; none as long as it has seen none.
    pub target: Option<TargetId>,
    /// How far it is.
    pub state: State,
    /// The serial of the last grant that it has read; 0 for none.
    pub serial: u64,
    /// Why it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Line>,
    /// Each managed snap that the target speaks of and that is installed there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub snaps: BTreeMap<SnapName, SnapState>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// The four states of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Not moving, and not (any more) where the target is. Also the answer to a grant for another
    /// target.
    Ready,
    /// At work on a grant.
    Upgrading,
    /// Where the target is, and healthy.
    Completed,
    /// It could not get there. Stays until a new serial or target.
    Failed,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready => "ready",
            Self::Upgrading => "upgrading",
            Self::Completed => "completed",
            Self::Failed => "failed",
        })
    }
}

/// One snap of a unit on its way to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnapState {
    /// It is what the target says.
    Done,
    /// It is not yet.
    Open,
    /// It is never moved here, and counts as done.
    Exempt,
}

impl Progress {
    /// Progress in that state, without cause and snaps.
    pub fn new(target: Option<TargetId>, state: State, serial: u64) -> Self {
        Self { format: Format, target, state, serial, cause: None, snaps: BTreeMap::new(), more: More::new() }
    }

    /// Whether the grant with that serial has been answered: it must never be acted on again.
    pub fn has_answered(&self, serial: u64) -> bool {
        match self.state {
            State::Upgrading => self.serial > serial,
            State::Ready | State::Completed | State::Failed => self.serial >= serial,
        }
    }

    /// Whether it is in that state for that target.
    pub fn is(&self, state: State, target: &TargetId) -> bool {
        self.state == state && self.target.as_ref() == Some(target)
    }

    /// Reads the value of the key.
    pub fn read(text: &str) -> Result<Self, Unread> {
        wire::read(text, &[])
    }

    /// The value of the key.
    pub fn write(&self) -> String {
        wire::write(self)
    }
}
