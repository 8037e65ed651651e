//! The key `target` of the peers application databag: what units move to.

use super::node::Role;
use super::wire::{self, Format, Line, More, Unread};
use super::{Digest, node::NodeHead};
use crate::juju::Timestamp;
use crate::snap::{Architecture, Channel, CohortKey, Minor, Revision, SnapName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// The key.
pub const TARGET: &str = "target";
/// The kinds that are known here.
const KINDS: [&str; 2] = ["cohort", "upgrade"];

/// The id of a target: a counter, and eight hex digits of its content. Units copy it, never compute
/// it; no id comes back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TargetId {
    counter: u64,
    content: String,
}

impl TargetId {
    /// The counter.
    pub fn counter(&self) -> u64 {
        self.counter
    }
}

impl FromStr for TargetId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (counter, content) = text.split_once('-')?;
            let number = counter.parse::<u64>().ok().filter(|number| number.to_string() == counter)?;
            let hex = content.len() == 8 && content.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
            hex.then(|| Self { counter: number, content: content.to_owned() })
        };
        parse().ok_or_else(|| "is not the id of a target".to_owned())
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.counter, self.content)
    }
}

impl TryFrom<String> for TargetId {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<TargetId> for String {
    fn from(id: TargetId) -> Self {
        id.to_string()
    }
}

/// The two kinds of target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// New keys; each member joins on the channel that it tracks.
    Cohort,
    /// Another channel.
    Upgrade,
}

/// Revisions by snap and architecture.
pub type Revisions = BTreeMap<SnapName, BTreeMap<Architecture, BTreeSet<Revision>>>;
/// The heads of channels in use, by snap and architecture.
pub type TargetHeads = BTreeMap<SnapName, BTreeMap<Architecture, BTreeMap<Channel, NodeHead>>>;

/// Where snaps are wanted.
pub type Wishes = BTreeMap<SnapName, Wish>;

/// Where one snap is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// The channel.
    pub channel: Channel,
    /// The revision in it, by architecture; none for one: whatever the channel has.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revisions: BTreeMap<Architecture, Revision>,
}

/// What units move to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    format: Format,
    /// Its id.
    pub id: TargetId,
    /// Its kind.
    pub kind: Kind,
    /// When it was made.
    pub made: Timestamp,
    /// The last serial that was used before it: later grants were made for it.
    #[serde(default)]
    pub serial: u64,
    /// Each snap that it speaks of.
    pub snaps: BTreeMap<SnapName, SnapTarget>,
    /// The heads that it was made for.
    #[serde(default)]
    pub heads: TargetHeads,
    /// What members ran when it was made, by role and architecture: the way back where no target was
    /// ever completed.
    #[serde(default)]
    pub before: BTreeMap<Role, BTreeMap<Architecture, BTreeMap<SnapName, Pin>>>,
    /// The last target that all members completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed: Option<Earlier>,
    /// The last target that every control-plane member completed: what followers may have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub led: Option<Earlier>,
    /// Whether it leads back: the unit that is to be mended does not wait for its health.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rollback: bool,
    /// The minor versions that it leads from and to, where they are known: the order depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minors: Option<(Minor, Minor)>,
    /// The source's target whose keys it carries, where another application is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<TargetId>,
    /// What the options have asked for so far, and is not to be asked again: a snap that somebody
    /// moves elsewhere is not followed by itself, and a rollback stays.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub wanted: Wishes,
    /// The channels that members tracked when an upgrade was made: from any other nobody is moved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tracked: BTreeMap<SnapName, BTreeSet<Channel>>,
    /// The checks that an admin has overridden.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub overridden: BTreeSet<Line>,
    /// Revisions that were left behind by a rollback.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: Revisions,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// Where one snap goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapTarget {
    /// The cohort to join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cohort: Option<CohortKey>,
    /// When that key was made, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// Whether the key came from the application that is followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub followed: bool,
    /// The channel of an upgrade; none: what each member tracks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// Revisions instead of a cohort, by role and architecture.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pins: BTreeMap<Role, BTreeMap<Architecture, Pin>>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// A channel and a revision of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// The channel; none: what the member tracks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Channel>,
    /// The revision.
    pub revision: Revision,
}

