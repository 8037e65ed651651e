//! What `metadata.yaml` and `config.yaml` declare, as types.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Options by name.
#[derive(Deserialize)]
pub struct Config {
    pub options: BTreeMap<String, Declared>,
}

/// An option, or a parameter of an action.
#[derive(Deserialize)]
pub struct Declared {
    pub r#type: String,
    #[serde(default)]
    pub default: Option<String>,
    pub description: String,
}

/// Endpoints by name, with what the one who asks wants to know of each.
#[derive(Deserialize)]
pub struct Metadata<Endpoint> {
    pub provides: BTreeMap<String, Endpoint>,
    pub requires: BTreeMap<String, Endpoint>,
    pub peers: BTreeMap<String, Endpoint>,
}

/// `config.yaml`.
pub fn config() -> Config {
    serde_saphyr::from_str(include_str!("../../config.yaml")).unwrap()
}

/// `metadata.yaml`.
pub fn metadata<Endpoint: serde::de::DeserializeOwned>() -> Metadata<Endpoint> {
    serde_saphyr::from_str(include_str!("../../metadata.yaml")).unwrap()
}
