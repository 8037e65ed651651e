//! The snap store, as plain data: what is published where, cohorts, and what goes wrong with it.
//!
//! How a real store answers for a cohort is known from documents only; `reference` facts are taken where they exist.

mod ask;
mod channel;
mod cohort;
mod fault;
mod publish;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use ask::{Offer, Question, Refusal, Request};
pub use channel::{Channel, Risk};
pub use cohort::{Cohort, UnknownKeys, WINDOW};
pub use fault::{Fault as StoreFault, Outage, StoreError};
pub use publish::Publish;

use crate::rng::Rng;
use crate::world::Time;

/// Who publishes a snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Publisher {
    /// `canonical`
    pub username: String,
    /// `Canonical`
    pub name: String,
    /// `**` for a verified one, `*` for a starred one, else nothing.
    #[serde(default)]
    pub badge: String,
}

impl Publisher {
    /// The publisher of snaps that no scenario gives another one.
    pub fn canonical() -> Self {
        Self { username: "canonical".to_owned(), name: "Canonical".to_owned(), badge: "**".to_owned() }
    }

    /// In tables.
    pub fn short(&self) -> String {
        format!("{}{}", self.username, self.badge)
    }

    /// In sentences.
    pub fn long(&self) -> String {
        if self.username.replace('-', " ").eq_ignore_ascii_case(&self.name) {
            format!("{}{}", self.name, self.badge)
        } else {
            format!("{} ({}{})", self.name, self.username, self.badge)
        }
    }
}

/// How a snap is confined.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confinement {
    /// The usual one.
    #[default]
    Strict,
    /// Needs `--classic`.
    Classic,
    /// For developers.
    Devmode,
}

impl Confinement {
    /// As `info --verbose` shows it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Classic => "classic",
            Self::Devmode => "devmode",
        }
    }

    /// The note of it, if it is worth one.
    pub fn note(self) -> Option<&'static str> {
        (self != Self::Strict).then(|| self.name())
    }
}

/// One revision; it is for one architecture, and numbered among all of its snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Revision {
    /// Version.
    pub version: String,
    /// Architecture.
    pub arch: String,
    /// Confinement.
    pub confinement: Confinement,
    /// In bytes.
    pub size: u64,
    /// Its services do not stay up.
    pub crashes: bool,
    /// Installing it fails, with this reason, and is undone.
    pub fails: Option<String>,
}

/// Channel (with its track) and architecture to a revision; what is not there is closed.
pub type ChannelMap = BTreeMap<Channel, BTreeMap<String, u32>>;

/// A release that is offered to some machines first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Phased {
    /// The revision that `snap info` shows already.
    pub revision: u32,
    /// Ids of the machines that get it.
    pub offered_to: Vec<String>,
}

/// A snap of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoreSnap {
    /// 32 letters and digits.
    pub id: String,
    /// Publisher.
    pub publisher: Publisher,
    /// One line.
    pub summary: String,
    /// Lines.
    pub description: String,
    /// `base:` of it, if there is one.
    pub base: Option<String>,
    /// Services that every revision has.
    pub services: Vec<String>,
    /// Plugs that every revision has.
    pub plugs: Vec<String>,
    /// Those that are connected by an installation.
    pub auto_connected: Vec<String>,
    /// Slots that show its log files, each with the directories.
    pub log_slots: BTreeMap<String, Vec<String>>,
    /// Services are stopped and disabled when it is installed.
    pub services_disabled: bool,
    /// All that was ever published, by number.
    pub revisions: BTreeMap<u32, Revision>,
    /// What is released now.
    pub heads: ChannelMap,
    /// When that was released.
    pub released: BTreeMap<Channel, BTreeMap<String, Time>>,
    /// Progressive releases.
    pub phased: BTreeMap<Channel, BTreeMap<String, Phased>>,
    /// Tracks in the order in which `snap info` shows them.
    pub tracks: Vec<String>,
}

/// The store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Store {
    /// By name.
    pub snaps: BTreeMap<String, StoreSnap>,
    /// By key.
    pub cohorts: BTreeMap<String, Cohort>,
    /// What becomes of keys that the store did not make, or made for another snap.
    pub unknown_keys: UnknownKeys,
    /// What goes wrong, first match wins.
    pub faults: Vec<StoreFault>,
    /// So long does every request take, in milliseconds.
    pub slow: u64,
    /// As messages name it.
    pub url: String,
    /// As messages about connections name it.
    pub address: String,
    #[serde(skip)]
    rng: Rng,
}

impl Store {
    /// Whether the services of an installed snap stay up.
    pub(crate) fn stays_up(&self, snap: Option<&crate::snapd::Snap>) -> bool {
        let of = snap
            .and_then(|snap| self.snaps.get(&snap.name)?.revisions.get(&snap.revision.parse::<u32>().ok()?));
        !of.is_some_and(|revision| revision.crashes)
    }

    /// An empty store; keys follow from the seed.
    pub fn new(seed: u64) -> Self {
        Self {
            snaps: BTreeMap::new(),
            cohorts: BTreeMap::new(),
            unknown_keys: UnknownKeys::default(),
            faults: Vec::new(),
            slow: 0,
            url: "https://api.snapcraft.io".to_owned(),
            address: "203.0.113.20:443".to_owned(),
            rng: Rng::new(seed ^ 0x5a4d_5354_4f52_4531),
        }
    }
}

/// What is released in a channel for an architecture, or in the next safer one; with the channel that it is from.
pub fn head(map: &ChannelMap, channel: &Channel, arch: &str) -> Option<(u32, Channel)> {
    let at = |channel: &Channel| map.get(channel).and_then(|by_arch| by_arch.get(arch)).copied();
    if channel.branch.is_some() {
        return at(channel).map(|revision| (revision, channel.clone()));
    }
    let risks = Risk::ALL.into_iter().rev().skip_while(|risk| *risk != channel.risk);
    risks.map(|risk| channel.at(risk)).find_map(|channel| Some((at(&channel)?, channel)))
}

impl StoreSnap {
    pub(super) fn new(name: &str) -> Self {
        let mut id: String = name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        id.push_str(&"0".repeat(32 - id.len()));
        Self {
            id,
            publisher: Publisher::canonical(),
            summary: format!("The {name} snap"),
            description: format!("This is {name}."),
            base: None,
            services: Vec::new(),
            plugs: Vec::new(),
            auto_connected: Vec::new(),
            log_slots: BTreeMap::new(),
            services_disabled: false,
            revisions: BTreeMap::new(),
            heads: ChannelMap::new(),
            released: BTreeMap::new(),
            phased: BTreeMap::new(),
            tracks: Vec::new(),
        }
    }

    /// What everybody is told is released: with progressive releases in full.
    pub fn shown(&self) -> ChannelMap {
        let mut map = self.heads.clone();
        for (channel, by_arch) in &self.phased {
            for (arch, phased) in by_arch {
                map.entry(channel.clone()).or_default().insert(arch.clone(), phased.revision);
            }
        }
        map
    }

    /// What one machine is offered.
    pub fn offered(&self, machine: &str) -> ChannelMap {
        let mut map = self.heads.clone();
        for (channel, by_arch) in &self.phased {
            for (arch, phased) in by_arch.iter().filter(|(_, p)| p.offered_to.iter().any(|m| m == machine)) {
                map.entry(channel.clone()).or_default().insert(arch.clone(), phased.revision);
            }
        }
        map
    }
}
