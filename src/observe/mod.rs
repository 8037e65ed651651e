//! Hook tools, read only, give [`Observed`](crate::observed::Observed). What was read before and has
//! not become stale comes from a cache in the unit agent's directory.

mod cache;
mod forwarding;
mod full;
mod index;
mod pass;
mod reader;
mod stale;
mod store;

pub use cache::{Cache, Mark};
pub use pass::{Observation, observe};
