//! The files of a charm, and what Juju checks before it takes them.
//!
//! Facts: juju/charm v12 for the texts and rules of each file, juju/utils `zip` for the unpacking. The files are
//! read with [`crate::wire::yaml_v2`], since the type that yaml.v2 gives a bare `no` or `24.04` decides whether
//! Juju accepts it.

pub mod actions;
pub mod archive;
pub mod assumes;
pub mod config;
pub mod hooks;
pub mod manifest;
mod members;
pub mod metadata;
mod schema;
mod unpack;
