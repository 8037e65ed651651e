//! Revisions of snaps.

use super::{SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A revision: the store's number, or `x1`, `x2`, ... for a local build. Numbers belong to one
/// architecture: never compare those of two. Serialized as a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Revision {
    /// From the store; 1 or more.
    Store(u32),
    /// Sideloaded on this machine; 1 or more.
    Local(u32),
}

impl Revision {
    /// Whether it is a local build, which no cohort or channel moves.
    pub fn is_local(self) -> bool {
        matches!(self, Self::Local(_))
    }
}

impl FromStr for Revision {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let digits = text.strip_prefix('x').unwrap_or(text);
        let canonical = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        match digits.parse() {
            Ok(number) if canonical && digits.len() == text.len() => Ok(Self::Store(number)),
            Ok(number) if canonical => Ok(Self::Local(number)),
            Ok(_) | Err(_) => {
                Err(SnapTextError::new(text, "a revision", "it must be a number, or x and a number"))
            }
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(number) => write!(f, "{number}"),
            Self::Local(number) => write!(f, "x{number}"),
        }
    }
}

as_string!(Revision);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_numbers_or_x_and_a_number() {
        assert_eq!("41".parse(), Ok(Revision::Store(41)));
        assert_eq!("x1".parse(), Ok(Revision::Local(1)));
        for bad in ["", "0", "x0", "x", "-1", "+1", "01", "1.5", "x-1", "xx1", "41 ", "99999999999"] {
            assert!(bad.parse::<Revision>().is_err(), "{bad}");
        }
        assert_eq!(serde_json::to_string(&Revision::Local(2)).unwrap(), "\"x2\"");
    }
}
