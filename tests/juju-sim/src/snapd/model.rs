//! snapd's state on one machine, as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Change;
use crate::store::{Channel, Confinement, Publisher};
use crate::world::Time;

/// Whether snapd is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Presence {
    /// It answers.
    Up,
    /// There is a `snap` program, but no socket.
    Down,
    /// There is no `snap` program either.
    Absent,
}

/// Until when nobody but a named refresh moves a snap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hold {
    /// For ever.
    Forever,
    /// Until then.
    Until(Time),
}

impl Hold {
    /// Whether it still holds.
    pub fn holds(self, now: Time) -> bool {
        match self {
            Self::Forever => true,
            Self::Until(end) => end > now,
        }
    }
}

/// A service of a snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Service {
    /// Started at boot.
    pub enabled: bool,
    /// Runs.
    pub active: bool,
    /// How often it was restarted by a refresh.
    pub restarts: u32,
}

/// An older revision that is still on the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OnDisk {
    /// `41`
    pub revision: String,
    /// Its version.
    pub version: String,
}

/// An installed snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snap {
    /// Name.
    pub name: String,
    /// `41`, or `x1` of a local build.
    pub revision: String,
    /// Version.
    pub version: String,
    /// The channel that it follows.
    pub tracking: Option<Channel>,
    /// The channel that the revision came from.
    pub channel: Option<Channel>,
    /// The whole key.
    pub cohort_key: Option<String>,
    /// Confinement.
    pub confinement: Confinement,
    /// `snap disable`
    pub disabled: bool,
    /// `snap refresh --hold NAME`
    pub held: Option<Hold>,
    /// Oldest first.
    pub older: Vec<OnDisk>,
    /// By name, without the snap's.
    pub services: BTreeMap<String, Service>,
    /// Names of its plugs.
    pub plugs: Vec<String>,
    /// Slots that show its log files, each with the directories.
    pub log_slots: BTreeMap<String, Vec<String>>,
    /// Processes of its apps that are no services: a refresh waits for them.
    pub running: Vec<u32>,
    /// In bytes.
    pub size: u64,
    /// When it came to this revision.
    pub refreshed: Time,
    /// Who publishes it; none for a local build.
    pub publisher: Option<Publisher>,
    /// From the store; none for a local build.
    pub id: Option<String>,
    /// `app`, `base`, `snapd`.
    pub kind: String,
}

impl Snap {
    /// Whether it is a local build, which the store knows nothing of.
    pub fn sideloaded(&self) -> bool {
        self.id.is_none()
    }

    /// Whether it is held now.
    pub fn is_held(&self, now: Time) -> bool {
        self.held.is_some_and(|hold| hold.holds(now))
    }

    /// What a change may alter of it.
    pub fn place(&self) -> super::Place {
        super::Place {
            revision: self.revision.clone(),
            tracking: self.tracking.clone(),
            cohort_key: self.cohort_key.clone(),
        }
    }
}

/// snapd's own refreshes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AutoRefresh {
    /// In milliseconds.
    pub every: u64,
    /// When it looks next.
    pub next: Time,
}

/// snapd on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapd {
    /// Whether it is there.
    pub presence: Presence,
    /// `2.68.3`
    pub version: String,
    /// By name.
    pub snaps: BTreeMap<String, Snap>,
    /// `snap:plug` to `snap:slot`, or to `:slot` of snapd's own, in the order in which they were made.
    pub connections: Vec<(String, String)>,
    /// In order of their ids.
    pub changes: Vec<Change>,
    /// The id of the next change.
    pub next_change: u32,
    /// The system's configuration.
    pub config: BTreeMap<String, serde_json::Value>,
    /// None: it never refreshes by itself.
    pub auto_refresh: Option<AutoRefresh>,
    /// When it last looked for updates by itself.
    pub last_refresh: Option<Time>,
}

impl Default for Snapd {
    fn default() -> Self {
        Self {
            presence: Presence::Up,
            version: "2.68.3".to_owned(),
            snaps: BTreeMap::new(),
            connections: Vec::new(),
            changes: Vec::new(),
            next_change: 1,
            config: BTreeMap::new(),
            auto_refresh: None,
            last_refresh: None,
        }
    }
}

impl Snapd {
    /// Whether it knows `--hold`, and newer words.
    pub fn at_least(&self, major: u32, minor: u32) -> bool {
        let mut parts = self.version.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
        (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= (major, minor)
    }

    /// Changes that are not ready.
    pub fn running(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| change.ready.is_none())
    }

    /// A text value of the system's configuration.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.config.get(name).and_then(serde_json::Value::as_str)
    }

    /// The store proxy that is configured.
    pub fn proxy(&self) -> Option<&str> {
        self.setting("proxy.store").filter(|proxy| !proxy.is_empty())
    }

    /// Until when snapd's own refreshes are put off.
    pub fn refresh_hold(&self) -> Option<Hold> {
        match self.setting("refresh.hold")? {
            "forever" => Some(Hold::Forever),
            text => Time::parse_rfc3339(text).map(Hold::Until),
        }
    }
}

/// How long things take, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnapTimes {
    /// Another revision, or an installation.
    pub refresh: u64,
    /// A change of channel, cohort, hold or configuration alone.
    pub metadata: u64,
}

impl Default for SnapTimes {
    fn default() -> Self {
        Self { refresh: 20_000, metadata: 200 }
    }
}

/// Whether snapd takes it for a snap's name.
pub fn is_snap_name(name: &str) -> bool {
    (2..=40).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && name.bytes().any(|b| b.is_ascii_lowercase())
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}
