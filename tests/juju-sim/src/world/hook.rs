//! Hooks: their names, and what they are about.

use serde::Serialize;

/// The kinds of hooks that this simulator runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookKind {
    /// First of all.
    Install,
    /// After the first config-changed, and after every reboot.
    Start,
    /// The unit goes.
    Stop,
    /// Last of all.
    Remove,
    /// Config, trust or addresses changed.
    ConfigChanged,
    /// New files are there.
    UpgradeCharm,
    /// From time to time, only when idle.
    UpdateStatus,
    /// This unit became leader.
    LeaderElected,
    /// Up to 3.6.
    LeaderSettingsChanged,
    /// A relation became known.
    RelationCreated,
    /// A unit came.
    RelationJoined,
    /// A databag changed.
    RelationChanged,
    /// A unit went.
    RelationDeparted,
    /// The relation goes.
    RelationBroken,
}

impl HookKind {
    /// The name, or its last part for hooks of an endpoint.
    pub fn stem(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Remove => "remove",
            Self::ConfigChanged => "config-changed",
            Self::UpgradeCharm => "upgrade-charm",
            Self::UpdateStatus => "update-status",
            Self::LeaderElected => "leader-elected",
            Self::LeaderSettingsChanged => "leader-settings-changed",
            Self::RelationCreated => "relation-created",
            Self::RelationJoined => "relation-joined",
            Self::RelationChanged => "relation-changed",
            Self::RelationDeparted => "relation-departed",
            Self::RelationBroken => "relation-broken",
        }
    }
}

/// One hook to run, with all that its retry needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookInfo {
    /// Which.
    pub kind: HookKind,
    /// Of which relation.
    pub relation: Option<u32>,
    /// Our endpoint of it.
    pub endpoint: Option<String>,
    /// Whom it is about.
    pub remote_unit: Option<String>,
    /// The application at the other side; none where the agent has not met it yet.
    pub remote_app: Option<String>,
    /// `JUJU_DEPARTING_UNIT`
    pub departing: Option<String>,
    /// The databag version that the hook announces.
    pub version: u64,
}

impl HookInfo {
    /// A hook that is about no relation.
    pub fn plain(kind: HookKind) -> Self {
        Self {
            kind,
            relation: None,
            endpoint: None,
            remote_unit: None,
            remote_app: None,
            departing: None,
            version: 0,
        }
    }

    /// A hook of a relation.
    pub fn of_relation(kind: HookKind, relation: u32, endpoint: &str, remote_app: Option<&str>) -> Self {
        Self {
            relation: Some(relation),
            endpoint: Some(endpoint.to_owned()),
            remote_app: remote_app.map(str::to_owned),
            ..Self::plain(kind)
        }
    }

    /// The same hook about a unit.
    #[must_use]
    pub fn unit(self, unit: &str) -> Self {
        let app = super::World::app_of(unit).to_owned();
        Self { remote_unit: Some(unit.to_owned()), remote_app: Some(app), ..self }
    }

    /// `peers-relation-changed`
    pub fn name(&self) -> String {
        match &self.endpoint {
            Some(endpoint) => format!("{endpoint}-{}", self.kind.stem()),
            None => self.kind.stem().to_owned(),
        }
    }

    /// `peers:3`
    pub fn relation_id(&self) -> Option<String> {
        Some(format!("{}:{}", self.endpoint.as_deref()?, self.relation?))
    }
}
