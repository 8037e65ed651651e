//! The snap store, as plain data: what is published where, cohorts, and what goes wrong with it.
//!
//! How a real store answers for a cohort is known from documents only; `reference` facts are taken where they exist.

mod ask;
mod channel;
mod cohort;
mod fault;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use ask::{Offer, Question, Refusal, Request};
pub use channel::{Channel, Risk};
pub use cohort::{Cohort, UnknownKeys, WINDOW};
pub use fault::{Fault as StoreFault, Outage, StoreError};

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

/// What `publish` is told.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Publish {
    /// Which snap; it is made if it is new.
    pub snap: String,
    /// Where; `1.30` is `1.30/stable`. None only uploads the revision.
    pub channel: Option<String>,
    /// Its number.
    pub revision: u32,
    /// Its version.
    pub version: Option<String>,
    /// `amd64` if it is left out.
    pub arch: Option<String>,
    /// Confinement; that of the revision before if it is left out.
    pub confinement: Option<Confinement>,
    /// In bytes.
    pub size: Option<u64>,
    /// Services of the snap, once and for all.
    pub services: Option<Vec<String>>,
    /// Publisher, once and for all.
    pub publisher: Option<Publisher>,
    /// Its services do not stay up.
    pub crashes: bool,
    /// Installing it fails with this reason.
    pub fails: Option<String>,
    /// Offered only to the machines of these units (or ids of machines) at first.
    pub offered_to: Option<Vec<String>>,
}

impl Store {
    /// A release; without a channel only the revision becomes known.
    pub fn publish(&mut self, publish: &Publish, now: Time) -> Result<(), String> {
        let name = &publish.snap;
        if !crate::snapd::is_snap_name(name) {
            return Err(format!("no name of a snap: {name}"));
        }
        let snap = self.snaps.entry(name.clone()).or_insert_with(|| StoreSnap::new(name));
        let channel = publish.channel.as_deref().map(Channel::parse).transpose()?;
        let arch = publish.arch.clone().unwrap_or_else(|| "amd64".to_owned());
        snap.services = publish.services.clone().unwrap_or_else(|| snap.services.clone());
        snap.publisher = publish.publisher.clone().unwrap_or_else(|| snap.publisher.clone());
        let last = snap.revisions.values().next_back();
        let confinement = publish.confinement.or(last.map(|r| r.confinement)).unwrap_or_default();
        if let Some(known) = snap.revisions.get(&publish.revision) {
            let other = publish.version.as_ref().is_some_and(|version| *version != known.version);
            if known.arch != arch || other {
                return Err(format!(
                    "revision {} of {name} is {} for {}",
                    publish.revision, known.version, known.arch
                ));
            }
        }
        let known = snap.revisions.entry(publish.revision).or_insert_with(|| Revision {
            version: publish.version.clone().unwrap_or_else(|| publish.revision.to_string()),
            arch: arch.clone(),
            confinement,
            size: publish.size.unwrap_or(30_000_000),
            crashes: false,
            fails: None,
        });
        known.crashes = publish.crashes;
        known.fails.clone_from(&publish.fails);
        let Some(channel) = channel else { return Ok(()) };
        if !snap.tracks.contains(&channel.track) {
            snap.tracks.push(channel.track.clone());
        }
        snap.released.entry(channel.clone()).or_default().insert(arch.clone(), now);
        match &publish.offered_to {
            Some(machines) => {
                let phased = Phased { revision: publish.revision, offered_to: machines.clone() };
                snap.phased.entry(channel).or_default().insert(arch, phased);
            }
            None => {
                if let Some(phased) = snap.phased.get_mut(&channel) {
                    phased.remove(&arch);
                }
                snap.heads.entry(channel).or_default().insert(arch, publish.revision);
            }
        }
        Ok(())
    }

    /// Closes a channel, for one architecture or for all.
    pub fn close(&mut self, name: &str, channel: &str, arch: Option<&str>) -> Result<(), String> {
        let snap = self.snaps.get_mut(name).ok_or_else(|| format!("no snap {name}"))?;
        let channel = Channel::parse(channel)?;
        let was = match (snap.heads.get_mut(&channel), arch) {
            (None, _) => false,
            (Some(by_arch), Some(arch)) => by_arch.remove(arch).is_some(),
            (Some(by_arch), None) => !std::mem::take(by_arch).is_empty(),
        };
        if was { Ok(()) } else { Err(format!("{channel} of {name} is not open")) }
    }
}

impl StoreSnap {
    fn new(name: &str) -> Self {
        let mut id: String = name.chars().filter(char::is_ascii_alphanumeric).take(32).collect();
        id.push_str(&"0".repeat(32 - id.len()));
        Self {
            id,
            publisher: Publisher::canonical(),
            summary: format!("The {name} snap"),
            description: format!("This is {name}."),
            base: None,
            services: Vec::new(),
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
