//! Carrying out steps.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::Value;

use super::{
    ActionStep, AddUnit, DatabagStep, DeployStep, ExecStep, ForEachCall, OneOrMany, RefreshStep, SettleStep,
    ShowStep, ShowValue, Step,
};
use crate::agent::files::delete_matching;
use crate::controller::Deploy;
use crate::sim::{Outcome, Settle, Sim};

impl Step {
    /// The word for it in a scenario.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Deploy(_) => "deploy",
            Self::Integrate(_) => "integrate",
            Self::AddUnit(_) => "add-unit",
            Self::RemoveUnit(_) => "remove-unit",
            Self::RemoveRelation(_) => "remove-relation",
            Self::RemoveApplication(_) => "remove-application",
            Self::Config(_) => "config",
            Self::Refresh(_) => "refresh",
            Self::Databag(_) => "databag",
            Self::ScriptedUnits(_) => "scripted-units",
            Self::Settle(_) => "settle",
            Self::Hook(_) => "hook",
            Self::Action(_) => "action",
            Self::RunAdvised(_) => "run-advised",
            Self::Exec(_) => "exec",
            Self::Leader(_) => "leader",
            Self::Fault(_) => "fault",
            Self::Resolve(_) => "resolve",
            Self::Advance(_) => "advance",
            Self::UpdateStatus(_) => "update-status",
            Self::Reboot(_) => "reboot",
            Self::MachineDead(_) => "machine-dead",
            Self::AgentRestart(_) => "agent-restart",
            Self::AddressChange(_) => "address-change",
            Self::DeleteAgentFiles(_) => "delete-agent-files",
            Self::WriteAgentFile(_) => "write-agent-file",
            Self::MachineFile(_) => "machine-file",
            Self::Program(_) => "program",
            Self::Store(_) => "store",
            Self::Snaps(_) => "snaps",
            Self::Arch(_) => "arch",
            Self::SnapdVersion(_) => "snapd-version",
            Self::Snapd(_) => "snapd",
            Self::Proxy(_) => "proxy",
            Self::Kube(_) => "kube",
            Self::AutoRefresh(_) => "auto-refresh",
            Self::Run(_) => "run",
            Self::SnapTimes(_) => "snap-times",
            Self::Commands(_) => "commands",
            Self::Timers(_) => "timers",
            Self::Live(_) => "live",
            Self::ForEachCall(_) => "for-each-call",
            Self::Repeat(_) => "repeat",
            Self::Expect(_) => "expect",
            Self::Mark(_) => "mark",
            Self::Show(_) => "show",
            Self::Say(_) => "say",
        }
    }
}

impl Sim {
    /// Carries out one step. An error is a failure of the scenario, also where a charm did what no charm does.
    pub fn step(&mut self, step: &Step) -> Result<()> {
        let known = self.problems.len();
        self.carry_out(step)?;
        match self.problems.get(known..) {
            Some([first, ..]) => bail!("a call that no correct charm makes: {first}{}", self.recent(6)),
            Some([]) | None => Ok(()),
        }
    }

