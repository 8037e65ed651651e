//! The simulator with real processes: charms of shell scripts, and the program itself.

mod charms;
mod cli;
mod hooks;
mod snaps;
mod support;
