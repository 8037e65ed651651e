//! What the controller does to the model: deploying, relating, scopes, leases, removal.
//!
//! Nothing here runs a charm. An error is what `juju` would print; the world is then unchanged.

mod deploy;
mod lease;
mod relate;
mod remove;
mod scope;

pub use deploy::{Deploy, check_config};
pub use relate::EndSpec;

/// What the controller refuses, in Juju's words where they are known.
pub type Refused = String;
