//! What a machine has installed: one row of `snap list`.

use super::{Channel, Minor, Revision, SnapName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;

/// A snap on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Installed {
    /// Its name.
    pub name: SnapName,
    /// What its publisher calls the installed revision, any text without blanks; none where the snap
    /// is broken.
    pub version: Option<String>,
    /// The installed revision.
    pub revision: Revision,
    /// The channel that it follows; not always the one that the revision came from. None for a local
    /// build.
    pub tracking: Option<Tracking>,
    /// The remarks about it.
    pub notes: Notes,
}

impl Installed {
    /// Whether it is a local build, which no cohort or channel moves. A note `in-cohort` means
    /// nothing there.
    pub fn is_sideloaded(&self) -> bool {
        self.revision.is_local()
    }

    /// The minor version of Kubernetes in its version.
    pub fn minor(&self) -> Option<Minor> {
        self.version.as_deref().and_then(Minor::of_version)
    }
}

/// A channel as `snap list` shows it: of a branch only that there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tracking {
    /// Track and risk.
    pub channel: Channel,
    /// Whether a branch of that channel is followed; its name is in `snap info` only.
    pub on_branch: bool,
}

impl Tracking {
    /// Whether that channel may be the one that is followed: sure without a branch, and with one as
    /// far as can be seen.
    pub fn is(&self, channel: &Channel) -> bool {
        (self.channel.track(), self.channel.risk(), self.on_branch)
            == (channel.track(), channel.risk(), channel.branch().is_some())
    }
}

impl fmt::Display for Tracking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.channel, if self.on_branch { "/…" } else { "" })
    }
}

/// The notes about a snap, in snapd's words. Whole words count, never parts of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes(BTreeSet<String>);

impl Notes {
    /// Reads the comma list of `snap list`; `-` stands for none.
    pub fn parse(text: &str) -> Self {
        Self(text.split(',').filter(|note| !note.is_empty() && *note != "-").map(str::to_owned).collect())
    }

    /// Whether that word is among them.
    pub fn has(&self, note: &str) -> bool {
        self.0.contains(note)
    }

    /// Whether refreshes are held; always false with a client older than 2.58, which has no holds.
    pub fn held(&self) -> bool {
        self.has("held")
    }

    /// Whether a cohort key is stored. Which one is in `snap info --verbose` only.
    pub fn in_cohort(&self) -> bool {
        self.has("in-cohort")
    }

    /// Whether the snap is disabled. snapd refuses to refresh it.
    pub fn disabled(&self) -> bool {
        self.has("disabled")
    }

    /// Whether snapd cannot read the snap.
    pub fn broken(&self) -> bool {
        self.has("broken")
    }

    /// Whether it is under classic confinement, as the Kubernetes snaps are.
    pub fn classic(&self) -> bool {
        self.has("classic")
    }

    /// Whether it was installed in developer mode.
    pub fn devmode(&self) -> bool {
        self.has("devmode")
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_whole_words() {
        let notes = Notes::parse("classic,withheld,in-cohort");
        assert!(notes.classic() && notes.in_cohort() && !notes.held());
        assert_eq!(Notes::parse("-"), Notes::default());
    }

    #[test]
    fn a_branch_is_never_taken_for_its_channel() {
        let tracking = |on_branch| Tracking { channel: "1.30/edge".parse().unwrap(), on_branch };
        assert!(tracking(false).is(&"1.30/edge".parse().unwrap()));
        assert!(!tracking(true).is(&"1.30/edge".parse().unwrap()));
        assert!(!tracking(false).is(&"1.30/edge/fix".parse().unwrap()));
        assert!(!tracking(false).is(&"1.30/stable".parse().unwrap()));
        assert_eq!(tracking(true).to_string(), "1.30/edge/…");
    }
}
