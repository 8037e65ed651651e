//! What can be done to the snaps of a machine, as plain data.

use super::{Channel, CohortKey, Revision, SnapName};
use std::collections::BTreeSet;

/// One command that alters the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Alteration {
    /// `snap refresh`.
    Move(Relocation),
    /// `snap install`.
    Install {
        /// Which snap, and where in it.
        to: Relocation,
        /// Whether consent to classic confinement is given.
        classic: bool,
    },
    /// `snap refresh --hold` of these snaps.
    Hold {
        /// Those snaps.
        names: BTreeSet<SnapName>,
    },
    /// `snap refresh --unhold` of these snaps.
    Unhold {
        /// Those snaps.
        names: BTreeSet<SnapName>,
    },
    /// `snap switch --leave-cohort`: the key is forgotten, nothing moves.
    LeaveCohort {
        /// The snap.
        name: SnapName,
    },
}

impl Alteration {
    /// Whether it brings, or may bring, another revision.
    pub fn moves(&self) -> bool {
        match self {
            Self::Move(_) | Self::Install { .. } => true,
            Self::Hold { .. } | Self::Unhold { .. } | Self::LeaveCohort { .. } => false,
        }
    }
}

/// One snap, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocation {
    /// The snap.
    pub name: SnapName,
    /// The channel to follow from now on; none: the one that it tracks.
    pub channel: Option<Channel>,
    /// Where in that channel.
    pub to: Place,
    /// Whether open processes of the snap may go on (a refresh only).
    pub ignore_running: bool,
}

/// A place in a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Where that cohort leads; the key is stored.
    Cohort(CohortKey),
    /// That revision.
    Revision(Revision),
}
