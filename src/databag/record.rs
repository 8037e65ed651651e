//! stub
#![allow(missing_docs)]
use super::{Digest, Fault, Values};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    pub metric_rules: Digest,
    pub log_rules: Digest,
    pub dashboards: Vec<Digest>,
}
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub unit: UnitName,
    pub relation_number: String,
    pub relation_name: String,
    pub content: Content,
}
pub fn is_record_key(key: &str) -> bool {
    key.starts_with("config-")
}
pub fn read_config(_: &str, _: &mut Values) -> Result<Content, Fault> {
    Err(Fault::new("$", "stub"))
}
pub fn read_peer(_: &str, _: &str, _: &mut Values) -> Result<Record, Fault> {
    Err(Fault::new("$", "stub"))
}
