//! Names of applications and units. Anything that came from outside is parsed into these before use.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Why a text is no name of an application or unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not the name of {what}")]
pub struct NameError {
    text: String,
    what: &'static str,
}

/// The name of an application: lower case letters, digits and single dashes, beginning with a letter,
/// and no part after a dash made of digits alone (juju/names `application.go`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AppName(String);

impl AppName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl NameError {
    fn new(text: &str, what: &'static str) -> Self {
        // It may be anybody's text, of any length.
        Self { text: text.chars().take(80).collect(), what }
    }
}

impl FromStr for AppName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let part_ok = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                && part.bytes().any(|b| b.is_ascii_lowercase())
        };
        // A remote application across models is called `remote-<32 hex>`, which has this form too.
        if text.starts_with(|c: char| c.is_ascii_lowercase()) && text.split('-').all(part_ok) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NameError::new(text, "an application"))
        }
    }
}

/// The name of a unit, `k8s/0`. Ordered by application, then by number (`k8s/2` before `k8s/10`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UnitName {
    application: AppName,
    number: u32,
}

impl UnitName {
    /// The application that the unit belongs to.
    pub fn application(&self) -> &AppName {
        &self.application
    }

    /// The number behind the slash.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl FromStr for UnitName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let fault = || NameError::new(text, "a unit");
        let (application, number) = text.split_once('/').ok_or_else(fault)?;
        let canonical = number == "0" || (!number.starts_with('0') && !number.is_empty());
        if !canonical || !number.bytes().all(|b| b.is_ascii_digit()) {
            return Err(fault());
        }
        Ok(Self {
            application: application.parse().map_err(|_| fault())?,
            number: number.parse().map_err(|_| fault())?,
        })
    }
}

impl Ord for UnitName {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.application, self.number).cmp(&(&other.application, other.number))
    }
}

impl PartialOrd for UnitName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.application, self.number)
    }
}

impl fmt::Display for AppName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for AppName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl TryFrom<String> for UnitName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<AppName> for String {
    fn from(name: AppName) -> Self {
        name.0
    }
}

impl From<UnitName> for String {
    fn from(name: UnitName) -> Self {
        name.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn application_names_follow_juju() {
        for good in ["k8s", "ledger-db", "a1-b2", "x"] {
            assert!(good.parse::<AppName>().is_ok(), "{good}");
        }
        for bad in ["", "K8s", "1a", "a-", "a--b", "a-1", "a_b", "a/0", "-a", "a b"] {
            assert!(bad.parse::<AppName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn unit_names_are_canonical_and_ordered_by_number() {
        for bad in ["k8s", "k8s/", "k8s/01", "k8s/-1", "k8s/1/2", "/0", "k8s/99999999999"] {
            assert!(bad.parse::<UnitName>().is_err(), "{bad}");
        }
        let mut units: Vec<UnitName> = ["k/10", "k/2", "a/3"].iter().map(|u| u.parse().unwrap()).collect();
        units.sort();
        assert_eq!(units.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a/3", "k/2", "k/10"]);
    }
}
