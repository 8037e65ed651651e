//! What admins, machines and networks do: each as a method, each with a line in the timeline.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use fs_err as fs;
use serde_json::Value;

use super::fault::KillBy;
use super::{Event, Sim};
use crate::agent::files;
use crate::charm_files;
use crate::controller::Deploy;
use crate::world::{Charm, HookInfo, HookKind, Life, Owner, Pending, World};

impl Sim {
    pub(crate) fn say(&mut self, text: impl Into<String>) {
        let time = self.world.clock;
        self.tell(Event::Step { time, text: text.into() });
    }

    /// Makes a charm known under a name: a directory or a packed file.
    pub fn add_charm(&mut self, name: &str, path: &Path) -> Result<()> {
        let charm = self.read_charm(path)?;
        self.charms.insert(name.to_owned(), charm);
        Ok(())
    }

    /// Makes a charm known that is like another one but for these files.
    pub fn add_charm_like(
        &mut self,
        name: &str,
        other: &str,
        files: &BTreeMap<String, String>,
    ) -> Result<()> {
        let source = self.charm(other)?.source.with_context(|| format!("{other} has no files"))?;
        let copy = self.read_charm(&source)?.source.context("a charm without files")?;
        for (file, content) in files {
            fs::write(copy.join(file), content)?;
        }
        self.add_charm(name, &copy)
    }

    /// Makes a charm known that has no executable.
    pub fn add_scripted_charm(&mut self, name: &str, charm: Charm) {
        self.charms.insert(name.to_owned(), Charm { scripted: true, ..charm });
    }

    /// Whether a charm of this name is known.
    pub fn has_charm(&self, name: &str) -> bool {
        self.charms.contains_key(name)
    }

    /// A charm's files are copied into the scratch directory first: what is deployed does not change under a run.
    fn read_charm(&self, path: &Path) -> Result<Charm> {
        let store = self.options.scratch.join("charms");
        fs::create_dir_all(&store)?;
        let number = fs::read_dir(&store)?.count();
        let dir = store.join(number.to_string());
        charm_files::store(path, &dir)
    }

    /// `juju deploy`
    pub fn deploy(&mut self, deploy: Deploy) -> Result<Vec<String>> {
        let (app, charm) = (deploy.application.clone(), deploy.charm.name.clone());
        let names = self.world.deploy(deploy).map_err(|e| anyhow!("deploy {app}: {e}"))?;
        let units = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let called = if app == charm { String::new() } else { format!(" (charm {charm})") };
        self.say(format!("deploy {app}{called}{units}"));
        Ok(names)
    }

    /// The charm that a name stands for.
    pub fn charm(&self, name: &str) -> Result<Charm> {
        self.charms.get(name).cloned().with_context(|| format!("no charm {name}: give --charm {name}=PATH"))
    }

    /// `juju integrate`; gives the relation's id.
    pub fn integrate(&mut self, one: &str, two: &str) -> Result<u32> {
        let id = self.world.integrate(one, two).map_err(|e| anyhow!("integrate {one} {two}: {e}"))?;
        self.say(format!("integrate {one} with {two} (relation {id})"));
        Ok(id)
    }

    /// `juju add-unit`
    pub fn add_units(&mut self, app: &str, count: u32, to: &[String]) -> Result<Vec<String>> {
        let names = self.world.add_units(app, count, to).map_err(anyhow::Error::msg)?;
        self.say(format!("add-unit {app}: {}", names.join(", ")));
        Ok(names)
    }

    /// `juju remove-unit`
    pub fn remove_unit(&mut self, unit: &str, force: bool) -> Result<()> {
        ensure!(!(force && self.running.iter().any(|r| r.unit == unit)), "{unit} runs a hook");
        match force {
            true => self.world.remove_unit_by_force(unit),
            false => self.world.remove_unit(unit),
        }
        .map_err(anyhow::Error::msg)?;
        self.say(format!("remove-unit{} {unit}", if force { " --force" } else { "" }));
        Ok(())
    }

    /// `juju remove-relation`
    pub fn remove_relation(&mut self, id: u32, force: bool) -> Result<()> {
        let key = self.world.relations.get(&id).map_or(String::new(), |r| r.key.clone());
        self.world.remove_relation(id, force).map_err(anyhow::Error::msg)?;
        self.world.orphans();
        self.say(format!("remove-relation{} {key}", if force { " --force" } else { "" }));
        Ok(())
    }

    /// `juju remove-application`
    pub fn remove_application(&mut self, app: &str) -> Result<()> {
        self.world.remove_application(app).map_err(anyhow::Error::msg)?;
        self.say(format!("remove-application {app}"));
        Ok(())
    }

