//! Versions, as far as something follows from them: of Kubernetes and of snapd.

use super::{Channel, SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A minor version of Kubernetes, such as 1.30.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Minor {
    /// 1 in `1.30`.
    pub major: u16,
    /// 30 in `1.30`.
    pub minor: u16,
}

impl Minor {
    /// Of a snap's or a node's version: `1.30.2`, `v1.30.2`, `1.30.4+git1`. None for `latest` and its like.
    pub fn of_version(version: &str) -> Option<Self> {
        let text = version.strip_prefix('v').unwrap_or(version);
        let (major, rest) = text.split_once('.')?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (minor, rest) = rest.split_at_checked(end)?;
        // `1.30rc` is no minor version, `1.30.2`, `1.30-classic` and `1.30+git` have one.
        (rest.is_empty() || rest.starts_with(['.', '-', '+', '~'])).then_some(())?;
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse().ok()).flatten()
        };
        Some(Self { major: number(major)?, minor: number(minor)? })
    }

    /// Of a channel's track: `1.30/stable`, `1.30-classic/edge`. None for `latest`.
    pub fn of_channel(channel: &Channel) -> Option<Self> {
        Self::of_version(channel.track())
    }

    /// How many minor versions this one is above the other; none where the majors differ.
    pub fn above(self, other: Self) -> Option<i32> {
        (self.major == other.major).then(|| i32::from(self.minor) - i32::from(other.minor))
    }
}

impl FromStr for Minor {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        match Self::of_version(text) {
            Some(minor) if minor.to_string() == text => Ok(minor),
            Some(_) | None => {
                Err(SnapTextError::new(text, "a minor version", "it must be two numbers and a dot"))
            }
        }
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

as_string!(Minor);

/// The version of snapd, as far as it matters: `2.68.3-3+deb13u1` is 2.68.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SnapdVersion {
    /// 2 in `2.68.3`.
    pub major: u16,
    /// 68 in `2.68.3`.
    pub minor: u16,
}

impl SnapdVersion {
    /// Reads the `snapd` line of `snap version`; none where snapd does not answer (`unavailable`).
    pub fn parse(text: &str) -> Option<Self> {
        let Minor { major, minor } = Minor::of_version(text)?;
        Some(Self { major, minor })
    }

    /// Whether `snap refresh --hold` is there. The client may be newer or older than snapd: what
    /// counts in the end is the answer to the command.
    pub fn can_hold(self) -> bool {
        self >= Self { major: 2, minor: 58 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minors_come_out_of_versions_and_tracks() {
        let table = [
            ("1.30.2", Some("1.30")),
            ("v1.30.2", Some("1.30")),
            ("1.30.4+git1", Some("1.30")),
            ("1.31", Some("1.31")),
            ("1.30-classic", Some("1.30")),
            ("1.9.0~rc.1", Some("1.9")),
            ("latest", None),
            ("20260101", None),
            ("1.", None),
            (".1", None),
            ("1.30rc", None),
            ("1.x", None),
            ("+1.30", None),
            ("1.99999", None),
            ("-", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(Minor::of_version(text).map(|m| m.to_string()).as_deref(), expected, "{text}");
        }
        let of = |text: &str| Minor::of_channel(&text.parse().unwrap());
        assert_eq!(of("1.30/edge"), Some("1.30".parse().unwrap()));
        assert_eq!(of("stable"), None);
    }

    #[test]
    fn minors_are_compared_as_numbers() {
        let minor = |text: &str| text.parse::<Minor>().unwrap();
        assert!(minor("1.9") < minor("1.30"));
        assert_eq!(minor("1.31").above(minor("1.29")), Some(2));
        assert_eq!(minor("1.29").above(minor("1.31")), Some(-2));
        assert_eq!(minor("2.0").above(minor("1.31")), None);
        assert!("1.30.2".parse::<Minor>().is_err() && "v1.30".parse::<Minor>().is_err());
    }

    #[test]
    fn snapd_can_hold_since_2_58() {
        let can = |text: &str| SnapdVersion::parse(text).map(SnapdVersion::can_hold);
        assert_eq!(can("2.57.6-1+deb12u1+b2"), Some(false));
        assert_eq!(can("2.58"), Some(true));
        assert_eq!(can("2.68.3-3+deb13u1+b7"), Some(true));
        assert_eq!(can("unavailable"), None);
    }
}
