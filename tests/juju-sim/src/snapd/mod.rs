//! snapd on every machine: its state, its changes, and what the `snap` program says.
//!
//! Texts, exit codes and columns are those of the real programs (snapd 2.57.6 and 2.68.3); tests compare them with
//! recordings.

mod begin;
mod change;
mod cli;
mod model;
mod refresh;
mod setup;
mod tend;
#[cfg(test)]
mod tests;

pub use begin::NewChange;
pub use change::{Change, Effect, Move, Place, Starter, Target};
pub(crate) use cli::{Client, Reply, Turn, call, fstab};
pub use model::{AutoRefresh, Hold, OnDisk, Presence, Service, Snap, SnapTimes, Snapd, is_snap_name};
pub use setup::{SnapSpec, parse_duration};
pub use tend::Tended;

/// The end of a long text behind `…`, as snapd shortens keys.
pub fn ellipt_left(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - (most - 1)).collect();
    format!("…{tail}")
}
