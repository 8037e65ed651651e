//! Large texts, kept once by content digest.
//!
//! Forty principal applications of 200 KiB each, told by three hundred peers, are forty texts here.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The first 128 bits of a text's SHA-256, written as 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(u128);

impl Digest {
    /// The digest of a text.
    pub fn of(text: &str) -> Self {
        Self::of_parts([text])
    }

    /// One digest of several texts: their lengths count, so `["a", "b"]` is not `["ab"]`.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let bytes = hasher.finalize();
        Self(bytes.iter().take(16).fold(0, |sum, byte| (sum << 8) | u128::from(*byte)))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let hex = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        match u128::from_str_radix(text, 16) {
            Ok(value) if hex => Ok(Self(value)),
            Ok(_) | Err(_) => Err("is not a digest of 32 hex digits".to_owned()),
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// Texts by digest. Cloning shares them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<Digest, Arc<str>>);

impl Values {
    /// Keeps a text and gives its digest.
    pub fn keep(&mut self, text: &str) -> Digest {
        let digest = Digest::of(text);
        self.0.entry(digest).or_insert_with(|| Arc::from(text));
        digest
    }

    /// The text of a digest, if it is kept here.
    pub fn get(&self, digest: &Digest) -> Option<&str> {
        self.0.get(digest).map(AsRef::as_ref)
    }

    /// Takes over a text that is shared already.
    pub fn share(&mut self, digest: Digest, text: Arc<str>) {
        self.0.insert(digest, text);
    }

    /// Whether that text is kept here.
    pub fn has(&self, digest: &Digest) -> bool {
        self.0.contains_key(digest)
    }

    /// All texts with their digests, in order of the digests.
    pub fn iter(&self) -> impl Iterator<Item = (&Digest, &Arc<str>)> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_reads_back_and_parts_do_not_run_together() {
        let digest = Digest::of("text");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_ne!(Digest::of_parts(["a", "b"]), Digest::of_parts(["ab"]));
        assert!("xyz".parse::<Digest>().is_err());
        assert!(format!("+{}", "0".repeat(31)).parse::<Digest>().is_err());
    }
}
