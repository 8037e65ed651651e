//! Changes that snapd carries out, and services of snaps.

use super::SnapName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a change. snapd forgets changes after about a day: no record of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChangeId(pub u64);

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// One row of `snap changes`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    /// Its number.
    pub id: ChangeId,
    /// snapd's word: Do, Doing, Done, Abort, Undo, Undoing, Undone, Hold, Error, Wait.
    pub status: String,
    /// Whether it has ended. One that has not blocks the snaps that it touches.
    pub ready: bool,
    /// For people only; the words differ between versions.
    pub summary: String,
}

/// One row of `snap tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Task {
    /// snapd's word, as for a change.
    pub status: String,
    /// For people only.
    pub summary: String,
}

/// One row of `snap services`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Service {
    /// The snap that it belongs to.
    pub snap: SnapName,
    /// Its name within the snap.
    pub app: String,
    /// Whether it starts with the machine.
    pub enabled: bool,
    /// Whether it runs.
    pub active: bool,
    /// Whether something else than the machine's start starts it (a timer, a socket, a user's
    /// session): then it need not be active.
    pub on_demand: bool,
}

impl Service {
    /// Whether it should run and does not.
    pub fn is_down(&self) -> bool {
        self.enabled && !self.on_demand && !self.active
    }
}
