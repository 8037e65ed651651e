//! What the model knows of a charm: its endpoints, options and actions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::charm::actions::Actions;
use crate::charm::assumes::Assumes;
use crate::charm::config::Config;

/// The role of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// First in a relation's key.
    Requires,
    /// Second.
    Provides,
    /// Alone.
    Peer,
}

/// An endpoint of metadata.yaml.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EndpointDef {
    /// Role.
    pub role: Role,
    /// What is spoken.
    pub interface: String,
    /// Container scope.
    pub container: bool,
    /// How many relations it takes.
    pub limit: Option<i64>,
}

/// A charm as the controller stores it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Charm {
    /// Name in metadata.yaml.
    pub name: String,
    /// Grows with every upload.
    pub revision: u32,
    /// Has no executable: its units are only databags.
    pub scripted: bool,
    /// Lives beside a principal.
    pub subordinate: bool,
    /// By name.
    pub endpoints: BTreeMap<String, EndpointDef>,
    /// config.yaml
    #[serde(skip)]
    pub config: Config,
    /// actions.yaml
    #[serde(skip)]
    pub actions: Actions,
    /// What the model must offer.
    #[serde(skip)]
    pub assumes: Option<Assumes>,
    /// First line of the file `version`.
    pub version: String,
    /// The directory or .charm file that units get their files from.
    #[serde(skip)]
    pub source: Option<PathBuf>,
}
