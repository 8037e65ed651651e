//! stub
#![allow(missing_docs)]
use crate::databag::{
    Fault, Values,
    record::{Content, Record},
};
use crate::juju::{AppName, RelationId, UnitName};
use std::collections::BTreeMap;
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Memo {}
#[derive(Debug, Clone)]
pub struct Topology {
    pub model: String,
    pub model_uuid: String,
    pub application: AppName,
    pub charm: String,
}
#[derive(Debug, Clone, PartialEq)]
pub struct Principal {
    pub relation: RelationId,
    pub unit: UnitName,
    pub config: Option<Result<Content, Fault>>,
}
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    pub relation: RelationId,
    pub event: Option<String>,
    pub own: Option<BTreeMap<String, String>>,
}
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum HostHealth {
    #[default]
    Auto,
    On,
    Off,
}
#[derive(Debug, Clone, PartialEq)]
pub struct ForwardOptions {
    pub alert_rules: bool,
    pub host_health: HostHealth,
    pub extra_labels: BTreeMap<String, String>,
}
impl Default for ForwardOptions {
    fn default() -> Self {
        Self { alert_rules: true, host_health: HostHealth::Auto, extra_labels: BTreeMap::new() }
    }
}
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    pub records: usize,
    pub outgoing_bag: usize,
}
#[derive(Debug, Clone)]
pub struct Observability {
    pub topology: Topology,
    pub leader: bool,
    pub peers_related: bool,
    pub principals: Vec<Principal>,
    pub own_records: BTreeMap<String, Result<Record, Fault>>,
    pub peer_records: BTreeMap<UnitName, BTreeMap<String, Result<Record, Fault>>>,
    pub outgoing: Vec<Outgoing>,
    pub options: ForwardOptions,
    pub limits: Limits,
    pub values: Values,
    pub memo: Memo,
}