    /// `juju config`; null resets.
    pub fn configure(&mut self, app: &str, config: &BTreeMap<String, Value>) -> Result<()> {
        self.world.configure(app, config).map_err(anyhow::Error::msg)?;
        let owing = self.world.has_commands(app);
        for unit in self.world.units.values_mut().filter(|u| u.application == app && u.scripted && owing) {
            unit.owe("config-changed");
        }
        let shown: Vec<String> = config.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.say(format!("config {app} {}", shown.join(" ")));
        Ok(())
    }

    /// `juju refresh`
    pub fn refresh(&mut self, app: &str, charm: Charm, force_units: bool) -> Result<()> {
        self.world.refresh(app, charm, force_units).map_err(anyhow::Error::msg)?;
        self.say(format!("refresh {app}{}", if force_units { " --force-units" } else { "" }));
        Ok(())
    }

    /// The charm in a directory or packed file, for a refresh.
    pub fn charm_at(&self, path: &Path) -> Result<Charm> {
        self.read_charm(path)
    }

    pub(super) fn unpack_charm(&mut self, unit: &str) -> Result<()> {
        let charm_dir = self.paths_of(unit)?.charm(unit);
        let of = self.world.units.get(unit).with_context(|| format!("no unit {unit}"))?;
        let app = self.world.application(&of.application).map_err(anyhow::Error::msg)?;
        let seen = (app.charm.revision, app.charm_modified);
        let endpoints = app.charm.endpoints.keys().cloned().collect();
        let source = app.charm.source.clone().context("a charm without files")?;
        let manifest = files::unpack(&source, &charm_dir, &of.uniter.manifest)?;
        fs::write(charm_dir.join("revision"), format!("{}\n", seen.0))?;
        if let Some(of) = self.world.units.get_mut(unit) {
            of.uniter.charm = Some(seen);
            of.uniter.manifest = manifest;
            of.uniter.endpoints = endpoints;
        }
        Ok(())
    }

    /// New files between two hooks. A unit in error keeps its failed hook, and `upgrade-charm` does not follow.
    pub(super) fn upgrade_unit(&mut self, unit: &str) -> Result<()> {
        self.unpack_charm(unit)?;
        let Some(of) = self.world.units.get_mut(unit) else { return Ok(()) };
        let in_error = of.in_error();
        if !in_error {
            of.uniter.pending = Pending::Queued(HookInfo::plain(HookKind::UpgradeCharm));
        }
        let kept = if in_error { ", and retries its failed hook with them" } else { "" };
        self.note(format!("{unit} has new charm files{kept}"));
        Ok(())
    }

    pub(super) fn finish(&mut self, unit: &str) {
        self.world.finish_unit(unit);
        self.note(format!("{unit} is gone"));
    }

    /// `juju resolved`; without `retry` the failed hook counts as done.
    pub fn resolve(&mut self, unit: &str, retry: bool) -> Result<()> {
        let of = self.world.units.get(unit).with_context(|| format!("no unit {unit}"))?;
        let Pending::Failed { hook, .. } = of.uniter.pending.clone() else {
            bail!("{unit} is not in an error state")
        };
        if retry {
            self.say(format!("resolved {unit}"));
            self.run_hook(unit, hook)?;
        } else {
            self.say(format!("resolved --no-retry {unit}: {} counts as done", hook.name()));
            self.world.hook_done(unit, &hook);
        }
        Ok(())
    }

    /// Time passes: leases run out, retries and `update-status` become due.
    pub fn advance(&mut self, millis: u64) -> Result<()> {
        self.move_through_timers(millis)?;
        self.say(format!("{} s pass", millis as f64 / 1000.0));
        self.note_update_status();
        Ok(())
    }

    /// `update-status` is due now; it runs once the unit is idle.
    pub fn update_status(&mut self, units: &[String]) -> Result<()> {
        for name in units {
            let unit = self.world.units.get_mut(name).with_context(|| format!("no unit {name}"))?;
            unit.uniter.update_status_due = true;
            if unit.scripted
                && self.world.provisions.get(&unit.application).is_some_and(|p| !p.commands.is_empty())
            {
                unit.owe("update-status");
            }
        }
        self.say(format!("update-status is due for {}", units.join(", ")));
        Ok(())
    }

    /// Moves the lease to a unit; the promise of an earlier `is-leader` is kept by moving the clock.
    pub fn lead(&mut self, unit: &str) -> Result<()> {
        let waited = self.world.move_lease(unit).map_err(anyhow::Error::msg)?;
        self.write_clocks()?;
        let waited = if waited.is_some() { ", after the 30 s that is-leader had promised" } else { "" };
        self.say(format!("{unit} leads{waited}"));
        Ok(())
    }

