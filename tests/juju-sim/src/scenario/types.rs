//! The steps of a scenario, as YAML says them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::{
    AdvisedStep, AutoRefreshStep, CommandsStep, Expect, KubeStep, MachinesAre, RunStep, SnapTimesStep,
    SnapdStep, SnapsStep, StoreStep,
};
use crate::kube::Access;
use crate::sim::{Fault, KillBy};
use crate::snapd::SnapSpec;
use crate::world::Stub;

/// One step.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// `juju deploy`
    Deploy(DeployStep),
    /// `juju integrate`
    Integrate([String; 2]),
    /// `juju add-unit`
    AddUnit(AddUnit),
    /// `juju remove-unit`
    RemoveUnit(RemoveUnit),
    /// `juju remove-relation`
    RemoveRelation(RemoveRelation),
    /// `juju remove-application`
    RemoveApplication(AppStep),
    /// `juju config`; null resets.
    Config(ConfigStep),
    /// `juju refresh`
    Refresh(RefreshStep),
    /// Sets keys of a scripted databag; null or an empty value removes.
    Databag(DatabagStep),
    /// Makes units of a real application scripted ones: new units without a process.
    ScriptedUnits(AddUnit),
    /// Runs until no agent has work.
    Settle(SettleStep),
    /// Runs exactly the next hook of a unit.
    Hook(UnitStep),
    /// `juju run`
    Action(ActionStep),
    /// The command that a text tells, as printed there.
    RunAdvised(AdvisedStep),
    /// `juju exec`
    Exec(ExecStep),
    /// Moves the leadership lease.
    Leader(LeaderStep),
    /// Something will go wrong.
    Fault(Box<Fault>),
    /// `juju resolved`
    Resolve(ResolveStep),
    /// Time passes; only timers fire meanwhile.
    Advance(AdvanceStep),
    /// Time passes, and agents go on working: `update-status`, retries and timers come when they are due.
    Live(AdvanceStep),
    /// `update-status` is due.
    UpdateStatus(UnitsStep),
    /// A machine boots.
    Reboot(MachineStep),
    /// A machine is dead, until `reboot`.
    MachineDead(MachineStep),
    /// A unit agent starts anew.
    AgentRestart(UnitStep),
    /// A machine gets another address.
    AddressChange(AddressStep),
    /// Deletes files beside the charm directory.
    DeleteAgentFiles(FilesStep),
    /// Writes a file beside the charm directory.
    WriteAgentFile(WriteStep),
    /// Writes or deletes a file of a machine.
    MachineFile(MachineFileStep),
    /// Puts a program with a fixed answer on a machine.
    Program(ProgramStep),
    /// What the snap store publishes, and what goes wrong with it.
    Store(StoreStep),
    /// Snaps on machines, there or gone without anybody having asked snapd.
    Snaps(SnapsStep),
    /// Machines of another architecture.
    Arch(MachinesAre),
    /// Machines with another snapd.
    SnapdVersion(MachinesAre),
    /// snapd comes or goes.
    Snapd(SnapdStep),
    /// Machines use a store proxy; null for none.
    Proxy(MachinesAre),
    /// The Kubernetes cluster of these machines.
    Kube(Box<KubeStep>),
    /// snapd refreshes by itself.
    AutoRefresh(AutoRefreshStep),
    /// An admin runs a command on a machine, as root.
    Run(RunStep),
    /// How long changes of snaps take.
    SnapTimes(SnapTimesStep),
    /// What scripted units run on their machines.
    Commands(CommandsStep),
    /// Whether transient timers fire.
    Timers(bool),
    /// In copies of the simulation, kills a hook at its first call, at its second, and so on.
    ForEachCall(ForEachCall),
    /// The same again.
    Repeat(RepeatStep),
    /// What must be so.
    Expect(Vec<Expect>),
    /// A name for this moment.
    Mark(String),
    /// Tables wanted in the output.
    Show(ShowStep),
    /// A line for the reader.
    Say(String),
}

/// Of `deploy`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DeployStep {
    /// Name of the charm.
    pub charm: String,
    /// Name of the application; the charm's own if it is left out.
    #[serde(default)]
    pub application: Option<String>,
    /// How many units; 1 for a principal.
    #[serde(default)]
    pub units: Option<u32>,
    /// Existing machines.
    #[serde(default)]
    pub to: Vec<String>,
    /// Options.
    #[serde(default)]
    pub config: BTreeMap<String, Value>,
    /// What scripted units run on their machines, in each of their hooks.
    #[serde(default)]
    pub commands: Vec<Vec<String>>,
    /// Snaps that are on the machines of its units from the start, also on later ones.
    #[serde(default)]
    pub snaps: Vec<SnapSpec>,
    /// Architecture of the machines of its units.
    #[serde(default)]
    pub arch: Option<String>,
    /// What the bearer of its machines' kubeconfig may do; there is none if it is left out.
    #[serde(default)]
    pub kubeconfig: Option<Access>,
}

/// Of `add-unit`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AddUnit {
    /// Which.
    pub application: String,
    /// How many.
    #[serde(default = "one")]
    pub units: u32,
    /// Existing machines.
    #[serde(default)]
    pub to: Vec<String>,
    /// Principals of scripted subordinates.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Architecture of the machines.
    #[serde(default)]
    pub arch: Option<String>,
}

fn one() -> u32 {
    1
}

/// About one unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UnitStep {
    /// Which.
    pub unit: String,
}

/// Of `remove-unit`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RemoveUnit {
    /// Which.
    pub unit: String,
    /// Without hooks.
    #[serde(default)]
    pub force: bool,
}

/// About units.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct UnitsStep {
    /// Which; `all` for all that run something.
    pub units: OneOrMany,
}

