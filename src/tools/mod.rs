//! The only place that starts a process: hook tools, `snap`, `kubectl`, `otelcol` and
//! `systemd-run`.
//!
//! Wrappers build an argument list, run it within a time limit and give typed values or a
//! [`ToolError`]; they decide nothing. Matching on error texts happens here only.

mod clock;
pub mod hook_tools;
pub mod kubectl;
mod line;
pub mod otelcol;
mod runner;
pub mod snap;
pub mod string_map;
pub mod systemd;

pub use clock::Clock;
pub use runner::{Call, Exit, Manner, Output, Runner, TIED, ToolError, become_tied};