/// What is kept of an earlier target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// Its id.
    pub id: TargetId,
    /// Its kind.
    pub kind: Kind,
    /// Where each snap went.
    pub snaps: BTreeMap<SnapName, SnapTarget>,
    /// The heads that it was made for.
    #[serde(default)]
    pub heads: TargetHeads,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

/// Where one snap of one machine goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal<'a> {
    /// Into that cohort.
    Cohort {
        /// The key.
        key: &'a CohortKey,
        /// The channel to follow; none: the one that it tracks.
        channel: Option<&'a Channel>,
    },
    /// To that revision.
    Revision {
        /// The revision.
        revision: Revision,
        /// The channel to follow; none: the one that it tracks.
        channel: Option<&'a Channel>,
    },
    /// The target does not say.
    Unsaid,
}

impl SnapTarget {
    /// Where the snap goes on a machine of that role and architecture.
    pub fn goal(&self, role: Role, architecture: Architecture) -> Goal<'_> {
        let pin = self.pins.get(&role).and_then(|pins| pins.get(&architecture));
        match (pin, &self.cohort) {
            (Some(pin), _) => Goal::Revision {
                revision: pin.revision,
                channel: pin.channel.as_ref().or(self.channel.as_ref()),
            },
            (None, Some(key)) => Goal::Cohort { key, channel: self.channel.as_ref() },
            (None, None) => Goal::Unsaid,
        }
    }
}

impl Target {
    /// A target of that content, with the id that follows from it and the counter.
    pub fn new(counter: u64, kind: Kind, made: Timestamp, snaps: BTreeMap<SnapName, SnapTarget>) -> Self {
        let content = format!("{kind:?} {} {}", made.0, wire::write(&snaps));
        let content: String = Digest::of(&content).to_string().chars().take(8).collect();
        Self {
            format: Format,
            id: TargetId { counter, content },
            kind,
            made,
            serial: 0,
            snaps,
            heads: TargetHeads::new(),
            before: BTreeMap::new(),
            completed: None,
            led: None,
            rollback: false,
            minors: None,
            follows: None,
            wanted: Wishes::new(),
            tracked: BTreeMap::new(),
            overridden: BTreeSet::new(),
            refused: Revisions::new(),
            more: More::new(),
        }
    }

    /// What a later target keeps of it.
    pub fn earlier(&self) -> Earlier {
        Earlier {
            id: self.id.clone(),
            kind: self.kind,
            snaps: self.snaps.clone(),
            heads: self.heads.clone(),
            more: More::new(),
        }
    }

    /// Whether a snap that follows that channel may be moved: it is where the target leads, or where
    /// members were when it was made. A target that names no channel moves from any.
    pub fn is_known(&self, name: &SnapName, channel: &Channel) -> bool {
        let leads = self.snaps.get(name).is_some_and(|snap| {
            let pins = snap.pins.values().flat_map(BTreeMap::values);
            let named: Vec<_> = pins.filter_map(|pin| pin.channel.as_ref()).chain(&snap.channel).collect();
            named.is_empty() || named.contains(&channel)
        });
        leads || self.tracked.get(name).is_none_or(|tracked| tracked.contains(channel))
    }

    /// The role that moves first: the workers where the minor version goes down.
    pub fn first_role(&self) -> Role {
        match self.minors {
            Some((from, to)) if to < from => Role::Worker,
            Some(_) | None => Role::ControlPlane,
        }
    }

    /// Reads the value of the key; an absent one is no target.
    pub fn read(text: Option<&str>) -> Result<Option<Self>, Unread> {
        text.map(|text| wire::read(text, &KINDS)).transpose()
    }

    /// The value of the key.
    pub fn write(&self) -> String {
        wire::write(self)
    }
}
