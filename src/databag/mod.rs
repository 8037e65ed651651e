//! Wire formats, one file an endpoint or value; the only place that spells a databag key.
//!
//! Nothing here does I/O or knows a concern. Reading never fails as a whole: what is not as it
//! should be is a [`Fault`] with a JSON path, so that one bad value stops nothing else.

pub mod certificates;
pub mod charm_state;
pub mod cohorts;
pub mod collected;
pub mod dashboard;
pub mod event;
mod fault;
pub mod grafana;
mod grammar;
pub mod granted;
pub mod header;
mod hidden;
pub mod history;
mod json;
pub mod loki;
pub mod node;
pub mod peers;
pub mod progress;
pub mod record;
pub mod remote_write;
#[cfg(test)]
mod rollout_tests;
pub mod rules;
pub mod scrape;
pub mod skipped;
pub mod target;
mod topology;
mod url;
mod values;
mod wire;

pub use fault::{Fault, Faults};
pub use hidden::Hidden;
pub use topology::Topology;
pub use url::Url;
pub use values::{Digest, Values};
pub use wire::{Line, More, Unread};
