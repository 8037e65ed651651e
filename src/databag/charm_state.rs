//! Charm state: what this unit remembers between hooks, committed by Juju together with the
//! databags. One key each, JSON; a value that cannot be read counts as not there.

mod collection;
mod rollout;

pub use collection::{CollectionMemory, Setback};
pub use rollout::{Attempt, Given, Moved, RolloutMemory, SeenKey};

use super::Digest;
use crate::juju::{AppName, RelationId, Scope, Status};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The keys of one own databag that lockstep wrote, with the digest of each value.
pub type WrittenBag = BTreeMap<String, Digest>;

/// What was last shown with `status-set` and `application-version-set`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Shown {
    /// The unit's status.
    pub unit: Option<Status>,
    /// The application's status, while this unit leads.
    pub app: Option<Status>,
}

/// An outgoing application databag that Juju refused to commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Withheld {
    /// The digest of what it should hold.
    pub content: Digest,
    /// Whether no other outgoing databag was written with it when it was refused.
    pub alone: bool,
}

/// The charm state of one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    /// The number of the last pass that buffered a write.
    pub pass: u64,
    /// The scoped statuses by the name of their concern, worst first within one.
    pub statuses: BTreeMap<String, Vec<Status>>,
    /// What was last shown.
    pub shown: Shown,
    /// What the own databags hold. Application databags are in it only while this unit leads.
    pub written: BTreeMap<RelationId, BTreeMap<Scope, WrittenBag>>,
    /// The last good value of each option that was changed from its default.
    pub options: BTreeMap<String, Value>,
    /// The digest of what the observability concern looked at when it last decided.
    pub observability: Option<Digest>,
    /// Applications that are held because this leader has not met every unit yet.
    pub strangers: BTreeSet<AppName>,
    /// Outgoing application databags that are held back.
    pub withheld: BTreeMap<RelationId, Withheld>,
    /// What the rollout remembers.
    pub rollout: RolloutMemory,
    /// What collection remembers.
    pub collection: CollectionMemory,
}

impl Remembered {
    /// Reads the charm state. The second value names the keys that could not be read.
    pub fn read(state: &BTreeMap<String, String>) -> (Self, Vec<&'static str>) {
        let mut unread = Vec::new();
        let remembered = Self {
            pass: read(state, "pass", &mut unread),
            statuses: read(state, "statuses", &mut unread),
            shown: read(state, "shown", &mut unread),
            written: read(state, "written", &mut unread),
            options: read(state, "options", &mut unread),
            observability: read(state, "observability", &mut unread),
            strangers: read(state, "strangers", &mut unread),
            withheld: read(state, "withheld", &mut unread),
            rollout: read(state, "rollout", &mut unread),
            collection: read(state, "collection", &mut unread),
        };
        (remembered, unread)
    }

    /// The charm state as `state-set` stores it.
    pub fn write(&self) -> BTreeMap<String, String> {
        [
            ("pass", write(&self.pass)),
            ("statuses", write(&self.statuses)),
            ("shown", write(&self.shown)),
            ("written", write(&self.written)),
            ("options", write(&self.options)),
            ("observability", write(&self.observability)),
            ("strangers", write(&self.strangers)),
            ("withheld", write(&self.withheld)),
            ("rollout", write(&self.rollout)),
            ("collection", write(&self.collection)),
        ]
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect()
    }
}

fn read<T: Default + DeserializeOwned>(
    state: &BTreeMap<String, String>,
    key: &'static str,
    unread: &mut Vec<&'static str>,
) -> T {
    match state.get(key).map(|text| serde_json::from_str(text)) {
        None => T::default(),
        Some(Ok(value)) => value,
        Some(Err(_)) => {
            unread.push(key);
            T::default()
        }
    }
}

fn write<T: Serialize>(value: &T) -> Option<String> {
    // Maps with text keys and plain values always serialise; if one did not, the old value stays.
    serde_json::to_string(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::juju::Level;

    #[test]
    fn what_is_written_reads_back() {
        let written =
            BTreeMap::from([(Scope::Unit, WrittenBag::from([("node".to_owned(), Digest::of("x"))]))]);
        let remembered = Remembered {
            pass: 7,
            statuses: BTreeMap::from([("setup".to_owned(), vec![Status::new(Level::Blocked, "x")])]),
            shown: Shown { unit: Some(Status::new(Level::Active, "")), app: None },
            written: BTreeMap::from([("peers:3".parse().unwrap(), written)]),
            options: BTreeMap::from([("channel".to_owned(), Value::from("1.32/stable"))]),
            observability: Some(Digest::of("y")),
            strangers: BTreeSet::from(["ledger-db".parse().unwrap()]),
            withheld: BTreeMap::from([(
                "logging-consumer:4".parse().unwrap(),
                Withheld { content: Digest::of("z"), alone: true },
            )]),
            rollout: RolloutMemory { met: true, ..RolloutMemory::default() },
            collection: CollectionMemory { gate: Some(Digest::of("w")), ..CollectionMemory::default() },
        };
        assert_eq!(Remembered::read(&remembered.write()), (remembered, vec![]));
        assert_eq!(Remembered::read(&BTreeMap::new()), (Remembered::default(), vec![]));
    }

    #[test]
    fn a_damaged_value_is_named_and_the_others_are_read() {
        let state =
            BTreeMap::from([("pass".to_owned(), "9".to_owned()), ("shown".to_owned(), "{".to_owned())]);
        let (remembered, unread) = Remembered::read(&state);
        assert_eq!((remembered.pass, unread), (9, vec!["shown"]));
    }
}
