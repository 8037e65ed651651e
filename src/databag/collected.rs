//! `collected` in a peer unit databag: whose metrics the unit's collector sends to Prometheus, so that
//! the leader knows whose host health alerts can be forwarded. No job and no target is in it.

use super::wire::{self, Format, More, Unread};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The key.
pub const COLLECTED: &str = "collected";

/// The principal units whose jobs a unit's collector scrapes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collected {
    format: Format,
    /// Those units.
    pub principals: BTreeSet<UnitName>,
    /// Fields of newer charms.
    #[serde(flatten)]
    pub more: More,
}

impl Collected {
    /// These principal units.
    pub fn of(principals: BTreeSet<UnitName>) -> Self {
        Self { principals, ..Self::default() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reads_back_and_a_newer_format_is_told_apart() {
        let text = r#"{"format":1,"principals":["k8s/2","k8s/10"],"later":1}"#;
        let read = Collected::read(text).unwrap();
        assert_eq!((read.principals.len(), read.write().as_str()), (2, text));
        assert!(matches!(Collected::read(r#"{"format":2}"#), Err(Unread::Newer(_))));
        assert!(matches!(Collected::read(r#"{"format":1,"principals":["x"]}"#), Err(Unread::Broken(_))));
    }
}
