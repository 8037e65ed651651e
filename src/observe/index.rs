//! What the cache repeats: the parts that were read, each absent until it is read (again).

use crate::databag::record::{Content, Record};
use crate::databag::{Digest, Fault};
use crate::juju::{AppName, RelationId, UnitName};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The records of one unit databag on peers, by key; a faulty one by its fault.
pub type Records = BTreeMap<String, Result<Record, Fault>>;

/// The parts that were read. An absent part has not been read or has become stale.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The options.
    pub config: Option<BTreeMap<String, Value>>,
    /// The relations of this unit.
    pub ids: Option<BTreeSet<RelationId>>,
    /// What was read of each.
    pub relations: BTreeMap<RelationId, Relation>,
    /// The records in the own unit databag on peers, as committed.
    pub own_records: Option<Records>,
    /// What that databag tells of rollouts, as committed.
    pub own_texts: Option<BTreeMap<String, String>>,
}

/// What was read of one relation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// The application at the other side.
    pub app: Option<AppName>,
    /// The units met.
    pub members: Option<BTreeSet<UnitName>>,
    /// Of each unit what concerns us in its databag.
    pub units: BTreeMap<UnitName, UnitBag>,
    /// Texts of the application databag at the other side (on peers: of our own).
    pub app_bag: Option<BTreeMap<String, String>>,
}

/// What concerns us in the databag of one unit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitBag {
    /// On cos-agent: what the principal sends; none if it has sent nothing yet. Scrape jobs hold
    /// secrets and are not kept.
    pub config: Option<Result<Content, Fault>>,
    /// On cos-agent: the digest of what it tells of jobs and log slots.
    #[serde(default)]
    pub jobs: Option<Digest>,
    /// On peers: the records of the unit's principals. They concern a leader only.
    pub records: Option<Records>,
    /// On peers: what the unit tells of rollouts and collection, by key. On endpoints of COS: where it
    /// takes metrics and lines, and certificates.
    pub texts: BTreeMap<String, String>,
}
