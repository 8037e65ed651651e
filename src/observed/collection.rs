//! What collection looks at: what principals want collected, where COS takes it, and the collector on
//! this machine. And the steps by which the machine is altered, with what became of them.

use crate::databag::charm_state::CollectionMemory;
use crate::databag::header::Header;
use crate::databag::scrape::{Jobs, Slot};
use crate::databag::{Digest, Fault, Hidden, Topology, Url};
use crate::juju::{AppName, Timestamp, UnitName};
use crate::snap::{Alteration, Architecture, Connection, Installed, Mount, SnapName, Trouble};
use std::collections::{BTreeMap, BTreeSet};

/// Observed data of collection.
#[derive(Debug, Clone, PartialEq)]
pub struct Collection {
    /// When the pass began.
    pub now: Timestamp,
    /// What this pass runs in.
    pub occasion: Occasion,
    /// This unit.
    pub unit: UnitName,
    /// The model and the local application.
    pub topology: Topology,
    /// What the machine calls itself.
    pub host: String,
    /// The machine's architecture.
    pub architecture: Architecture,
    /// The principals on `cos-agent` that have told something.
    pub sources: BTreeMap<UnitName, Source>,
    /// Those that are related and tell nothing now, or nothing that can be read.
    pub silent: BTreeSet<UnitName>,
    /// Where metrics go.
    pub remote_write: Sinks,
    /// Where log lines go.
    pub loki: Sinks,
    /// The certificates of `receive-ca-cert`.
    pub certificates: BTreeSet<String>,
    /// What is wrong with what others tell on the relations other than `cos-agent`: who, and what.
    pub faults: Vec<(String, Fault)>,
    /// The collector on this machine. Read again after each step.
    pub machine: Machine,
    /// The connections of the collector's plugs, if they were read in this pass.
    pub connections: Option<Result<BTreeSet<Connection>, Trouble>>,
    /// The steps that were carried out in this pass, in order.
    pub done: Vec<(Step, Result<Done, Failure>)>,
    /// What the last committed pass remembered.
    pub memory: CollectionMemory,
}

/// What a pass runs in, as far as collection goes by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// Any pass but these.
    Usual,
    /// The hook `update-status`.
    UpdateStatus,
    /// A hook of a unit that is leaving and may still run others: nothing is done.
    Leaving,
    /// The hook `remove`, the last one: everything of this unit goes.
    Removing,
}

/// What one principal unit wants to have collected.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// By which it is known whether it has changed.
    pub digest: Digest,
    /// Its jobs and slots.
    pub jobs: Jobs,
}

/// The places at one endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sinks {
    /// Whether there is a relation.
    pub related: bool,
    /// The URLs that its units tell.
    pub urls: BTreeSet<Url>,
    /// Applications no unit of which has told a URL yet.
    pub silent: BTreeSet<AppName>,
}

/// The collector on this machine, as files and snapd show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// The snap, if it is installed.
    pub installed: Result<Option<Installed>, Trouble>,
    /// The other snaps that are installed.
    pub snaps: BTreeSet<SnapName>,
    /// Whether its service is enabled and runs.
    pub active: bool,
    /// The files of its directory, by name.
    pub files: BTreeMap<String, File>,
    /// The users of the snap: lock files by name, with the lockstep unit that placed it; none where
    /// somebody else did.
    pub locks: BTreeMap<String, Option<UnitName>>,
    /// What snapd has mounted for its plug `logs`.
    pub mounts: BTreeSet<Mount>,
    /// The digest of this unit's bundle of certificates, where it is there.
    pub bundle: Option<Digest>,
    /// Whether the older collector, `grafana-agent`, runs here.
    pub agent: bool,
}

/// A file in the collector's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// What it says of itself; none where no lockstep unit wrote it.
    pub header: Option<Header>,
    /// The digest of its text.
    pub digest: Digest,
}

/// One step towards what is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Places the unit's lock file, in place of one for another revision.
    Lock {
        /// Its name.
        name: String,
    },
    /// Writes the bundle of certificates, or takes it away.
    Bundle {
        /// Its text.
        text: Option<String>,
    },
    /// Has the collector validate a configuration that is nowhere in force.
    Validate {
        /// The configuration.
        text: Hidden,
    },
    /// Has it validate the jobs of each principal alone.
    Probe {
        /// A configuration for each.
        parts: BTreeMap<UnitName, Hidden>,
    },
    /// Puts the unit's file in force, or takes it away. It is read at the next start.
    Place {
        /// The file.
        text: Option<Hidden>,
    },
    /// Installs, moves or holds the snap.
    Alter(Alteration),
    /// Reads the connections of its plugs.
    ReadConnections,
    /// Connects a plug of its to a slot of snapd's own.
    ConnectPlug {
        /// The plug.
        plug: &'static str,
        /// The slot's name.
        slot: &'static str,
    },
    /// Connects its plug `logs` to a slot.
    Connect {
        /// The slot.
        slot: Slot,
    },
    /// Takes that connection off.
    Disconnect {
        /// The slot.
        slot: Slot,
    },
    /// Starts the service now and at every boot.
    Start,
    /// Starts it anew.
    Restart,
    /// Stops it now and at every boot.
    Stop,
    /// Removes the snap and its data.
    RemoveSnap,
    /// Takes away the unit's file, its bundle, and last its lock.
    Withdraw,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It was carried out.
    Done,
    /// The collector refuses the configuration.
    Refused,
    /// It refuses the jobs of these principals alone.
    Culprits(BTreeSet<UnitName>),
}

/// Why a step was not carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Whether it may be over by itself.
    pub transient: bool,
    /// Whether this snapd does not know how.
    pub unsupported: bool,
    /// One line for people.
    pub text: String,
}

impl From<&Trouble> for Failure {
    fn from(trouble: &Trouble) -> Self {
        Self {
            transient: trouble.kind.is_transient(),
            unsupported: trouble.kind == crate::snap::TroubleKind::NotSupported,
            text: trouble.text.clone(),
        }
    }
}

impl Step {
    /// Whether snapd was asked to change something.
    pub fn alters_snaps(&self) -> bool {
        match self {
            Self::Alter(_) | Self::Start | Self::Restart | Self::Stop | Self::RemoveSnap => true,
            Self::Lock { .. }
            | Self::Bundle { .. }
            | Self::Validate { .. }
            | Self::Probe { .. }
            | Self::Place { .. }
            | Self::ReadConnections
            | Self::ConnectPlug { .. }
            | Self::Connect { .. }
            | Self::Disconnect { .. }
            | Self::Withdraw => false,
        }
    }
}

impl Default for Machine {
    /// A machine without a collector.
    fn default() -> Self {
        Self {
            installed: Ok(None),
            snaps: BTreeSet::new(),
            active: false,
            files: BTreeMap::new(),
            locks: BTreeMap::new(),
            mounts: BTreeSet::new(),
            bundle: None,
            agent: false,
        }
    }
}
