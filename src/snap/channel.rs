//! Channels: `track/risk[/branch]`, always written in full.

use super::{SnapTextError, as_string};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The longest track or branch that is accepted, in bytes (the store's limits are 28 and 128).
const PART_LIMIT: usize = 128;

/// How finished a release is, safest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// `stable`.
    Stable,
    /// `candidate`.
    Candidate,
    /// `beta`.
    Beta,
    /// `edge`.
    Edge,
}

impl Risk {
    /// The risk as snapd spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Candidate => "candidate",
            Self::Beta => "beta",
            Self::Edge => "edge",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Stable, Self::Candidate, Self::Beta, Self::Edge].into_iter().find(|risk| risk.as_str() == text)
    }
}

/// A channel, normalised as `snap list` and `snap info` write it: `stable` is `latest/stable`, `1.30`
/// is `1.30/stable`. The client sends a wrong risk on and snapd refuses it late; here it is refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Channel {
    track: String,
    risk: Risk,
    branch: Option<String>,
}

impl Channel {
    /// The track, `latest` where none was given.
    pub fn track(&self) -> &str {
        &self.track
    }

    /// The risk, `stable` where none was given.
    pub fn risk(&self) -> Risk {
        self.risk
    }

    /// The branch. `snap info` never lists channels with one.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// The same risk and branch on another track.
    pub fn on_track(&self, track: &str) -> Result<Self, SnapTextError> {
        let track = part(track, track)?;
        Ok(Self { track, ..self.clone() })
    }
}

fn part(text: &str, whole: &str) -> Result<String, SnapTextError> {
    let fault = |why| Err(SnapTextError::new(whole, "a channel", why));
    if text.is_empty() {
        return fault("a part of it is empty");
    }
    if text.len() > PART_LIMIT {
        return fault("a part of it is too long");
    }
    if !text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b)) {
        return fault("only letters, digits and any of . _ + - are allowed between the slashes");
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return fault("each part must begin with a letter or a digit");
    }
    Ok(text.to_owned())
}

impl FromStr for Channel {
    type Err = SnapTextError;

    fn from_str(text: &str) -> Result<Self, SnapTextError> {
        let fault = |why| SnapTextError::new(text, "a channel", why);
        let no_risk = "the risk must be stable, candidate, beta or edge";
        let parts: Vec<&str> = text.split('/').collect();
        let (track, risk, branch) = match parts.as_slice() {
            [one] => match Risk::parse(one) {
                Some(risk) => ("latest", risk, None),
                None => (*one, Risk::Stable, None),
            },
            [first, second] => match (Risk::parse(first), Risk::parse(second)) {
                (_, Some(risk)) => (*first, risk, None),
                (Some(risk), None) => ("latest", risk, Some(*second)),
                (None, None) => return Err(fault(no_risk)),
            },
            [track, risk, branch] => {
                (*track, Risk::parse(risk).ok_or_else(|| fault(no_risk))?, Some(*branch))
            }
            _ => return Err(fault("it has too many parts: track/risk/branch at most")),
        };
        let branch = branch.map(|branch| part(branch, text)).transpose()?;
        Ok(Self { track: part(track, text)?, risk, branch })
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.track, self.risk.as_str())?;
        self.branch.as_ref().map_or(Ok(()), |branch| write!(f, "/{branch}"))
    }
}

as_string!(Channel);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_are_normalised() {
        let table = [
            ("stable", "latest/stable"),
            ("edge", "latest/edge"),
            ("latest", "latest/stable"),
            ("1.30", "1.30/stable"),
            ("1.30/edge", "1.30/edge"),
            ("1.30-classic/beta", "1.30-classic/beta"),
            ("edge/fix-1", "latest/edge/fix-1"),
            ("1.30/candidate/fix", "1.30/candidate/fix"),
            // What snapd makes of it: a track called like a risk.
            ("stable/edge", "stable/edge"),
        ];
        for (text, normal) in table {
            let channel: Channel = text.parse().unwrap();
            assert_eq!(channel.to_string(), normal);
            assert_eq!(normal.parse(), Ok(channel), "{text}");
        }
    }

    #[test]
    fn what_is_no_channel_is_refused_with_the_reason() {
        let table = [
            ("", "a part of it is empty"),
            ("1.30/", "the risk must be"),
            ("/stable", "a part of it is empty"),
            ("1.30/stabl", "the risk must be stable, candidate, beta or edge"),
            ("1.30/stable/", "a part of it is empty"),
            ("a/b/c", "the risk must be"),
            ("a/b/c/d", "too many parts"),
            ("-x/stable", "must begin with a letter or a digit"),
            ("--hold", "must begin with a letter or a digit"),
            ("1.30 /stable", "only letters"),
            ("1.30/stable/…", "only letters"),
        ];
        for (text, why) in table {
            let error = text.parse::<Channel>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!("a".repeat(PART_LIMIT + 1).parse::<Channel>().is_err());
        assert!(serde_json::from_str::<Channel>("\"1.30/stabl\"").is_err());
    }

    #[test]
    fn another_track_keeps_the_risk() {
        let channel: Channel = "1.30/candidate".parse().unwrap();
        assert_eq!(channel.on_track("1.31").unwrap().to_string(), "1.31/candidate");
        assert!(channel.on_track("a/b").is_err());
    }
}
