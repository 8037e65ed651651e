//! The endpoints of `metadata.yaml`, and the ids of relations at them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// An endpoint of lockstep, named as in `metadata.yaml`; a test keeps the two equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// `control-plane`: the principal beside this unit is a control-plane node.
    ControlPlane,
    /// `worker`: the principal beside this unit is a worker node.
    Worker,
    /// `cos-agent`: a principal's rules and dashboards.
    CosAgent,
    /// `peers`: all units of lockstep.
    Peers,
    /// `send-remote-write`: metrics and metric alert rules to Prometheus or Mimir.
    SendRemoteWrite,
    /// `logging-consumer`: log lines and log alert rules to Loki.
    LoggingConsumer,
    /// `grafana-dashboards-provider`: dashboards to Grafana.
    GrafanaDashboards,
    /// `receive-ca-cert`: the authorities of COS's certificates.
    ReceiveCaCert,
    /// `cohorts`: cohort keys for another lockstep application.
    Cohorts,
    /// `follow-cohorts`: take the keys of another lockstep application.
    FollowCohorts,
}

impl Endpoint {
    /// Every endpoint, in the order of `metadata.yaml`.
    pub const ALL: [Self; 10] = [
        Self::ControlPlane,
        Self::Worker,
        Self::CosAgent,
        Self::Peers,
        Self::SendRemoteWrite,
        Self::LoggingConsumer,
        Self::GrafanaDashboards,
        Self::ReceiveCaCert,
        Self::Cohorts,
        Self::FollowCohorts,
    ];

    /// The name in `metadata.yaml`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ControlPlane => "control-plane",
            Self::Worker => "worker",
            Self::CosAgent => "cos-agent",
            Self::Peers => "peers",
            Self::SendRemoteWrite => "send-remote-write",
            Self::LoggingConsumer => "logging-consumer",
            Self::GrafanaDashboards => "grafana-dashboards-provider",
            Self::ReceiveCaCert => "receive-ca-cert",
            Self::Cohorts => "cohorts",
            Self::FollowCohorts => "follow-cohorts",
        }
    }

    /// The endpoint of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|endpoint| endpoint.name() == name)
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The id of one relation, `peers:3`. Ordered by endpoint, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelationId {
    /// The local endpoint.
    pub endpoint: Endpoint,
    /// The number that Juju gave the relation.
    pub number: u32,
}

impl FromStr for RelationId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        text.split_once(':')
            .and_then(|(endpoint, number)| {
                Some(Self { endpoint: Endpoint::from_name(endpoint)?, number: number.parse().ok()? })
            })
            .ok_or_else(|| {
                // It may be anybody's text, of any length.
                let text: String = text.chars().take(80).collect();
                format!("{text:?} is not the id of a relation at an endpoint of this charm")
            })
    }
}

impl fmt::Display for RelationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.endpoint, self.number)
    }
}

impl TryFrom<String> for RelationId {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<RelationId> for String {
    fn from(id: RelationId) -> Self {
        id.to_string()
    }
}

/// Whose databag in a relation: the unit's or its application's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The unit databag.
    Unit,
    /// The application databag, written by the leader.
    App,
}
