//! The hooks that Juju runs, as data.

use super::{AppName, Endpoint, RelationId, UnitName};

/// One hook, with what Juju says beside its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A hook without a relation.
    Plain(PlainHook),
    /// A relation hook.
    Relation(RelationEvent),
}

/// The hooks without a relation that have a link in the packed charm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHook {
    /// `install`
    Install,
    /// `start`, also after a reboot of the machine
    Start,
    /// `config-changed`, also when the machine's addresses change
    ConfigChanged,
    /// `upgrade-charm`
    UpgradeCharm,
    /// `update-status`
    UpdateStatus,
    /// `leader-elected`
    LeaderElected,
    /// `leader-settings-changed`, up to Juju 3.6
    LeaderSettingsChanged,
    /// `stop`
    Stop,
    /// `remove`
    Remove,
}

impl PlainHook {
    /// Every plain hook.
    pub const ALL: [Self; 9] = [
        Self::Install,
        Self::Start,
        Self::ConfigChanged,
        Self::UpgradeCharm,
        Self::UpdateStatus,
        Self::LeaderElected,
        Self::LeaderSettingsChanged,
        Self::Stop,
        Self::Remove,
    ];

    /// The name of its link under `hooks/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Start => "start",
            Self::ConfigChanged => "config-changed",
            Self::UpgradeCharm => "upgrade-charm",
            Self::UpdateStatus => "update-status",
            Self::LeaderElected => "leader-elected",
            Self::LeaderSettingsChanged => "leader-settings-changed",
            Self::Stop => "stop",
            Self::Remove => "remove",
        }
    }
}

/// The five hooks of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationHook {
    /// `-relation-created`
    Created,
    /// `-relation-joined`
    Joined,
    /// `-relation-changed`, of a unit's or of an application's data
    Changed,
    /// `-relation-departed`
    Departed,
    /// `-relation-broken`
    Broken,
}

impl RelationHook {
    /// Every relation hook.
    pub const ALL: [Self; 5] = [Self::Created, Self::Joined, Self::Changed, Self::Departed, Self::Broken];

    /// What follows `<endpoint>-relation-` in the hook's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Joined => "joined",
            Self::Changed => "changed",
            Self::Departed => "departed",
            Self::Broken => "broken",
        }
    }
}

/// A relation hook with its variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationEvent {
    /// Which of the five.
    pub hook: RelationHook,
    /// The relation.
    pub relation: RelationId,
    /// `JUJU_REMOTE_APP`; may be missing in `-broken` after the agent restarted (LP#1960934).
    pub remote_app: Option<AppName>,
    /// `JUJU_REMOTE_UNIT`; absent in `-created`, `-broken` and a change of application data.
    pub remote_unit: Option<UnitName>,
    /// `JUJU_DEPARTING_UNIT`, in `-departed` only.
    pub departing_unit: Option<UnitName>,
}

impl Event {
    /// The name of the hook's link under `hooks/`.
    pub fn name(&self) -> String {
        match self {
            Self::Plain(hook) => hook.name().to_owned(),
            Self::Relation(event) => relation_hook_name(event.relation.endpoint, event.hook),
        }
    }

    /// Whether this is that plain hook.
    pub fn is(&self, hook: PlainHook) -> bool {
        *self == Self::Plain(hook)
    }
}

/// The name of a relation hook's link, `peers-relation-changed`.
pub fn relation_hook_name(endpoint: Endpoint, hook: RelationHook) -> String {
    format!("{endpoint}-relation-{}", hook.name())
}

/// A hook's name, read back into its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookName {
    /// A plain hook.
    Plain(PlainHook),
    /// A hook of a relation at that endpoint.
    Relation(Endpoint, RelationHook),
}

impl HookName {
    /// The hook of that name, if the charm has a link for it.
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(hook) = PlainHook::ALL.into_iter().find(|hook| hook.name() == name) {
            return Some(Self::Plain(hook));
        }
        let (endpoint, hook) = name.rsplit_once("-relation-")?;
        Some(Self::Relation(
            Endpoint::from_name(endpoint)?,
            RelationHook::ALL.into_iter().find(|kind| kind.name() == hook)?,
        ))
    }
}
