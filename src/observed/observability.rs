//! What forwarding looks at: the principals beside this unit, the peers' records, the outgoing databags.

use crate::databag::dashboard::Memo;
use crate::databag::record::{Content, Record};
use crate::databag::{Fault, Topology, Values};
use crate::juju::{AppName, RelationId, UnitName};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The records of one peer unit databag, by key.
pub type Records = BTreeMap<String, Result<Record, Fault>>;

/// Observed data of cos-agent forwarding.
#[derive(Debug, Clone, PartialEq)]
pub struct Observability {
    /// The model and the local application.
    pub topology: Topology,
    /// This unit: the holder of the own records, when equals are chosen among.
    pub unit: UnitName,
    /// Whether this unit leads: a follower writes its own records only.
    pub leader: bool,
    /// Whether the peer relation is there yet. Nothing depends on it but where records can be put.
    pub peers_related: bool,
    /// The principals on `cos-agent`, in any order.
    pub principals: Vec<Principal>,
    /// What our own peer unit databag holds below the keys of records.
    pub own_records: Records,
    /// The same of the other units.
    pub peer_records: BTreeMap<UnitName, Records>,
    /// The relations that a leader writes to, in any order.
    pub outgoing: Vec<Outgoing>,
    /// Principal applications whose metrics a unit's collector sends to Prometheus.
    pub collected: BTreeSet<AppName>,
    /// Applications that only the units know which this leader has not met.
    pub strangers: Strangers,
    /// The charm's options for forwarding.
    pub options: ForwardOptions,
    /// Sizes that must not be exceeded.
    pub limits: Limits,
    /// The texts of all digests above.
    pub values: Values,
    /// What the pass before found out about dashboards.
    pub memo: Memo,
    /// Labels for the info series about the forwarder, once there is a rollout to tell of.
    pub rollout: Option<BTreeMap<String, String>>,
}

/// Applications of which a leader that has not met every unit yet may know nothing: what went out for them
/// before it led stays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Strangers {
    /// None: it has met everybody.
    #[default]
    None,
    /// Whatever is in the outgoing databags: it has just begun to lead.
    Any,
    /// These, of those that were there when it began.
    These(BTreeSet<AppName>),
}

/// One `cos-agent` relation with the unit that it shows us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// The relation.
    pub relation: RelationId,
    /// The principal unit; it may itself be a subordinate.
    pub unit: UnitName,
    /// Its `config` value; none where it has not written one yet.
    pub config: Option<Result<Content, Fault>>,
}

/// One relation on `send-remote-write`, `logging-consumer` or `grafana-dashboards-provider`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The relation.
    pub relation: RelationId,
    /// `event` in the remote application's databag.
    pub event: Option<String>,
    /// What our application databag holds there now; none where that is not known.
    pub own: Option<BTreeMap<String, String>>,
}

/// The options that concern forwarding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardOptions {
    /// `forward-alert-rules`.
    pub alert_rules: bool,
    /// `forward-host-health`.
    pub host_health: HostHealth,
    /// `extra-alert-labels`.
    pub extra_labels: BTreeMap<String, String>,
}

/// `forward-host-health`: what becomes of groups that fire where no metrics arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostHealth {
    /// Forwarded where lockstep collects that principal's jobs.
    Auto,
    /// Forwarded.
    On,
    /// Left out.
    Off,
}

/// Budgets, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// All own records together.
    pub records: usize,
    /// One outgoing application databag, keys and values.
    pub outgoing_bag: usize,
}

impl Default for ForwardOptions {
    fn default() -> Self {
        Self { alert_rules: true, host_health: HostHealth::Auto, extra_labels: BTreeMap::new() }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { records: 1 << 20, outgoing_bag: 8 << 20 }
    }
}
