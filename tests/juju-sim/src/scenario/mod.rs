//! Scenarios: YAML files of steps and expectations.
//!
//! Units are named as `app/0`, `app/leader`, or `app@principal/0` for the subordinate beside a principal. A relation is
//! named by its endpoints, `[k8s:cos-agent, lockstep:cos-agent]`, or `[lockstep:peers]`.

mod advised;
mod expect;
mod kube_step;
mod select;
mod snap_steps;
mod snap_types;
mod step;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

pub use advised::AdvisedStep;
pub use expect::*;
pub use kube_step::KubeStep;
pub use snap_types::*;
pub use types::*;

use crate::charm_files::ScriptedMetadata;
use crate::sim::{Options, Sim};
use crate::world::Model;

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
    /// A file with more charms by name, relative to the scenario: what many scenarios share.
    #[serde(default)]
    pub charms_from: Option<PathBuf>,
    /// `/usr/bin:/bin` in the PATH of hooks.
    #[serde(default)]
    pub host_programs: bool,
    /// Hooks of other machines may run inside tool calls.
    #[serde(default)]
    pub interleave: bool,
    /// Whether transient timers fire; they do if it is left out.
    #[serde(default)]
    pub timers: Option<bool>,
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
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
    /// As that charm is, with other `files`.
    #[serde(default)]
    pub like: Option<String>,
    /// Files with their whole content: new ones, or instead of those that are there.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The same, with content from a file relative to the scenario.
    #[serde(default)]
    pub files_from: BTreeMap<String, PathBuf>,
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|e| anyhow::anyhow!("{e}"))
}

impl Scenario {
    /// Reads a scenario; paths in it are relative to `dir`.
    pub fn parse(text: &str, dir: &Path) -> Result<Self> {
        let mut scenario: Self = read(text)?;
        if let Some(path) = &scenario.charms_from {
            let path = dir.join(path);
            let more: BTreeMap<String, CharmSpec> =
                read(&fs_err::read_to_string(&path)?).with_context(|| path.display().to_string())?;
            for (name, charm) in more {
                scenario.charms.entry(name).or_insert(charm);
            }
        }
        for charm in scenario.charms.values_mut() {
            charm.path = charm.path.take().map(|path| dir.join(path));
            charm.files_from.values_mut().for_each(|path| *path = dir.join(&path));
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
        options.interleave |= self.interleave;
        let mut sim = Sim::new(options)?;
        sim.world.timers = self.timers.unwrap_or(true);
        for (name, path) in charms {
            sim.add_charm(name, path)?;
        }
        let (alike, own): (Vec<_>, Vec<_>) = self.charms.iter().partition(|(_, spec)| spec.like.is_some());
        for (name, spec) in own {
            match (spec, charms.iter().any(|(given, _)| given == name)) {
                (_, true) => {}
                (CharmSpec { scripted: true, metadata: Some(metadata), .. }, _) => {
                    sim.add_scripted_charm(name, metadata.charm()?);
                }
                (CharmSpec { scripted: false, path: Some(path), .. }, _) => sim.add_charm(name, path)?,
                (CharmSpec { .. }, _) => {
                    bail!(
                        "charm {name}: either `scripted: true` with `metadata`, or a `path`, or --charm {name}=PATH"
                    )
                }
            }
        }
        for (name, spec) in alike {
            let mut files = spec.files.clone();
            for (file, path) in &spec.files_from {
                files.insert(file.clone(), fs_err::read_to_string(path)?);
            }
            sim.add_charm_like(name, spec.like.as_deref().unwrap_or_default(), &files)?;
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
            Self::ForEachCall(step) => step.r#do.iter_mut().for_each(|step| step.below(dir)),
            Self::Repeat(step) => step.r#do.iter_mut().for_each(|step| step.below(dir)),
            Self::Fault(fault) => {
                let at = [&mut fault.at_call, &mut fault.advance_at_call, &mut fault.in_call]
                    .into_iter()
                    .flatten();
                at.flat_map(|at| at.r#do.iter_mut()).for_each(|step| step.below(dir));
            }
            // The other steps name no files of the scenario.
            Self::Deploy(_)
            | Self::Integrate(_)
            | Self::AddUnit(_)
            | Self::RemoveUnit(_)
            | Self::RemoveRelation(_)
            | Self::RemoveApplication(_)
            | Self::Config(_)
            | Self::ScriptedUnits(_)
            | Self::Settle(_)
            | Self::Hook(_)
            | Self::Action(_)
            | Self::RunAdvised(_)
            | Self::Exec(_)
            | Self::Leader(_)
            | Self::Resolve(_)
            | Self::Advance(_)
            | Self::UpdateStatus(_)
            | Self::Reboot(_)
            | Self::MachineDead(_)
            | Self::AgentRestart(_)
            | Self::AddressChange(_)
            | Self::DeleteAgentFiles(_)
            | Self::WriteAgentFile(_)
            | Self::MachineFile(_)
            | Self::Program(_)
            | Self::Store(_)
            | Self::Snaps(_)
            | Self::Arch(_)
            | Self::SnapdVersion(_)
            | Self::Snapd(_)
            | Self::Proxy(_)
            | Self::AutoRefresh(_)
            | Self::Kube(_)
            | Self::Run(_)
            | Self::SnapTimes(_)
            | Self::Commands(_)
            | Self::Timers(_)
            | Self::Live(_)
            | Self::Expect(_)
            | Self::Mark(_)
            | Self::Show(_)
            | Self::Say(_) => {}
        }
    }
}
