//! Carrying out steps about snaps, the store and programs of machines.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow, ensure};

use super::{
    AutoRefreshStep, CommandsStep, MachinesAre, OneOrMany, OutageSpec, RunStep, SnapTimesStep, SnapdStep,
    SnapsStep, StoreStep,
};
use crate::sim::Sim;
use crate::store::StoreFault;

impl Sim {
    /// Machines by id, or by units on them, each once.
    pub(super) fn machines_named(
        &self,
        machine: Option<&str>,
        unit: Option<&OneOrMany>,
    ) -> Result<Vec<String>> {
        match unit {
            None => Ok(vec![self.machine_named(machine, None)?]),
            Some(OneOrMany::One(all)) if all == "all" => Ok(self.world.machines.keys().cloned().collect()),
            Some(OneOrMany::One(name)) => Ok(vec![self.machine_named(machine, Some(name))?]),
            Some(OneOrMany::Many(names)) => {
                let all: Result<BTreeSet<String>> =
                    names.iter().map(|name| self.machine_named(machine, Some(name))).collect();
                Ok(all?.into_iter().collect())
            }
        }
    }

    pub(super) fn store_step(&mut self, step: &StoreStep) -> Result<()> {
        step.publish.iter().try_for_each(|publish| self.publish(publish))?;
        if let Some(close) = &step.close {
            self.close_channel(&close.snap, &close.channel, close.arch.as_deref())?;
        }
        if let Some(spec) = &step.outage {
            match spec.outage().map_err(anyhow::Error::msg)? {
                None => self.store_is_back(),
                Some(outage) => {
                    let mut fault =
                        StoreFault { outage, requests: Vec::new(), machine: None, snap: None, times: None };
                    if let OutageSpec::Full(full) = spec {
                        fault.requests.clone_from(&full.requests);
                        fault.snap.clone_from(&full.snap);
                        fault.times = full.times;
                        fault.machine =
                            full.unit.as_ref().map(|u| self.machine_named(None, Some(u))).transpose()?;
                    }
                    self.store_fault(fault);
                }
            }
        }
        if let Some(seconds) = step.slow {
            self.world.store.slow = seconds * 1000;
            self.say(format!("store: every request takes {seconds} s"));
        }
        if let Some(unknown) = &step.unknown_keys {
            self.world.store.unknown_keys = unknown.clone();
        }
        Ok(())
    }

    pub(super) fn snaps_step(&mut self, step: &SnapsStep) -> Result<()> {
        let machines: Vec<String> = match &step.application {
            None => self.machines_named(step.machine.as_deref(), step.unit.as_ref())?,
            Some(app) => {
                let provision = self.world.provisions.entry(app.clone()).or_default();
                provision.snaps.retain(|known| {
                    !step.remove.contains(&known.name)
                        && !step.install.iter().any(|spec| spec.name == known.name)
                });
                provision.snaps.extend(step.install.iter().cloned());
                self.world.units_of(app).iter().map(|unit| unit.machine.clone()).collect()
            }
        };
        for machine in &machines {
            if !step.install.is_empty() {
                self.set_up_snaps(machine, &step.install)?;
            }
            let of = self.world.machines.get_mut(machine).context("no such machine")?;
            for name in &step.remove {
                ensure!(of.snapd.snaps.remove(name).is_some(), "machine {machine} has no snap {name}");
            }
        }
        if !step.remove.is_empty() {
            self.say(format!("machines {} lose {}", machines.join(", "), step.remove.join(", ")));
        }
        Ok(())
    }

    pub(super) fn arch_step(&mut self, step: &MachinesAre) -> Result<()> {
        let arch = step.is.as_deref().context("`is` says which architecture")?;
        for machine in self.machines_named(step.machine.as_deref(), step.unit.as_ref())? {
            self.world.set_arch(&machine, arch).map_err(anyhow::Error::msg)?;
            self.say(format!("machine {machine} is {arch}"));
        }
        Ok(())
    }

    pub(super) fn snapd_version_step(&mut self, step: &MachinesAre) -> Result<()> {
        let version = step.is.as_deref().context("`is` says which version")?;
        for machine in self.machines_named(step.machine.as_deref(), step.unit.as_ref())? {
            let of = self.world.machines.get_mut(&machine).context("no such machine")?;
            version.clone_into(&mut of.snapd.version);
            self.say(format!("machine {machine} has snapd {version}"));
        }
        Ok(())
    }

    pub(super) fn proxy_step(&mut self, step: &MachinesAre) -> Result<()> {
        for machine in self.machines_named(step.machine.as_deref(), step.unit.as_ref())? {
            let of = self.world.machines.get_mut(&machine).context("no such machine")?;
            match &step.is {
                Some(proxy) => of.snapd.config.insert("proxy.store".to_owned(), proxy.as_str().into()),
                None => of.snapd.config.remove("proxy.store"),
            };
            self.say(format!("machine {machine} uses the store {}", step.is.as_deref().unwrap_or("itself")));
        }
        Ok(())
    }

    pub(super) fn snapd_step(&mut self, step: &SnapdStep) -> Result<()> {
        let machines = self.machines_named(step.machine.as_deref(), step.unit.as_ref())?;
        self.set_snapd(&machines, step.is)
    }

    pub(super) fn auto_refresh_step(&mut self, step: &AutoRefreshStep) -> Result<()> {
        let machines = self.machines_named(step.machine.as_deref(), step.unit.as_ref())?;
        self.auto_refresh(&machines, step.in_seconds * 1000, step.every_hours * 3_600_000)
    }

    pub(super) fn run_step(&mut self, step: &RunStep) -> Result<()> {
        for machine in self.machines_named(step.machine.as_deref(), step.unit.as_ref())? {
            let known = self.problems.len();
            let (code, stdout, stderr) = self.admin(&machine, &step.args)?;
            if step.exit != 0 {
                // A command line that the real program refuses may be just what is wanted.
                self.problems.truncate(known);
            }
            let said = format!("{stdout}{stderr}");
            ensure!(code == step.exit, "{} exits {code}: {said}", step.args.join(" "));
            if let Some(part) = &step.says {
                ensure!(said.contains(part), "{} says: {said}", step.args.join(" "));
            }
        }
        Ok(())
    }

    pub(super) fn snap_times_step(&mut self, step: &SnapTimesStep) {
        let times = &mut self.world.snap_times;
        let millis = |seconds: f64| (seconds * 1000.0) as u64;
        times.refresh = step.refresh.map_or(times.refresh, millis);
        times.metadata = step.metadata.map_or(times.metadata, millis);
    }

    pub(super) fn commands_step(&mut self, step: &CommandsStep) -> Result<()> {
        let app = &step.application;
        self.world.application(app).map_err(|e| anyhow!("{e}"))?;
        self.world.provisions.entry(app.clone()).or_default().commands.clone_from(&step.set);
        for unit in self.world.units.values_mut().filter(|u| u.application == *app && u.scripted) {
            unit.owe("config-changed");
        }
        let lines: Vec<String> = step.set.iter().map(|line| line.join(" ")).collect();
        self.say(format!("units of {app} run: {}", lines.join("; ")));
        Ok(())
    }
}