    fn carry_out(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Deploy(step) => self.deploy_step(step),
            Step::Integrate([one, two]) => self.integrate(one, two).map(|_| ()),
            Step::AddUnit(step) => self.add_unit_step(step),
            Step::ScriptedUnits(step) => self.scripted_units(step),
            Step::RemoveUnit(step) => {
                let unit = self.unit_named(&step.unit)?;
                self.remove_unit(&unit, step.force)
            }
            Step::RemoveRelation(step) => {
                let id = self.relation_named(&step.relation)?;
                self.remove_relation(id, step.force)
            }
            Step::RemoveApplication(step) => self.remove_application(&step.application),
            Step::Config(step) => self.configure(&step.application, &step.set),
            Step::Refresh(step) => self.refresh_step(step),
            Step::Databag(step) => self.databag_step(step),
            Step::Settle(step) => self.settle_step(step),
            Step::Hook(step) => {
                let unit = self.unit_named(&step.unit)?;
                if self.next_hook(&unit)? {
                    Ok(())
                } else {
                    bail!("{unit} has no hook to run{}", self.recent(6))
                }
            }
            Step::Action(step) => self.action_step(step),
            Step::RunAdvised(step) => self.advised_step(step),
            Step::Exec(step) => self.exec_step(step),
            Step::Leader(step) => {
                let unit = self.unit_named(&step.unit)?;
                self.lead(&unit)
            }
            Step::Fault(fault) => {
                let mut fault = fault.as_ref().clone();
                fault.unit = self.unit_named(&fault.unit)?;
                fault.to = fault.to.map(|to| self.unit_named(&to)).transpose()?;
                self.arm(fault);
                Ok(())
            }
            Step::Resolve(step) => {
                let unit = self.unit_named(&step.unit)?;
                self.resolve(&unit, step.retry)
            }
            Step::Advance(step) => self.advance(step.millis()),
            Step::Live(step) => self.live(step.millis()),
            Step::Store(step) => self.store_step(step),
            Step::Snaps(step) => self.snaps_step(step),
            Step::Arch(step) => self.arch_step(step),
            Step::SnapdVersion(step) => self.snapd_version_step(step),
            Step::Snapd(step) => self.snapd_step(step),
            Step::Proxy(step) => self.proxy_step(step),
            Step::Kube(step) => self.kube_step(step),
            Step::AutoRefresh(step) => self.auto_refresh_step(step),
            Step::Run(step) => self.run_step(step),
            Step::SnapTimes(step) => {
                self.snap_times_step(step);
                Ok(())
            }
            Step::Commands(step) => self.commands_step(step),
            Step::Timers(fire) => {
                self.world.timers = *fire;
                Ok(())
            }
            Step::UpdateStatus(step) => {
                let units = self.units_named(&step.units)?;
                self.update_status(&units)
            }
            Step::Reboot(step) => {
                let machine = self.machine_named(step.machine.as_deref(), step.unit.as_deref())?;
                self.reboot(&machine)
            }
            Step::MachineDead(step) => {
                let machine = self.machine_named(step.machine.as_deref(), step.unit.as_deref())?;
                self.kill_machine(&machine)
            }
            Step::AgentRestart(step) => {
                let unit = self.unit_named(&step.unit)?;
                self.restart_agent(&unit);
                Ok(())
            }
            Step::AddressChange(step) => {
                let machine = self.machine_named(step.machine.as_deref(), step.unit.as_deref())?;
                self.change_address(&machine, &step.address)
            }
            Step::DeleteAgentFiles(step) => {
                let unit = self.unit_named(&step.unit)?;
                let deleted = delete_matching(&self.paths_of(&unit)?.agent(&unit), &step.glob)?;
                self.say(format!("{unit} loses the files {}", deleted.join(", ")));
                Ok(())
            }
            Step::MachineFile(step) => {
                let machine = self.machine_named(None, Some(&step.unit))?;
                let path = self.paths(&machine).root.join(step.path.trim_start_matches('/'));
                let done = match &step.content {
                    None => fs_err::remove_file(&path),
                    Some(text) => {
                        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
                        fs_err::write(&path, text)
                    }
                };
                let what = if step.content.is_some() { "has" } else { "loses" };
                self.say(format!("machine {machine} {what} the file {}", step.path));
                done.map_err(Into::into)
            }
            Step::WriteAgentFile(step) => {
                let unit = self.unit_named(&step.unit)?;
                let path = self.paths_of(&unit)?.agent(&unit).join(&step.path);
                if let Some(dir) = path.parent() {
                    fs_err::create_dir_all(dir)?;
                }
                fs_err::write(path, &step.content)?;
                self.say(format!("{unit} gets the file {}", step.path));
                Ok(())
            }
            Step::Program(step) => {
                let machine = self.machine_named(step.machine.as_deref(), step.unit.as_deref())?;
                self.install_program(&machine, &step.name, step.answer.clone())
            }
            Step::ForEachCall(step) => self.for_each_call_step(step),
            Step::Repeat(step) => {
                for _ in 0..step.times {
                    for inner in &step.r#do {
                        self.step(inner).with_context(|| inner.name().to_owned())?;
                    }
                }
                Ok(())
            }
            Step::Expect(all) => all.iter().try_for_each(|expect| self.expect(expect)),
            Step::Mark(name) => {
                self.marks.insert(name.clone(), self.events.len());
                self.mark_times.insert(name.clone(), self.world.clock);
                Ok(())
            }
            Step::Show(step) => self.show_step(step),
            Step::Say(text) => {
                self.say(text.clone());
                Ok(())
            }
        }
    }

    fn deploy_step(&mut self, step: &DeployStep) -> Result<()> {
        let charm = self.charm(&step.charm)?;
        let units = step.units.unwrap_or(if charm.subordinate { 0 } else { 1 });
        let application = step.application.clone().unwrap_or_else(|| step.charm.clone());
        // Snaps that were set up for the application before it is deployed stay.
        let provision = self.world.provisions.entry(application.clone()).or_default();
        if step.arch.is_some() {
            provision.arch.clone_from(&step.arch);
        }
        provision.snaps.extend(step.snaps.iter().cloned());
        provision.commands.extend(step.commands.iter().cloned());
        provision.kubeconfigs.extend(step.kubeconfig.iter().map(|access| (None, *access)));
        let deploy = Deploy { charm, application, units, to: step.to.clone(), config: step.config.clone() };
        self.deploy(deploy).map(|_| ())
    }

    fn add_unit_step(&mut self, step: &AddUnit) -> Result<()> {
        let before = self.world.provisions.get(&step.application).cloned();
        if step.arch.is_some() {
            self.world.provisions.entry(step.application.clone()).or_default().arch.clone_from(&step.arch);
        }
        let made = self.add_units(&step.application, step.units, &step.to);
        match before {
            Some(before) => self.world.provisions.insert(step.application.clone(), before),
            None => self.world.provisions.remove(&step.application),
        };
        made.map(|_| ())
    }

    fn scripted_units(&mut self, step: &AddUnit) -> Result<()> {
        let mut names = Vec::new();
        if step.beside.is_empty() {
            names =
                self.world.add_units(&step.application, step.units, &step.to).map_err(anyhow::Error::msg)?;
        }
        for principal in &step.beside {
            let principal = self.unit_named(principal)?;
            let machine = self.machine_named(None, Some(&principal))?;
            let made = self.world.create_unit(&step.application, &machine, Some(&principal));
            names.push(made.map_err(anyhow::Error::msg)?);
        }
        for name in &names {
            self.world.script_unit(name);
        }
        self.say(format!("scripted units {}", names.join(", ")));
        Ok(())
    }

    fn refresh_step(&mut self, step: &RefreshStep) -> Result<()> {
        let charm = match (&step.charm, &step.path) {
            (Some(name), None) => self.charm(name)?,
            (None, Some(path)) => self.charm_at(path)?,
            (_, _) => bail!("give either a `charm` or a `path`"),
        };
        self.refresh(&step.application, charm, step.force_units)
    }

    fn databag_step(&mut self, step: &DatabagStep) -> Result<()> {
        let relation = self.relation_named(&step.relation)?;
        let owner = self.owner_named(step.unit.as_deref(), step.app.as_deref())?;
        let mut changes = BTreeMap::new();
        for (key, value) in &step.set {
            let text = match value {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
            };
            changes.insert(key.clone(), text);
        }
        for (key, path) in &step.file {
            changes.insert(key.clone(), fs_err::read_to_string(path)?);
        }
        self.set_databag(relation, &owner, &changes)
    }

    fn settle_step(&mut self, step: &SettleStep) -> Result<()> {
        let settle = Settle { hooks: step.hooks, retries: step.retries.unwrap_or(Settle::default().retries) };
        self.settle(settle).map(|_| ()).map_err(|e| anyhow!("{e:#}{}", self.recent(12)))
    }

    fn action_step(&mut self, step: &ActionStep) -> Result<()> {
        let unit = self.unit_named(&step.unit)?;
        let id = self.run_action(&unit, &step.name, step.params.clone())?;
        let name = step.r#as.clone().unwrap_or_else(|| step.name.clone());
        self.kept.insert(name, id);
        Ok(())
    }

    fn exec_step(&mut self, step: &ExecStep) -> Result<()> {
        let unit = self.unit_named(&step.unit)?;
        match (self.exec(&unit, &step.args)?, step.fails) {
            (Outcome::Done | Outcome::Missing, false) | (Outcome::Failed(_) | Outcome::Killed(_), true) => {
                Ok(())
            }
            (outcome, _) => bail!("the command line ended as {outcome:?}{}", self.recent(2)),
        }
    }

    fn for_each_call_step(&mut self, step: &ForEachCall) -> Result<()> {
        let unit = self.unit_named(&step.unit)?;
        let then = |sim: &mut Sim| {
            step.r#do.iter().try_for_each(|inner| sim.step(inner).with_context(|| inner.name().to_owned()))
        };
        let hook = step.hook.as_deref();
        let (calls, word) = match step.within {
            false => (self.for_each_call(&unit, hook, step.by, then)?, "at"),
            true => (self.for_each_call_within(&unit, hook, step.by, then)?, "in"),
        };
        self.say(format!("the same again {calls} times, {unit} killed {word} each of its calls in turn"));
        Ok(())
    }

    fn units_named(&self, units: &OneOrMany) -> Result<Vec<String>> {
        match units {
            OneOrMany::One(all) if all == "all" => {
                let acts = |u: &&crate::world::Unit| !u.scripted || self.world.has_commands(&u.name);
                Ok(self.world.units.values().filter(acts).map(|u| u.name.clone()).collect())
            }
            OneOrMany::One(name) => Ok(vec![self.unit_named(name)?]),
            OneOrMany::Many(names) => names.iter().map(|name| self.unit_named(name)).collect(),
        }
    }

    fn show_step(&mut self, step: &ShowStep) -> Result<()> {
        let mut text = String::new();
        if step.status {
            text.push_str(&crate::show::status(&self.world));
        }
        for ends in &step.databags {
            let id = self.relation_named(ends)?;
            text.push_str(&crate::show::databags(&self.world, id));
        }
        for value in &step.values {
            text.push_str(&self.shown_value(value)?);
        }
        self.say(text);
        Ok(())
    }

    fn shown_value(&self, value: &ShowValue) -> Result<String> {
        let relation = self.relation_named(&value.relation)?;
        let owner = self.owner_named(value.unit.as_deref(), value.app.as_deref())?;
        let bag = self.world.relations.get(&relation).and_then(|r| r.bag(&owner));
        let text = bag.and_then(|bag| bag.values.get(&value.key));
        let found = match text.map(|text| serde_json::from_str::<Value>(text)) {
            Some(Ok(json)) => crate::show::places(&json, &value.at),
            Some(Err(_)) | None => Vec::new(),
        };
        let lines: String = found.iter().map(|line| format!("  {line}\n")).collect();
        let lines = if lines.is_empty() { "  nothing\n".to_owned() } else { lines };
        Ok(format!("{}\n{lines}", value.title))
    }

    /// The last lines of the timeline, for messages.
    pub(crate) fn recent(&self, lines: usize) -> String {
        let skip = self.events.len().saturating_sub(lines);
        let text = crate::show::story(self.events.get(skip..).unwrap_or_default(), false, false);
        format!("\nwhat happened last:\n{text}")
    }
}