    pub(super) fn lose_leadership(&mut self, unit: &str, to: Option<&str>) -> Result<()> {
        if !self.world.is_leader(unit) {
            return Ok(());
        }
        let app = World::app_of(unit).to_owned();
        let others: Vec<String> = self
            .world
            .units
            .values()
            .filter(|u| u.application == app && u.name != unit && u.life == Life::Alive)
            .map(|u| u.name.clone())
            .collect();
        let to = match to {
            Some(to) => Some(to.to_owned()),
            None => self.world.rng.pick(others),
        };
        match to {
            Some(to) => self.lead(&to),
            None => {
                let now = self.world.clock;
                let application = self.world.applications.get_mut(&app).context("no such application")?;
                if let Some(end) = application.lease.promised_until.filter(|end| *end > now) {
                    self.world.clock = end;
                }
                application.lease = crate::world::Lease::default();
                self.write_clocks()?;
                self.say(format!("nobody leads {app}"));
                Ok(())
            }
        }
    }

    /// The machine loses power: it runs nothing and renews no lease until it is started.
    pub fn kill_machine(&mut self, machine: &str) -> Result<()> {
        self.world.machines.get_mut(machine).with_context(|| format!("no machine {machine}"))?.up = false;
        for running in self.running.iter_mut().filter(|running| running.machine == machine) {
            running.kill = Some(KillBy::Machine);
        }
        self.say(format!("machine {machine} is dead"));
        Ok(())
    }

    pub(super) fn kill_machine_of(&mut self, unit: &str) -> Result<()> {
        let machine = self.world.units.get(unit).map(|u| u.machine.clone()).context("no such unit")?;
        self.kill_machine(&machine)
    }

    /// The machine is started again, or reboots: every started unit is owed a `start` hook.
    pub fn reboot(&mut self, machine: &str) -> Result<()> {
        ensure!(!self.running.iter().any(|r| r.machine == machine), "machine {machine} runs a hook");
        let of = self.world.machines.get_mut(machine).with_context(|| format!("no machine {machine}"))?;
        of.up = true;
        of.boots += 1;
        of.transient.clear();
        self.world.resume_changes(machine);
        let units: Vec<String> =
            self.world.units.values().filter(|u| u.machine == machine).map(|u| u.name.clone()).collect();
        self.say(format!("machine {machine} boots"));
        for name in units {
            if let Some(unit) = self.world.units.get_mut(&name) {
                unit.uniter.reboot_start = unit.uniter.started && !unit.scripted;
            }
            self.restart_agent(&name);
        }
        let run = self.paths(machine).root.join("run");
        if run.exists() {
            fs::remove_dir_all(run)?;
        }
        Ok(())
    }

    pub(super) fn reboot_of(&mut self, unit: &str) -> Result<()> {
        let machine = self.world.units.get(unit).map(|u| u.machine.clone()).context("no such unit")?;
        self.reboot(&machine)
    }

    /// The unit agent starts anew: what it only had in memory is gone. If a hook runs, it dies with the agent.
    pub fn restart_agent(&mut self, unit: &str) {
        if let Some(running) = self.running.iter_mut().find(|running| running.unit == unit) {
            running.kill = Some(KillBy::Agent);
            return;
        }
        let Some(of) = self.world.units.get_mut(unit) else { return };
        if of.scripted {
            return;
        }
        of.uniter.up = true;
        of.uniter.cache.clear();
        for state in of.uniter.relations.values_mut() {
            state.remote_known = false;
        }
        let gone: Vec<u32> =
            of.uniter.relations.keys().filter(|id| !self.world.relations.contains_key(id)).copied().collect();
        for id in gone {
            of.uniter.relations.remove(&id);
        }
        self.note(format!("the agent of {unit} starts anew"));
    }

    /// A machine gets another address.
    pub fn change_address(&mut self, machine: &str, address: &str) -> Result<()> {
        let of = self.world.machines.get_mut(machine).with_context(|| format!("no machine {machine}"))?;
        of.address = address.to_owned();
        let scripted = self.world.units.values().filter(|u| u.scripted && u.machine == machine);
        for unit in scripted.map(|u| u.name.clone()).collect::<Vec<_>>() {
            self.world.refresh_address_keys(&unit);
        }
        self.say(format!("machine {machine} now has the address {address}"));
        Ok(())
    }

    /// A scripted unit, or an application with one, changes its databag; committed at once. Empty values remove keys.
    pub fn set_databag(
        &mut self,
        relation: u32,
        owner: &Owner,
        changes: &BTreeMap<String, String>,
    ) -> Result<()> {
        let scripted = match owner {
            Owner::Unit(unit) => self.world.units.get(unit).is_some_and(|u| u.scripted),
            Owner::App(app) => self.world.units.values().any(|u| u.application == *app && u.scripted),
        };
        ensure!(scripted, "{owner} is not scripted: only its charm writes its databags");
        let of =
            self.world.relations.get_mut(&relation).with_context(|| format!("no relation {relation}"))?;
        let key = of.key.clone();
        let bag = of.bag_mut(owner).with_context(|| format!("{owner} has no databag in {key}"))?;
        let changed = World::write_bag(bag, changes);
        let shown = if changed.is_empty() { "nothing new".to_owned() } else { changed.join(", ") };
        self.say(format!("databag of {owner} in {key}: {shown}"));
        Ok(())
    }
}
