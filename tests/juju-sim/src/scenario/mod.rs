//! Scenarios: YAML files of steps and expectations.
//!
//! Units are named as `app/0`, `app/leader`, or `app@principal/0` for the subordinate beside a principal. A relation is
//! named by its endpoints, `[k8s:cos-agent, lockstep:cos-agent]`, or `[lockstep:peers]`.

mod expect;
mod select;
mod step;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::Value;

pub use expect::Expect;

use crate::charm_files::ScriptedMetadata;
use crate::sim::{Fault, Options, Sim};
use crate::world::{Model, Stub};

/// A whole scenario.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Scenario {
    /// A sentence about behaviour.
    pub name: String,
    /// Version of the agents.
    #[serde(default)]
    pub juju: Option<String>,
    /// Name and UUID of the model.
    #[serde(default)]
    pub model: Option<ModelSpec>,
    /// The seed, unless the caller gives one.
    #[serde(default)]
    pub seed: Option<u64>,
    /// Charms by name.
    #[serde(default)]
    pub charms: BTreeMap<String, CharmSpec>,
    /// `/usr/bin:/bin` in the PATH of hooks.
    #[serde(default)]
    pub host_programs: bool,
    /// What happens.
    pub steps: Vec<Step>,
}

/// Name and UUID of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// Name.
    #[serde(default)]
    pub name: Option<String>,
    /// UUID.
    #[serde(default)]
    pub uuid: Option<String>,
}

/// Where a charm comes from.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CharmSpec {
    /// Its units are only databags; `metadata` says with which endpoints.
    #[serde(default)]
    pub scripted: bool,
    /// metadata.yaml of a scripted charm.
    #[serde(default)]
    pub metadata: Option<ScriptedMetadata>,
    /// A directory or packed file, relative to the scenario.
    #[serde(default)]
    pub path: Option<PathBuf>,
}

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
    RemoveUnit(UnitStep),
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
    /// `juju exec`
    Exec(ExecStep),
    /// Moves the leadership lease.
    Leader(LeaderStep),
    /// Something will go wrong.
    Fault(Box<Fault>),
    /// `juju resolved`
    Resolve(ResolveStep),
    /// Time passes.
    Advance(AdvanceStep),
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
    /// Puts a program with a fixed answer on a machine.
    Program(ProgramStep),
    /// The same again.
    Repeat(RepeatStep),
    /// What must be so.
    Expect(Vec<Expect>),
    /// A name for this moment.
    Mark(String),
    /// Tables wanted in the output.
    Show(ShowStep),
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
}

impl Scenario {
    /// Reads a scenario; paths in it are relative to `dir`.
    pub fn parse(text: &str, dir: &Path) -> Result<Self> {
        let options = serde_saphyr::options! { strict_booleans: true };
        let mut scenario: Self =
            serde_saphyr::from_str_with_options(text, options).map_err(|e| anyhow::anyhow!("{e}"))?;
        for charm in scenario.charms.values_mut() {
            charm.path = charm.path.take().map(|path| dir.join(path));
        }
        scenario.steps.iter_mut().for_each(|step| step.below(dir));
        Ok(scenario)
    }

    /// Reads a scenario file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs_err::read_to_string(path)?;
        let dir = path.parent().unwrap_or(Path::new("."));
        Self::parse(&text, dir).with_context(|| format!("{} is no scenario", path.display()))
    }

    /// The simulator that it asks for; `charms` are given by the caller and win.
    pub fn start(&self, mut options: Options, charms: &[(String, PathBuf)]) -> Result<Sim> {
        if let Some(juju) = &self.juju {
            options.juju.clone_from(juju);
        }
        if let Some(model) = &self.model {
            let old = options.model;
            options.model = Model {
                name: model.name.clone().unwrap_or(old.name),
                uuid: model.uuid.clone().unwrap_or(old.uuid),
            };
        }
        options.host_programs |= self.host_programs;
        let mut sim = Sim::new(options)?;
        for (name, path) in charms {
            sim.add_charm(name, path)?;
        }
        for (name, spec) in &self.charms {
            match (spec, charms.iter().any(|(given, _)| given == name)) {
                (_, true) => {}
                (CharmSpec { scripted: true, metadata: Some(metadata), .. }, _) => {
                    sim.add_scripted_charm(name, metadata.charm()?);
                }
                (CharmSpec { scripted: false, path: Some(path), .. }, _) => sim.add_charm(name, path)?,
                (CharmSpec { .. }, _) => {
                    bail!("charm {name}: either `scripted: true` with `metadata`, or a `path`, or --charm {name}=PATH")
                }
            }
        }
        Ok(sim)
    }

    /// Runs all steps; the error says at which step, and what happened just before.
    pub fn run(&self, sim: &mut Sim) -> Result<()> {
        for (number, step) in self.steps.iter().enumerate() {
            sim.step(step).with_context(|| format!("step {} ({})", number + 1, step.name()))?;
        }
        if let Some(armed) = sim.armed().iter().find(|armed| !armed.fault.optional) {
            bail!("a fault never came true: {}", armed.fault.describe());
        }
        Ok(())
    }
}

impl Step {
    /// Paths become relative to the scenario's directory.
    fn below(&mut self, dir: &Path) {
        match self {
            Self::Refresh(step) => step.path = step.path.take().map(|path| dir.join(path)),
            Self::Databag(step) => step.file.values_mut().for_each(|path| *path = dir.join(&path)),
            Self::Repeat(step) => step.r#do.iter_mut().for_each(|step| step.below(dir)),
            Self::Fault(fault) => {
                let at = [&mut fault.at_call, &mut fault.advance_at_call].into_iter().flatten();
                at.flat_map(|at| at.r#do.iter_mut()).for_each(|step| step.below(dir));
            }
            _ => {}
        }
    }
}
