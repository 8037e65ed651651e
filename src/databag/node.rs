//! The key `node` of a peer unit databag: what a unit tells of itself and its machine; and `nodes`.

use super::wire::{self, Format, Line, More, Unread};
use crate::juju::{Timestamp, UnitName};
use crate::snap::{Architecture, Channel, Installed, Revision, SnapName, Tracking};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The key.
pub const NODE: &str = "node";
/// The key of what a control-plane member tells of granted workers.
pub const NODES: &str = "nodes";
/// The key in which Juju itself tells a unit's address.
pub const ADDRESS: &str = "ingress-address";

/// What a machine is in the cluster. The control plane is the higher one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A control-plane node.
    ControlPlane,
    /// A worker node.
    Worker,
}

impl Role {
    /// The word, as it is the name of its endpoint.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::Worker => "worker",
        }
    }

    /// The other one.
    pub fn other(self) -> Self {
        match self {
            Self::ControlPlane => Self::Worker,
            Self::Worker => Self::ControlPlane,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a unit tells of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    format: Format,
    /// Its role; none where no endpoint or option gives one, and then it is no member.
    pub role: Option<Role>,
    /// The principal unit beside it; none in a principal charm.
    pub principal: Option<UnitName>,
    /// The machine's id, `3` or `3/lxd/0`.
    pub machine: Line,
    /// The machine's host name, in lower case: its node is named so, unless a cloud names it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Line>,
    /// The machine's address, where it is known: its node is found by it where no name fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Line>,
    /// The machine's architecture.
    pub architecture: Architecture,
    /// The charm build.
    pub build: Line,
    /// The managed snaps that are installed.
    pub snaps: BTreeMap<SnapName, NodeSnap>,
    /// Whether it works.
    pub health: Health,
    /// On control-plane members with a kubeconfig: whether the cluster does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// On the lowest-numbered member of an architecture: the heads of the channels in use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub heads: BTreeMap<SnapName, NodeHeads>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// One managed snap of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSnap {
    /// The installed revision.
    pub revision: Revision,
    /// What its publisher calls it; none where snapd cannot tell.
    pub version: Option<Line>,
    /// The channel that it follows; none for a local build.
    pub channel: Option<Channel>,
    /// Whether that is a branch of the channel, whose name is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_branch: bool,
    /// Whether refreshes are held, and by whom.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Holder>,
    /// Why it is not moved here, where it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exempt: Option<Exempt>,
}

impl NodeSnap {
    /// What `snap list` says of it.
    pub fn of(installed: &Installed) -> Self {
        let tracking = installed.tracking.as_ref();
        Self {
            revision: installed.revision,
            version: installed.version.as_deref().map(Line::from),
            channel: tracking.map(|tracking| tracking.channel.clone()),
            on_branch: tracking.is_some_and(|tracking| tracking.on_branch),
            held: None,
            exempt: None,
        }
    }

    /// The channel as `snap list` shows it.
    pub fn tracking(&self) -> Option<Tracking> {
        let channel = self.channel.clone()?;
        Some(Tracking { channel, on_branch: self.on_branch })
    }
}

/// Who placed a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holder {
    /// lockstep.
    Own,
    /// Somebody else.
    Other,
}

/// Why a managed snap is observed and never moved on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exempt {
    /// A local build, which no cohort or channel moves.
    Sideloaded,
    /// Held by somebody else.
    Held,
    /// Somebody moved it back after lockstep had moved it.
    MovedBack,
}

/// Whether something works, as far as that can be seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is", content = "why")]
pub enum Check {
    /// It works.
    Ok,
    /// It does not: why.
    Bad(Line),
    /// It cannot be seen: why.
    Unknown(Line),
    /// Nothing of the kind is looked at here.
    #[default]
    None,
}

impl Check {
    /// Whether both say the same but for the reason.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether it is seen not to work.
    pub fn is_bad(&self) -> bool {
        matches!(self, Self::Bad(_))
    }
}

/// Whether a machine works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The services of its managed snaps run.
    #[serde(default)]
    pub services: Check,
    /// Its API server is ready.
    #[serde(default)]
    pub api_server: Check,
    /// Its node is Ready.
    #[serde(default)]
    pub node: Check,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

impl Health {
    /// The parts, in the order in which they are told.
    pub fn parts(&self) -> [&Check; 3] {
        [&self.services, &self.api_server, &self.node]
    }

    /// The first reason why it is bad.
    pub fn bad(&self) -> Option<&Line> {
        self.parts().into_iter().find_map(|check| match check {
            Check::Bad(why) => Some(why),
            Check::Ok | Check::Unknown(_) | Check::None => None,
        })
    }
}

/// Whether the cluster works, as one control-plane member sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cluster {
    /// All nodes are Ready.
    #[serde(default)]
    pub nodes: Check,
    /// The pods of `kube-system` run.
    #[serde(default)]
    pub pods: Check,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// The heads of one snap's channels in use, for the architecture of the unit that tells them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeHeads {
    /// When the store told them. Written anew only with a change, or when a day old.
    pub read: Timestamp,
    /// The heads by channel; a channel that is neither in here nor in `absent` is unknown.
    pub channels: BTreeMap<Channel, NodeHead>,
    /// Channels that the store does not have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub absent: BTreeSet<Channel>,
}

/// A revision that a channel leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeHead {
    /// The revision, of that architecture.
    pub revision: Revision,
    /// What its publisher calls it.
    pub version: Line,
}

impl Node {
    /// A node with nothing but its machine.
    pub fn new(machine: &str, architecture: Architecture, build: &str) -> Self {
        Self {
            format: Format,
            role: None,
            principal: None,
            machine: machine.into(),
            host: None,
            address: None,
            architecture,
            build: build.into(),
            snaps: BTreeMap::new(),
            health: Health::default(),
            cluster: None,
            heads: BTreeMap::new(),
            more: More::new(),
        }
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

/// The value of `nodes`: the readiness of granted workers that cannot read it themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    format: Format,
    /// By lockstep unit.
    pub nodes: BTreeMap<UnitName, NodeReady>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// Whether one worker's node is Ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReady {
    /// The serial of the grant that it was looked at for.
    pub serial: u64,
    /// Whether it is Ready.
    pub ready: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Line,
}

impl Nodes {
    /// What is told of these workers.
    pub fn new(nodes: BTreeMap<UnitName, NodeReady>) -> Self {
        Self { nodes, ..Self::default() }
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
