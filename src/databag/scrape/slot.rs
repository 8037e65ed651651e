//! A slot of a snap that shows its log files: `charmed-zookeeper:logs`.

use crate::snap::SnapName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A snap and the name of its slot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Slot {
    /// The snap.
    pub snap: SnapName,
    name: String,
}

impl Slot {
    /// The slot's own name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for Slot {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (snap, name) = text.split_once(':').ok_or("is not snap:slot")?;
        // snapcore/snapd `snap/naming/validate.go`: parts of letters and digits between single dashes.
        let part = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        };
        let named = name.starts_with(|c: char| c.is_ascii_lowercase()) && name.split('-').all(part);
        if !named || name.len() > 40 {
            return Err("has no slot's name behind the colon");
        }
        let snap = snap.parse().map_err(|_| "has no snap's name before the colon")?;
        Ok(Self { snap, name: name.to_owned() })
    }
}

impl TryFrom<String> for Slot {
    type Error = &'static str;
    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl From<Slot> for String {
    fn from(slot: Slot) -> Self {
        slot.to_string()
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.snap, self.name)
    }
}
