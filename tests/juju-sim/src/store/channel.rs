//! Names of channels, as snapd reads them: `[track/]risk[/branch]`, or a track alone.

use std::fmt;

use serde::{Serialize, Serializer};

/// How much a release is trusted, safest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// The default.
    Stable,
    /// Falls back to stable.
    Candidate,
    /// Falls back to candidate.
    Beta,
    /// Falls back to beta.
    Edge,
}

impl Risk {
    /// All, safest first.
    pub const ALL: [Self; 4] = [Self::Stable, Self::Candidate, Self::Beta, Self::Edge];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Candidate => "candidate",
            Self::Beta => "beta",
            Self::Edge => "edge",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.name() == text)
    }
}

/// A channel with its track.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel {
    /// `latest` is the default one.
    pub track: String,
    /// Risk.
    pub risk: Risk,
    /// A short-lived sideline.
    pub branch: Option<String>,
}

impl Channel {
    /// Reads a channel; an error has snapd's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split('/').collect();
        let of = |track: &str, risk: Risk, branch: Option<&str>| Self {
            track: track.to_owned(),
            risk,
            branch: branch.map(str::to_owned),
        };
        let bad_risk = || format!("invalid risk in channel name: {text}");
        if text.is_empty() {
            return Err("channel name cannot be empty".to_owned());
        }
        let channel = match parts.as_slice() {
            [one] => match Risk::parse(one) {
                Some(risk) => of("latest", risk, None),
                None => of(one, Risk::Stable, None),
            },
            [one, two] => match (Risk::parse(one), Risk::parse(two)) {
                (Some(risk), _) => of("latest", risk, Some(two)),
                (None, Some(risk)) => of(one, risk, None),
                (None, None) => return Err(bad_risk()),
            },
            [track, risk, branch] => of(track, Risk::parse(risk).ok_or_else(bad_risk)?, Some(branch)),
            _ => return Err(format!("channel name has too many components: {text}")),
        };
        if channel.track.is_empty() {
            return Err(format!("invalid track in channel name: {text}"));
        }
        if channel.branch.as_deref() == Some("") {
            return Err(format!("invalid branch in channel name: {text}"));
        }
        Ok(channel)
    }

    /// What a snap tracks after it was told `text`: a risk alone keeps the track.
    pub fn resolve(text: &str, tracked: Option<&Self>) -> Result<Self, String> {
        let channel = Self::parse(text)?;
        let keeps = text.split('/').next().is_some_and(|first| Risk::parse(first).is_some());
        match tracked {
            Some(tracked) if keeps => Ok(Self { track: tracked.track.clone(), ..channel }),
            _ => Ok(channel),
        }
    }

    /// As the client names it where `latest` goes without saying: `candidate`, `1.30/stable`.
    pub fn short(&self) -> String {
        let full = self.to_string();
        full.strip_prefix("latest/").map_or(full.clone(), str::to_owned)
    }

    /// The same track and risk, without a branch.
    #[must_use]
    pub fn at(&self, risk: Risk) -> Self {
        Self { track: self.track.clone(), risk, branch: None }
    }
}

impl Default for Channel {
    fn default() -> Self {
        Self { track: "latest".to_owned(), risk: Risk::Stable, branch: None }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.track, self.risk.name())?;
        match &self.branch {
            Some(branch) => write!(f, "/{branch}"),
            None => Ok(()),
        }
    }
}

impl Serialize for Channel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::Channel;

    #[test]
    fn channels_are_read_as_snapd_reads_them() {
        for (text, full, short) in [
            ("stable", "latest/stable", "stable"),
            ("1.30", "1.30/stable", "1.30/stable"),
            ("1.30/edge/fix", "1.30/edge/fix", "1.30/edge/fix"),
            ("edge/fix", "latest/edge/fix", "edge/fix"),
        ] {
            let channel = Channel::parse(text).unwrap();
            assert_eq!((channel.to_string().as_str(), channel.short().as_str()), (full, short));
        }
        assert_eq!(Channel::parse("1.30/stabl").unwrap_err(), "invalid risk in channel name: 1.30/stabl");
        assert_eq!(Channel::parse("a/b/c/d").unwrap_err(), "channel name has too many components: a/b/c/d");
    }

    #[test]
    fn a_risk_alone_keeps_the_track() {
        let tracked = Channel::parse("1.30/stable").unwrap();
        let to = |text| Channel::resolve(text, Some(&tracked)).unwrap().to_string();
        assert_eq!(to("candidate"), "1.30/candidate");
        assert_eq!(to("latest/candidate"), "latest/candidate");
        assert_eq!(to("1.31"), "1.31/stable");
    }
}