/// One or many names.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Many.
    Many(Vec<String>),
}

/// About an application.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AppStep {
    /// Which.
    pub application: String,
}

/// About a machine: by id, or by a unit on it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MachineStep {
    /// Its id.
    #[serde(default)]
    pub machine: Option<String>,
    /// A unit on it.
    #[serde(default)]
    pub unit: Option<String>,
}

/// Of `remove-relation`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RemoveRelation {
    /// Its endpoints.
    pub relation: Vec<String>,
    /// At once, without hooks.
    #[serde(default)]
    pub force: bool,
}

/// Of `config`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ConfigStep {
    /// Which.
    pub application: String,
    /// Options; null resets.
    pub set: BTreeMap<String, Value>,
}

/// Of `refresh`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RefreshStep {
    /// Which.
    pub application: String,
    /// Name of the charm, which may have been changed meanwhile; or
    #[serde(default)]
    pub charm: Option<String>,
    /// a directory or packed file, relative to the scenario.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// Units in error too.
    #[serde(default)]
    pub force_units: bool,
}

/// Of `databag`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DatabagStep {
    /// Endpoints of the relation.
    pub relation: Vec<String>,
    /// Whose bag: a unit's, or
    #[serde(default)]
    pub unit: Option<String>,
    /// an application's.
    #[serde(default)]
    pub app: Option<String>,
    /// Keys and values; what is no string is written as JSON.
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    /// Keys and files with their values, relative to the scenario.
    #[serde(default)]
    pub file: BTreeMap<String, PathBuf>,
}

/// Of `settle`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SettleStep {
    /// At most so many hooks.
    pub hooks: Option<u32>,
    /// How often a failed hook is tried again.
    pub retries: Option<u32>,
}

/// Of `action`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ActionStep {
    /// Where.
    pub unit: String,
    /// Which.
    pub name: String,
    /// Parameters.
    #[serde(default)]
    pub params: BTreeMap<String, Value>,
    /// Under which name the result is kept; the action's own if left out.
    #[serde(default)]
    pub r#as: Option<String>,
}

/// Of `exec`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ExecStep {
    /// Where.
    pub unit: String,
    /// Program and arguments; `$CHARM` stands for the charm directory.
    pub args: Vec<String>,
    /// A failing command line is what is wanted.
    #[serde(default)]
    pub fails: bool,
}

/// Of `leader`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LeaderStep {
    /// Who leads from now on.
    pub unit: String,
}

/// Of `resolve`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ResolveStep {
    /// Where.
    pub unit: String,
    /// Try again now, or skip.
    #[serde(default = "yes")]
    pub retry: bool,
}

fn yes() -> bool {
    true
}

/// Of `advance`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AdvanceStep {
    /// Days,
    pub days: u64,
    /// hours,
    pub hours: u64,
    /// minutes,
    pub minutes: u64,
    /// and seconds.
    pub seconds: u64,
}

impl AdvanceStep {
    /// All together.
    pub fn millis(&self) -> u64 {
        let hours = self.days * 24 + self.hours;
        ((hours * 60 + self.minutes) * 60 + self.seconds) * 1000
    }
}

/// Of `address-change`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AddressStep {
    /// Of which machine: its id, or
    #[serde(default)]
    pub machine: Option<String>,
    /// a unit on it.
    #[serde(default)]
    pub unit: Option<String>,
    /// The new one.
    pub address: String,
}

/// Of `delete-agent-files`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FilesStep {
    /// Whose.
    pub unit: String,
    /// Pattern below the agent's directory.
    pub glob: String,
}

/// Of `write-agent-file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WriteStep {
    /// Whose.
    pub unit: String,
    /// Below the agent's directory.
    pub path: String,
    /// The whole content.
    pub content: String,
}

/// Of `machine-file`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MachineFileStep {
    /// On the machine of this unit.
    pub unit: String,
    /// Below the machine's root.
    pub path: String,
    /// The whole content; without it the file goes.
    #[serde(default)]
    pub content: Option<String>,
}

/// Of `program`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProgramStep {
    /// On which machine: its id, or
    #[serde(default)]
    pub machine: Option<String>,
    /// a unit on it.
    #[serde(default)]
    pub unit: Option<String>,
    /// Name of the program.
    pub name: String,
    /// What it always answers.
    #[serde(default)]
    pub answer: Stub,
}

/// Of `for-each-call`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ForEachCall {
    /// In which unit.
    pub unit: String,
    /// In which hook or action; the next one if left out.
    #[serde(default)]
    pub hook: Option<String>,
    /// Who is killed.
    #[serde(default)]
    pub by: KillBy,
    /// While the calls are under way, not before them.
    #[serde(default)]
    pub within: bool,
    /// What happens in each copy: the hook must run in it, and expectations belong into it.
    pub r#do: Vec<Step>,
}

/// Of `repeat`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RepeatStep {
    /// How often.
    pub times: u32,
    /// What.
    pub r#do: Vec<Step>,
}

/// Of `show`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShowStep {
    /// Databags of these relations.
    #[serde(default)]
    pub databags: Vec<Vec<String>>,
    /// The tables of `juju status`.
    #[serde(default)]
    pub status: bool,
    /// Places in JSON values of databags.
    #[serde(default)]
    pub values: Vec<ShowValue>,
}

/// A place in a JSON value of a databag, for the reader.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShowValue {
    /// What it is called.
    pub title: String,
    /// Endpoints of the relation.
    pub relation: Vec<String>,
    /// Whose databag: a unit's or
    #[serde(default)]
    pub unit: Option<String>,
    /// an application's.
    #[serde(default)]
    pub app: Option<String>,
    /// The key.
    pub key: String,
    /// A JSON pointer in which `*` stands for every item, or every key where it comes last.
    pub at: String,
}
