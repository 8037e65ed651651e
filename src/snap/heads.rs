//! What the store offers and what snapd knows of one snap: `snap info --verbose`.

use super::{Channel, KeyDigest, Revision, SnapName};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answer about one snap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Info {
    /// Its name.
    pub name: SnapName,
    /// What the store offers; none means *unknown* (it did not answer, or does not know the snap),
    /// never "no revision".
    pub heads: Option<Heads>,
    /// What is installed; none if the snap is not.
    pub local: Option<Local>,
}

/// The heads of the channels for this machine's architecture, as seen from outside of any cohort.
/// Branches are never listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heads(pub BTreeMap<Channel, Option<Head>>);

impl Heads {
    /// What a refresh to that channel would lead to: its own head, or the one that a closed channel
    /// forwards to. `Some(None)`: closed and forwards to nothing. None: not listed, so unknown.
    pub fn of(&self, channel: &Channel) -> Option<Option<&Head>> {
        self.0.get(channel).map(Option::as_ref)
    }
}

/// A revision that a channel leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Head {
    /// The revision, of this machine's architecture.
    pub revision: Revision,
    /// What its publisher calls it.
    pub version: String,
}

/// What snapd knows of an installed snap beyond `snap list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Local {
    /// The installed revision.
    pub revision: Revision,
    /// The channel that it follows, a branch included.
    pub tracking: Option<Channel>,
    /// The stored cohort key, by digest: to be compared, never to be used.
    pub cohort: Option<KeyDigest>,
    /// How long refreshes are held. Clients before 2.58 do not tell.
    pub hold: Option<Hold>,
}

/// A hold on a snap's refreshes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hold {
    /// Without end.
    Forever,
    /// Until a time, in the words of `snap info --abs-time` (RFC 3339).
    Until(String),
}
