//! Collection: a collector on this machine scrapes the principals' jobs and ships the lines of their log
//! slots.

mod logs;
mod metrics;
mod render;
mod shared;
#[cfg(test)]
mod tests;

pub use render::{Rendered, Wanted, probe, render};
pub use shared::{bundle, revision, snap};
