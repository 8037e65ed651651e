//! Juju versions, as leniently as `4.0-beta5` and `3.6.1.1` ask for.

use std::fmt;

use serde::Serialize;

/// A Juju version with its text as hooks see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Version {
    text: String,
    #[serde(skip)]
    numbers: (u32, u32, u32),
}

impl Version {
    /// Reads `3.6.9`, `4.0.14`, `4.0-beta5`, `3.6.1.1`.
    pub fn parse(text: &str) -> Option<Self> {
        let (numbers, _) = text.split_once('-').unwrap_or((text, ""));
        let mut parts = numbers.split('.').map(|part| part.parse::<u32>().ok());
        let major = parts.next()??;
        let minor = parts.next()??;
        let patch = parts.next().unwrap_or(Some(0))?;
        Some(Self { text: text.to_owned(), numbers: (major, minor, patch) })
    }

    /// Whether this is that release or a later one.
    pub fn at_least(&self, major: u32, minor: u32, patch: u32) -> bool {
        self.numbers >= (major, minor, patch)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn odd_versions_are_understood() {
        assert!(Version::parse("4.0-beta5").unwrap().at_least(4, 0, 0));
        assert!(!Version::parse("3.6.1.1").unwrap().at_least(3, 6, 2));
        assert_eq!(Version::parse("3.6"), Version::parse("3.6"));
        assert_eq!(Version::parse("three"), None);
    }
}
