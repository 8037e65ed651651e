//! What snapd asks the store, and what a store without trouble answers.

use serde::{Deserialize, Serialize};

use super::{Channel, ChannelMap, Outage, Revision, Store, UnknownKeys, head};
use crate::world::Time;

/// The kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// `snap create-cohort`
    Cohorts,
    /// `snap refresh`, `snap install`, `refresh --list`, auto-refresh.
    Refresh,
    /// `snap info`
    Info,
    /// The file of a revision.
    Download,
}

impl Request {
    /// Below the store's address.
    pub fn path(self) -> &'static str {
        match self {
            Self::Cohorts => "v2/cohorts",
            Self::Refresh => "v2/snaps/refresh",
            Self::Info => "v2/snaps/info",
            Self::Download => "api/v1/snaps/download",
        }
    }

    /// Whether this can happen to such a request at all.
    pub(super) fn can_meet(self, outage: &Outage) -> bool {
        match outage {
            Outage::Empty => self == Self::Cohorts,
            Outage::Damaged => self == Self::Download,
            Outage::Unreachable
            | Outage::Throttled
            | Outage::Status(_)
            | Outage::Timeout
            | Outage::Says(_) => true,
        }
    }
}

/// What a snap is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The number.
    pub number: u32,
    /// The channel that it is released in; none where a revision was asked for.
    pub channel: Option<Channel>,
    /// All about it.
    pub revision: Revision,
}

/// Why there is nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// No such snap.
    NotFound,
    /// No such revision for this architecture.
    NoRevision(u32),
    /// Nothing in the channel; these are the releases for any architecture, none where the store gives no list.
    NoRelease(Vec<(Channel, String)>),
    /// The store's own words.
    Says(String),
}

/// What is asked about one snap.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Its name.
    pub snap: &'a str,
    /// The channel.
    pub channel: &'a Channel,
    /// The key.
    pub cohort: Option<&'a str>,
    /// On which machine.
    pub machine: &'a str,
    /// Its architecture.
    pub arch: &'a str,
    /// Its store proxy.
    pub proxy: Option<&'a str>,
}

impl Store {
    /// What a channel holds, as seen through a cohort if there is a key.
    pub(crate) fn offer(&self, question: Question<'_>) -> Result<Offer, Refusal> {
        let snap = self.snaps.get(question.snap).ok_or(Refusal::NotFound)?;
        let map = match question.cohort {
            None => snap.offered(question.machine),
            Some(key) => match self.view(question.snap, key, question.proxy)? {
                Some(map) => map.clone(),
                None => snap.offered(question.machine),
            },
        };
        let Some((number, channel)) = head(&map, question.channel, question.arch) else {
            let now = snap.offered(question.machine);
            if head(&now, question.channel, question.arch).is_some() {
                // Only the cohort lacks it: no list would help.
                return Err(Refusal::NoRelease(Vec::new()));
            }
            let releases = now.iter().flat_map(|(channel, by_arch)| {
                by_arch.keys().map(|arch| (channel.clone(), arch.clone())).collect::<Vec<_>>()
            });
            return Err(Refusal::NoRelease(releases.collect()));
        };
        let revision = snap.revisions.get(&number).cloned().ok_or(Refusal::NoRevision(number))?;
        Ok(Offer { number, channel: Some(channel), revision })
    }

    /// The view of a cohort; none where an unknown key is ignored.
    fn view(&self, snap: &str, key: &str, proxy: Option<&str>) -> Result<Option<&ChannelMap>, Refusal> {
        let cohort = self.cohorts.get(key);
        match (cohort.filter(|c| c.snap == snap && c.proxy.as_deref() == proxy), &self.unknown_keys) {
            (Some(cohort), _) => Ok(Some(&cohort.map)),
            (None, UnknownKeys::Ignore) => Ok(None),
            (None, UnknownKeys::Refuse(text)) => Err(Refusal::Says(text.clone())),
        }
    }

    /// A revision by its number.
    pub(crate) fn numbered(&self, snap: &str, number: u32, arch: &str) -> Result<Offer, Refusal> {
        let of = self.snaps.get(snap).ok_or(Refusal::NotFound)?;
        let revision = of.revisions.get(&number).filter(|r| r.arch == arch).cloned();
        let revision = revision.ok_or(Refusal::NoRevision(number))?;
        Ok(Offer { number, channel: None, revision })
    }

    /// Keys for all of these snaps, or for none.
    pub(crate) fn cohort_keys(
        &mut self,
        names: &[String],
        proxy: Option<&str>,
        now: Time,
    ) -> Option<Vec<(String, String)>> {
        if names.iter().any(|name| !self.snaps.contains_key(name)) {
            return None;
        }
        let keys = names.iter().filter_map(|n| Some((n.clone(), self.create_cohort(n, proxy, now)?)));
        Some(keys.collect())
    }
}
