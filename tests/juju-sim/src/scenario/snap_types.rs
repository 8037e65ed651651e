//! Steps about snaps, the store, programs of machines and the passing of time.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::OneOrMany;
use crate::snapd::{Presence, SnapSpec};
use crate::store::{Outage, Publish, Request, UnknownKeys};

/// Of `store`: one or several of these.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StoreStep {
    /// One revision, or several.
    #[serde(deserialize_with = "one_or_many")]
    pub publish: Vec<Publish>,
    /// A channel is closed.
    pub close: Option<CloseSpec>,
    /// Something goes wrong; `none` ends all that does.
    pub outage: Option<OutageSpec>,
    /// So many seconds does every request take.
    pub slow: Option<u64>,
    /// What becomes of keys that the store did not make: `ignore`, or `{refuse: TEXT}`.
    pub unknown_keys: Option<UnknownKeys>,
}

/// Without a detour through untyped values, which would turn the channel 1.30 into a number.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Publish>, D::Error> {
    struct Releases;
    impl<'de> Visitor<'de> for Releases {
        type Value = Vec<Publish>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("one release or a list of them")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Publish::deserialize(MapAccessDeserializer::new(map)).map(|one| vec![one])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq))
        }
    }
    from.deserialize_any(Releases)
}

/// Of `close`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CloseSpec {
    /// Which snap.
    pub snap: String,
    /// Which channel.
    pub channel: String,
    /// For which architecture; all if it is left out.
    #[serde(default)]
    pub arch: Option<String>,
}

/// Of `outage`: a word (`unreachable`, `throttled`, `timeout`, `none`), or all about it.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OutageSpec {
    /// A word.
    Word(String),
    /// All about it.
    Full(Box<OutageFull>),
}

/// All about an outage.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct OutageFull {
    /// A word, as above, or `empty`, `damaged`.
    pub kind: Option<String>,
    /// Or a status such as 503.
    pub status: Option<u16>,
    /// Or the store's own words.
    pub says: Option<String>,
    /// Which requests: `cohorts`, `refresh`, `info`, `download`; all if it is left out.
    pub requests: Vec<Request>,
    /// Which snap.
    pub snap: Option<String>,
    /// On the machine of which unit.
    pub unit: Option<String>,
    /// How often; always if it is left out.
    pub times: Option<u32>,
}

impl OutageSpec {
    /// How requests fail; none for `none`.
    pub fn outage(&self) -> Result<Option<Outage>, String> {
        let word = |word: &str| {
            Ok(Some(match word {
                "none" => return Ok(None),
                "unreachable" => Outage::Unreachable,
                "throttled" => Outage::Throttled,
                "timeout" => Outage::Timeout,
                "empty" => Outage::Empty,
                "damaged" => Outage::Damaged,
                other => return Err(format!("no outage: {other}")),
            }))
        };
        match self {
            Self::Word(text) => word(text),
            Self::Full(full) => match (&full.kind, full.status, &full.says) {
                (Some(kind), None, None) => word(kind),
                (None, Some(status), None) => Ok(Some(Outage::Status(status))),
                (None, None, Some(text)) => Ok(Some(Outage::Says(text.clone()))),
                (_, _, _) => Err("an outage has one of `kind`, `status`, `says`".to_owned()),
            },
        }
    }
}

/// Of `snaps`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SnapsStep {
    /// On the machines of these units; `all`.
    pub unit: Option<OneOrMany>,
    /// On this machine.
    pub machine: Option<String>,
    /// On all machines of this application, also on those that come later.
    pub application: Option<String>,
    /// What is there now.
    pub install: Vec<SnapSpec>,
    /// What is gone.
    pub remove: Vec<String>,
}

/// Of `arch`, `snapd-version`, `snapd` and `proxy`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MachinesAre {
    /// The machines of these units; `all`.
    pub unit: Option<OneOrMany>,
    /// This machine.
    pub machine: Option<String>,
    /// What they are from now on.
    pub is: Option<String>,
}

/// Of `snapd`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SnapdStep {
    /// On the machines of these units; `all`.
    #[serde(default)]
    pub unit: Option<OneOrMany>,
    /// On this machine.
    #[serde(default)]
    pub machine: Option<String>,
    /// `up`, `down` or `absent`.
    pub is: Presence,
}

/// Of `auto-refresh`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AutoRefreshStep {
    /// On the machines of these units; `all`.
    pub unit: Option<OneOrMany>,
    /// On this machine.
    pub machine: Option<String>,
    /// So many seconds from now.
    pub in_seconds: u64,
    /// Then every so often; only once if it is left out.
    pub every_hours: u64,
}

/// Of `run`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunStep {
    /// On the machines of these units; `all`.
    pub unit: Option<OneOrMany>,
    /// On this machine.
    pub machine: Option<String>,
    /// The command line.
    pub args: Vec<String>,
    /// The exit status that is wanted.
    pub exit: u8,
    /// A part of what it prints.
    pub says: Option<String>,
}

/// Of `snap-times`, in seconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SnapTimesStep {
    /// Of another revision.
    pub refresh: Option<f64>,
    /// Of channel, cohort, hold or configuration alone.
    pub metadata: Option<f64>,
}

/// Of `commands`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CommandsStep {
    /// Of which scripted application.
    pub application: String,
    /// What its units run on their machines in each of their hooks, the next of which is due now.
    pub set: Vec<Vec<String>>,
}
