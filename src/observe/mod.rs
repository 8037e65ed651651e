//! Hook tools, read only, give [`Observed`](crate::observed::Observed). What was read before and has
//! not become stale comes from a cache in the unit agent's directory.

mod again;
mod cache;
mod collection;
mod forwarding;
mod full;
mod index;
mod kube;
mod machine;
mod owner;
mod packed;
mod pass;
mod reader;
mod rollout;
mod stale;
mod store;

pub use again::{altered, collected, read_more};
pub use cache::{Cache, Mark};
pub use owner::Owner;
pub use pass::{Observation, Observer, observe};
