//! What goes wrong between snapd and the store.

use serde::{Deserialize, Serialize};

use super::{Request, Store};

/// How a request fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outage {
    /// Nobody answers: snapd gives up after 32 s.
    Unreachable,
    /// 429, at once.
    Throttled,
    /// A server error such as 503: snapd gives up after 32 s.
    Status(u16),
    /// `unable to contact snap store`
    Timeout,
    /// The store's own words; for a bad cohort key, say.
    Says(String),
    /// Cohorts: an answer without keys.
    Empty,
    /// Downloads: the file is damaged.
    Damaged,
}

/// One thing that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// How.
    pub outage: Outage,
    /// For which requests; none for all.
    pub requests: Vec<Request>,
    /// For this machine only.
    pub machine: Option<String>,
    /// For this snap only.
    pub snap: Option<String>,
    /// How often it still comes true; none for always.
    pub times: Option<u32>,
}

/// Why the store gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    /// In words without what snapd puts in front.
    Text(String),
    /// The same, but snapd's client knows it as a time-out.
    Timeout,
    /// Of a POST to this path.
    Status(u16, String),
    /// An answer that holds nothing.
    Empty,
}

impl StoreError {
    /// The words.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Timeout => "unable to contact snap store".to_owned(),
            Self::Status(code, place) => {
                format!("got unexpected HTTP status code {code} via POST to \"{place}\"")
            }
            Self::Empty => "empty answer".to_owned(),
        }
    }
}

/// snapd's own retries of a request.
const GIVES_UP: u64 = 32_000;

impl Store {
    /// How long a request takes and how it fails, if it does.
    pub(crate) fn trouble(
        &mut self,
        request: Request,
        machine: &str,
        snaps: &[String],
    ) -> (u64, Option<StoreError>) {
        let found = self.faults.iter_mut().find(|fault| {
            (fault.requests.is_empty() || fault.requests.contains(&request))
                && fault.machine.as_ref().is_none_or(|m| m == machine)
                && fault.snap.as_ref().is_none_or(|snap| snaps.contains(snap))
                && fault.times != Some(0)
                && request.can_meet(&fault.outage)
        });
        let Some(fault) = found else { return (self.slow, None) };
        fault.times = fault.times.map(|times| times - 1);
        let outage = fault.outage.clone();
        let place = format!("{}/{}", self.url, request.path());
        let (millis, error) = match outage {
            Outage::Unreachable => {
                let verb = if matches!(request, Request::Info | Request::Download) { "Get" } else { "Post" };
                let text =
                    format!("{verb} \"{place}\": dial tcp {}: connect: connection refused", self.address);
                (GIVES_UP, StoreError::Text(text))
            }
            Outage::Throttled => (0, StoreError::Text("too many requests".to_owned())),
            Outage::Status(code) if code < 500 => (0, StoreError::Status(code, place)),
            Outage::Status(code) => (GIVES_UP, StoreError::Status(code, place)),
            Outage::Timeout => (GIVES_UP, StoreError::Timeout),
            Outage::Says(text) => (0, StoreError::Text(text)),
            Outage::Empty => (0, StoreError::Empty),
            Outage::Damaged => (0, StoreError::Text(String::new())),
        };
        (millis + self.slow, Some(error))
    }

    /// Faults that are used up go.
    pub fn forget_used_faults(&mut self) {
        self.faults.retain(|fault| fault.times != Some(0));
    }
}
