//! Cohort keys and their digests.

use super::SnapTextError;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::str::FromStr;

/// The longest key that is accepted, in bytes. Real ones are a little over 80.
const LIMIT: usize = 1024;

/// A cohort key: opaque, of one snap. `Debug` and `Display` show its last nine characters only, as
/// snapd does; [`CohortKey::expose`] gives all of it, for an argument list or a databag.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CohortKey(String);

impl CohortKey {
    /// The whole key. Not for a log or a status.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What to compare keys by, and to keep of them.
    pub fn digest(&self) -> KeyDigest {
        KeyDigest::of(&self.0)
    }

    /// A text with the key in it, its end left: `…` and the last nine characters.
    pub fn tail(text: &str) -> String {
        let skipped = text.chars().count().saturating_sub(9);
        let tail: String = text.chars().skip(skipped).collect();
        if skipped == 0 { tail } else { format!("…{tail}") }
    }
}

impl FromStr for CohortKey {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        // The text itself is not told: it may be a key with one blank too many.
        let fault = |why| Err(SnapTextError::new(&Self::tail(text), "a cohort key", why));
        if text.is_empty() {
            // `--cohort=` is the same as no flag: the refresh would run outside of any cohort.
            return fault("it is empty");
        }
        if text.len() > LIMIT {
            return fault("it is too long");
        }
        // The client's flag parser takes quotes off a value.
        if !text.bytes().all(|b| b.is_ascii_graphic() && !b"\"'`\\".contains(&b)) {
            return fault("only printable ASCII without blanks and quotes is allowed");
        }
        if text.starts_with('-') {
            return fault("it begins with a dash");
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for CohortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of a short key less than half is shown.
        let shown = self.0.len().min(18) / 2;
        let tail = self.0.len() - shown;
        write!(f, "…{}", self.0.get(tail..).unwrap_or_default())
    }
}

impl fmt::Debug for CohortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CohortKey({self})")
    }
}

impl TryFrom<String> for CohortKey {
    type Error = SnapTextError;
    fn try_from(text: String) -> Result<Self, SnapTextError> {
        text.parse()
    }
}

impl From<CohortKey> for String {
    fn from(key: CohortKey) -> Self {
        key.0
    }
}

/// The first 64 bits of a key's SHA-256, written as 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyDigest(u64);

impl KeyDigest {
    /// The digest of a key as the machine shows it, whether or not it would be accepted here.
    pub fn of(key: &str) -> Self {
        let bytes = Sha256::digest(key.as_bytes());
        Self(bytes.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    }
}

impl FromStr for KeyDigest {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let hex = text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
        match u64::from_str_radix(text, 16) {
            Ok(value) if hex => Ok(Self(value)),
            Ok(_) | Err(_) => Err(SnapTextError::new(text, "a key's digest", "it must be 16 hex digits")),
        }
    }
}

impl fmt::Display for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

super::as_string!(KeyDigest);

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg==";

    #[test]
    fn a_key_is_never_shown_whole() {
        let key: CohortKey = KEY.parse().unwrap();
        assert_eq!(format!("{key} {key:?}"), "…kYmVlZg== CohortKey(…kYmVlZg==)");
        for short in ["+", "ab", "KEYONE0123"] {
            let shown = short.parse::<CohortKey>().unwrap().to_string();
            assert!(shown.trim_start_matches('…').len() * 2 <= short.len(), "{shown}");
        }
        let error = format!("{KEY} ").parse::<CohortKey>().unwrap_err().to_string();
        assert!(!error.contains("MSB0"), "{error}");
    }

    #[test]
    fn keys_are_validated() {
        for bad in ["", " ", "a b", "a\n", "\"K\"", "-K", "--leave-cohort", "ключ", "…kYmVlZg=="] {
            assert!(bad.parse::<CohortKey>().is_err(), "{bad}");
        }
        assert!("K".repeat(LIMIT).parse::<CohortKey>().is_ok());
        assert!("K".repeat(LIMIT + 1).parse::<CohortKey>().is_err());
        assert!(serde_json::from_str::<CohortKey>("\"\"").is_err());
        // The pseudo-cohort that LXD's documentation uses.
        assert!("+".parse::<CohortKey>().is_ok());
    }

    #[test]
    fn digests_tell_keys_apart() {
        let key: CohortKey = KEY.parse().unwrap();
        assert_eq!(key.digest(), KeyDigest::of(KEY));
        assert_ne!(key.digest(), KeyDigest::of("KEYONE0123456789=="));
        // As `printf KEY | sha256sum` begins.
        assert_eq!(KeyDigest::of("KEY").to_string(), "5ca24005b740717b");
        assert_eq!(key.digest().to_string().parse(), Ok(key.digest()));
        assert!("2c70e12b7a0646f".parse::<KeyDigest>().is_err());
    }
}
