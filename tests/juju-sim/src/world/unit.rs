//! Units, and what their agents keep on disk.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{ConfigSeen, HookInfo, StatusInfo, StatusRecord, Time};

/// Alive, or on its way out; what is dead is gone from the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Life {
    /// Alive.
    Alive,
    /// On its way out.
    Dying,
}

/// A hook that must be run before any other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pending {
    /// None: the agent is free to choose.
    #[default]
    None,
    /// Follows from the one before, such as `start` after the first `config-changed`.
    Queued(HookInfo),
    /// Was killed or cut off by a reboot; runs again without an error.
    Interrupted(HookInfo),
    /// Failed; the unit is in error.
    Failed {
        /// Which.
        hook: HookInfo,
        /// When it is tried again.
        retry_at: Time,
        /// The wait before that, in milliseconds.
        delay: u64,
        /// How often it failed in a row.
        attempts: u32,
    },
}

impl Pending {
    /// The hook, whatever its reason.
    pub fn hook(&self) -> Option<&HookInfo> {
        match self {
            Self::None => None,
            Self::Queued(hook) | Self::Interrupted(hook) | Self::Failed { hook, .. } => Some(hook),
        }
    }
}

/// What an agent knows of one relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelationState {
    /// Our endpoint.
    pub endpoint: String,
    /// `-relation-created` was run.
    pub created: bool,
    /// Units whose `-joined` was run, with the version last announced.
    pub members: BTreeMap<String, u64>,
    /// Applications whose data was announced.
    pub apps: BTreeMap<String, u64>,
    /// The unit that `-changed` is owed for.
    pub changed_pending: Option<String>,
    /// The agent knows the application at the other side; it forgets it in a restart.
    pub remote_known: bool,
    /// Our endpoint is `juju-info`: no hooks.
    pub implicit: bool,
    /// `-relation-broken` was run, the relation is about to go.
    pub broken: bool,
}

/// The state of a unit agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uniter {
    /// The agent process runs.
    pub up: bool,
    /// The files of which charm revision and modification it has; none before the first.
    pub charm: Option<(u32, u32)>,
    /// `install` was run.
    pub installed: bool,
    /// `start` was run.
    pub started: bool,
    /// `stop` was run.
    pub stopped: bool,
    /// `remove` was run.
    pub removed: bool,
    /// The agent has accepted leadership.
    pub leader: bool,
    /// Version of the leader settings last announced.
    pub leader_settings: Option<u64>,
    /// What the last config-changed announced.
    pub config: Option<ConfigSeen>,
    /// What must run next.
    pub pending: Pending,
    /// By relation id.
    pub relations: BTreeMap<u32, RelationState>,
    /// Members' databags as last read: not on disk, a restart forgets them.
    #[serde(skip)]
    pub cache: BTreeMap<u32, BTreeMap<String, BTreeMap<String, String>>>,
    /// The machine was rebooted: an extra `start` is owed.
    pub reboot_start: bool,
    /// `update-status` is due.
    pub update_status_due: bool,
    /// When it is due next.
    pub next_update_status: Time,
    /// The charm has set a status itself.
    pub status_set: bool,
    /// Endpoints of the charm on disk: relations of others are not noticed.
    #[serde(skip)]
    pub endpoints: BTreeSet<String>,
    /// Files of the charm that Juju unpacked, and so removes in an upgrade.
    #[serde(skip)]
    pub manifest: BTreeSet<String>,
}

/// A unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unit {
    /// `lockstep/0`
    pub name: String,
    /// `lockstep`
    pub application: String,
    /// 0
    pub number: u32,
    /// On which machine.
    pub machine: String,
    /// Beside which principal unit.
    pub principal: Option<String>,
    /// Runs no process: only databags, set by a scenario.
    pub scripted: bool,
    /// Alive or dying.
    pub life: Life,
    /// What the charm says.
    pub workload: StatusInfo,
    /// What the agent says.
    pub agent: StatusInfo,
    /// Every status it had.
    pub history: Vec<StatusRecord>,
    /// `application-version-set`
    pub version: Option<String>,
    /// `state-set`
    pub state: BTreeMap<String, String>,
    /// `open-port`, such as `80/tcp`.
    pub ports: BTreeSet<String>,
    /// Hooks in which a scripted unit is to run its commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owed: Vec<String>,
    /// What its agent keeps.
    pub uniter: Uniter,
}

impl Unit {
    /// Whether the agent takes no hook but the failed one.
    pub fn in_error(&self) -> bool {
        matches!(self.uniter.pending, Pending::Failed { .. })
    }

    /// How often the pending hook failed in a row; none if it did not fail.
    pub fn failures(&self) -> Option<u32> {
        match self.uniter.pending {
            Pending::Failed { attempts, .. } => Some(attempts),
            Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => None,
        }
    }

    /// `juju status` shows an agent's error in place of the workload's status.
    pub fn shown_status(&self) -> &StatusInfo {
        if self.agent.status == "error" { &self.agent } else { &self.workload }
    }

    /// Sets the workload status and notes it in the history.
    pub fn set_workload(&mut self, status: &str, message: &str, now: Time) {
        self.workload = StatusInfo::new(status, message, now);
        self.history.push(StatusRecord { kind: "workload".to_owned(), info: self.workload.clone() });
    }

    /// Sets the agent status and notes it in the history.
    pub fn set_agent(&mut self, status: &str, message: &str, now: Time) {
        if self.agent.status == status && self.agent.message == message {
            return;
        }
        self.agent = StatusInfo::new(status, message, now);
        self.history.push(StatusRecord { kind: "juju-unit".to_owned(), info: self.agent.clone() });
    }

    /// A scripted unit is to run its commands, as if in this hook.
    pub fn owe(&mut self, hook: &str) {
        if !self.owed.iter().any(|owed| owed == hook) {
            self.owed.push(hook.to_owned());
        }
    }

    /// The directory name of its agent.
    pub fn tag(&self) -> String {
        tag(&self.name)
    }
}

/// `unit-lockstep-0` of `lockstep/0`.
pub fn tag(unit: &str) -> String {
    format!("unit-{}", unit.replace('/', "-"))
}
