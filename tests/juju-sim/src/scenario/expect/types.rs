//! The conditions of a scenario, as YAML says them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{SnapChangesExpect, SnapExpect};
use crate::world::Level;

/// One condition.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// What `juju status` shows for a unit.
    Status(StatusExpect),
    /// What `juju status` shows for an application.
    AppStatus(AppStatusExpect),
    /// What the unit agent says.
    AgentStatus(StatusExpect),
    /// A databag.
    Databag(DatabagExpect),
    /// The unit is in error after this hook.
    HookFailed(HookExpect),
    /// Whether no hook failed since the mark, or ever.
    NoHookErrors(bool),
    /// The result of an action.
    Action(ActionExpect),
    /// How often a tool was called.
    Calls(CallsExpect),
    /// A line in the log of a unit.
    Log(LogExpect),
    /// Statuses that a unit had, in this order, perhaps with others between.
    StatusHistory(HistoryExpect),
    /// Who leads.
    Leader(LeaderExpect),
    /// Which hooks ran.
    Hooks(HooksExpect),
    /// Whether a unit, application or relation is in the model.
    Exists(ExistsExpect),
    /// `application-version-set`
    Version(VersionExpect),
    /// Charm state.
    State(StateExpect),
    /// Ports that are open.
    Ports(PortsExpect),
    /// A snap on a machine.
    Snap(SnapExpect),
    /// Changes of snaps.
    SnapChanges(SnapChangesExpect),
    /// A file of a machine.
    File(FileExpect),
}

/// A file of a machine.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FileExpect {
    /// On the machine of this unit.
    pub unit: String,
    /// Below the machine's root.
    pub path: String,
    /// It is not there.
    pub absent: bool,
    /// Texts that occur in it.
    pub holds: Vec<String>,
    /// Texts that do not.
    pub holds_not: Vec<String>,
    /// Its mode, in octal.
    pub mode: Option<String>,
}

/// A status.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StatusExpect {
    /// Of which unit.
    pub unit: String,
    /// The status word.
    pub is: Option<String>,
    /// The whole message.
    pub message: Option<String>,
    /// A part of the message.
    pub contains: Option<String>,
    /// What the message does not hold.
    pub lacks: Option<String>,
}

/// A status of an application.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AppStatusExpect {
    /// Of which application.
    pub application: String,
    /// The status word.
    pub is: Option<String>,
    /// The whole message.
    pub message: Option<String>,
    /// A part of the message.
    pub contains: Option<String>,
    /// What the message does not hold.
    pub lacks: Option<String>,
}

/// A databag.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DatabagExpect {
    /// Endpoints of the relation.
    pub relation: Vec<String>,
    /// A unit's bag, or
    pub unit: Option<String>,
    /// an application's.
    pub app: Option<String>,
    /// Keys with their values; null only asks that the key is there.
    pub has: BTreeMap<String, Value>,
    /// Keys that are not there.
    pub lacks: Vec<String>,
    /// Keys with texts that occur somewhere in their values.
    pub holds: BTreeMap<String, Vec<String>>,
    /// Keys with texts that occur nowhere in their values; a key that is not there holds nothing.
    pub holds_not: BTreeMap<String, Vec<String>>,
    /// A place in a JSON value.
    pub json: Vec<JsonExpect>,
    /// Nothing at all is in it, but for what Juju keeps there.
    pub empty: bool,
}

/// A place in a JSON value.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct JsonExpect {
    /// In which key.
    pub key: String,
    /// A JSON pointer; empty for the whole.
    #[serde(default)]
    pub at: String,
    /// What is there.
    #[serde(default)]
    pub is: Option<Value>,
    /// A part of it: of a text, or an item of a list.
    #[serde(default)]
    pub contains: Option<Value>,
    /// Nothing is there.
    #[serde(default)]
    pub absent: bool,
}

/// A hook of a unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HookExpect {
    /// Where.
    pub unit: String,
    /// Which.
    #[serde(default)]
    pub hook: Option<String>,
}

/// The result of an action.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ActionExpect {
    /// The name that it was kept under.
    pub r#as: String,
    /// `completed` or `failed`.
    pub status: Option<String>,
    /// Why it failed, or a part of it.
    pub message_contains: Option<String>,
    /// Results by dotted key.
    pub result: BTreeMap<String, Value>,
    /// A part of all results as text.
    pub output_contains: Option<String>,
    /// What is not in them.
    pub output_lacks: Option<String>,
}

/// Calls of a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct CallsExpect {
    /// By which unit; none for all.
    pub unit: Option<String>,
    /// In which hook; none for all.
    pub hook: Option<String>,
    /// From this mark on.
    pub since: Option<String>,
    /// Which tool; none for all.
    pub tool: Option<String>,
    /// Only calls with this argument.
    pub argv_contains: Option<String>,
    /// Exactly.
    pub count: Option<usize>,
    /// At most.
    pub at_most: Option<usize>,
    /// At least.
    pub at_least: Option<usize>,
}

/// A line of the log.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LogExpect {
    /// Of which unit; none for all.
    pub unit: Option<String>,
    /// At this level or above.
    pub level: Option<Level>,
    /// A part of a line.
    pub contains: Option<String>,
    /// What is in no line.
    pub lacks: Option<String>,
}

/// Statuses in order.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HistoryExpect {
    /// Of which unit.
    pub unit: String,
    /// `status` or `status: message`.
    pub has: Vec<String>,
}

/// Who leads.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LeaderExpect {
    /// Which application.
    pub application: String,
    /// The unit; null if nobody.
    #[serde(default)]
    pub is: Option<String>,
}

/// Hooks of a unit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct HooksExpect {
    /// Where.
    pub unit: String,
    /// From this mark on.
    pub since: Option<String>,
    /// Exactly these, `name` or `name REMOTE`.
    pub sequence: Option<Vec<String>>,
    /// These in this order, perhaps with others between.
    pub has: Vec<String>,
    /// None of these.
    pub lacks: Vec<String>,
}

/// Whether something is there.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ExistsExpect {
    /// A unit,
    pub unit: Option<String>,
    /// an application,
    pub application: Option<String>,
    /// or a relation.
    pub relation: Option<Vec<String>>,
    /// It must not be there.
    pub not: bool,
}

/// The workload version.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct VersionExpect {
    /// Of which unit.
    pub unit: String,
    /// What it is.
    pub is: String,
}

/// Charm state.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StateExpect {
    /// Of which unit.
    pub unit: String,
    /// Keys with their values; null only asks that the key is there.
    pub has: BTreeMap<String, Value>,
    /// Keys that are not there.
    pub lacks: Vec<String>,
}

/// Open ports.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PortsExpect {
    /// Of which unit.
    pub unit: String,
    /// All of them.
    pub are: Vec<String>,
}
