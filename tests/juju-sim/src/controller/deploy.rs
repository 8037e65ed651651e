//! Applications, units, machines, config and refresh.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Refused;
use crate::charm::metadata::is_charm_name;
use crate::world::{
    Application, Charm, EndpointDef, Lease, Life, Machine, Pending, Role, StatusInfo, StatusRecord, Unit,
    Uniter, World,
};

/// What `juju deploy` is told.
#[derive(Debug, Clone)]
pub struct Deploy {
    /// The charm.
    pub charm: Charm,
    /// Name of the application.
    pub application: String,
    /// How many units; none for a subordinate.
    pub units: u32,
    /// Machines for the units; where they run out, new ones are made.
    pub to: Vec<String>,
    /// Options.
    pub config: BTreeMap<String, Value>,
}

impl World {
    /// `juju deploy`; gives the names of the new units.
    pub fn deploy(&mut self, deploy: Deploy) -> Result<Vec<String>, Refused> {
        let Deploy { charm, application: name, units, to, config } = deploy;
        // The rule for names of applications is the one for names of charms (juju/names).
        if !is_charm_name(&name) {
            return Err(format!("invalid application name \"{name}\""));
        }
        if self.applications.contains_key(&name) {
            return Err(format!("cannot add application \"{name}\": application already exists"));
        }
        if charm.subordinate && units > 0 {
            return Err("cannot use --num-units with a subordinate application".to_owned());
        }
        let unmet =
            charm.assumes.as_ref().map(|assumes| assumes.unmet(&self.juju.to_string())).unwrap_or_default();
        if !unmet.is_empty() {
            return Err(unmet.join("\n"));
        }
        let settings = check_config(&charm, &config)?;
        let peers: Vec<(String, EndpointDef)> = endpoints_of(&charm, Role::Peer);
        self.applications.insert(
            name.clone(),
            Application {
                name: name.clone(),
                charm,
                charm_modified: 0,
                force_units: false,
                life: Life::Alive,
                settings,
                trust: false,
                next_unit: 0,
                lease: Lease::default(),
                status: None,
                status_history: Vec::new(),
                leader_settings: crate::world::Bag::default(),
            },
        );
        for (endpoint, def) in peers {
            self.add_peer_relation(&name, &endpoint, &def);
        }
        self.add_units(&name, units, &to)
    }

    /// `juju add-unit`; gives the names of the new units.
    pub fn add_units(&mut self, app: &str, count: u32, to: &[String]) -> Result<Vec<String>, Refused> {
        let application = self.application(app)?;
        if application.life == Life::Dying {
            return Err(format!("cannot add unit to application \"{app}\": application is not alive"));
        }
        if application.charm.subordinate && count > 0 {
            return Err(format!("cannot add unit to application \"{app}\": application is a subordinate"));
        }
        let mut names = Vec::new();
        for index in 0..count as usize {
            let machine = match to.get(index) {
                Some(id) if self.machines.contains_key(id) => id.clone(),
                Some(id) => {
                    return Err(format!("cannot add unit to application \"{app}\": machine {id} not found"));
                }
                None => self.add_machine(),
            };
            names.push(self.create_unit(app, &machine, None)?);
        }
        Ok(names)
    }

    /// A new machine; gives its id.
    pub fn add_machine(&mut self) -> String {
        let number = self.next_machine;
        let id = number.to_string();
        self.next_machine += 1;
        self.machines.insert(id.clone(), Machine::new(id.clone(), number));
        id
    }

    /// A unit on a machine, beside a principal if it is a subordinate.
    pub(crate) fn create_unit(
        &mut self,
        app: &str,
        machine: &str,
        principal: Option<&str>,
    ) -> Result<String, Refused> {
        let now = self.clock;
        let interval = self.update_status_interval;
        let next_update_status = now.plus(self.jitter(interval));
        let application = self.applications.get_mut(app).ok_or_else(|| not_found(app))?;
        let number = application.next_unit;
        application.next_unit += 1;
        let name = format!("{app}/{number}");
        let scripted = application.charm.scripted;
        let workload = StatusInfo::new("waiting", "waiting for machine", now);
        let unit = Unit {
            name: name.clone(),
            application: app.to_owned(),
            number,
            machine: machine.to_owned(),
            principal: principal.map(str::to_owned),
            scripted,
            life: Life::Alive,
            history: vec![StatusRecord { kind: "workload".to_owned(), info: workload.clone() }],
            workload,
            agent: StatusInfo::new("allocating", "", now),
            version: None,
            state: BTreeMap::new(),
            ports: BTreeSet::new(),
            owed: Vec::new(),
            uniter: Uniter {
                up: true,
                charm: None,
                installed: false,
                started: false,
                stopped: false,
                removed: false,
                leader: false,
                leader_settings: None,
                config: None,
                pending: Pending::None,
                relations: BTreeMap::new(),
                cache: BTreeMap::new(),
                reboot_start: false,
                update_status_due: false,
                next_update_status,
                status_set: false,
                endpoints: BTreeSet::new(),
                manifest: BTreeSet::new(),
            },
        };
        self.units.insert(name.clone(), unit);
        if scripted {
            self.script_unit(&name);
        }
        if principal.is_none() {
            self.provide(app, &name, machine)?;
        }
        Ok(name)
    }

    /// What the application's machines and scripted units are given.
    fn provide(&mut self, app: &str, unit: &str, machine: &str) -> Result<(), Refused> {
        let Some(provision) = self.provisions.get(app).cloned() else { return Ok(()) };
        if let Some(arch) = &provision.arch {
            self.set_arch(machine, arch)?;
        }
        for spec in &provision.snaps {
            let there = self.machines.get(machine).is_some_and(|m| m.snapd.snaps.contains_key(&spec.name));
            if !there {
                self.set_up_snap(machine, spec)?;
            }
        }
        for (path, access) in &provision.kubeconfigs {
            self.set_kubeconfig(machine, path.as_deref(), *access);
        }
        if let Some(unit) = self.units.get_mut(unit).filter(|u| u.scripted && !provision.commands.is_empty())
        {
            unit.owe("start");
        }
        Ok(())
    }

    /// Makes a unit that only a scenario moves: it is at rest at once, and in scope wherever it can be.
    pub fn script_unit(&mut self, name: &str) {
        let now = self.clock;
        if let Some(unit) = self.units.get_mut(name) {
            unit.scripted = true;
            unit.set_workload("active", "", now);
            unit.set_agent("idle", "", now);
        }
        self.enter_scopes(name);
    }

    /// A span of +-20 % around another, as Juju's update-status timer takes it.
    pub(crate) fn jitter(&mut self, millis: u64) -> u64 {
        let width = (millis / 5 * 2) as usize;
        millis - millis / 5 + self.rng.below(width + 1) as u64
    }

    /// `juju config`; a value of null resets the option.
    pub fn configure(&mut self, app: &str, config: &BTreeMap<String, Value>) -> Result<(), Refused> {
        let given: BTreeMap<String, Value> = config
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let application = self.application(app)?;
        let checked = check_config(&application.charm, &given)?;
        for name in config.keys() {
            if !application.charm.config.options.contains_key(name) {
                return Err(format!("unknown option \"{name}\""));
            }
        }
        let application = self.applications.get_mut(app).ok_or_else(|| not_found(app))?;
        application.settings.retain(|name, _| !config.contains_key(name));
        application.settings.extend(checked);
        Ok(())
    }

    /// `juju refresh`.
    pub fn refresh(&mut self, app: &str, mut charm: Charm, force_units: bool) -> Result<(), Refused> {
        let old = &self.application(app)?.charm;
        if old.name != charm.name {
            return Err(format!(
                "cannot refresh \"{app}\": charm \"{}\" is not \"{}\"",
                charm.name, old.name
            ));
        }
        if old.subordinate != charm.subordinate {
            return Err("cannot change an application's subordinacy".to_owned());
        }
        for relation in self.relations.values() {
            let Some(end) = relation.end_of(app).filter(|end| !end.implicit) else { continue };
            let kept = charm.endpoints.get(&end.name);
            if !kept.is_some_and(|def| def.role == end.role && def.interface == end.interface) {
                return Err(format!("would break relation \"{}\"", relation.key));
            }
        }
        charm.revision = old.revision + 1;
        let settings = self.application(app)?.settings.clone();
        // Options that the new charm lacks, or has with another type, fall back to defaults.
        let settings = settings
            .into_iter()
            .filter(|(name, value)| {
                check_config(&charm, &BTreeMap::from([(name.clone(), value.clone())])).is_ok()
            })
            .collect();
        let new_peers: Vec<(String, EndpointDef)> = endpoints_of(&charm, Role::Peer)
            .into_iter()
            .filter(|(name, _)| {
                !self
                    .relations
                    .values()
                    .any(|r| r.is_peer() && r.end_of(app).is_some_and(|end| end.name == *name))
            })
            .collect();
        let application = self.applications.get_mut(app).ok_or_else(|| not_found(app))?;
        application.charm = charm;
        application.settings = settings;
        application.force_units = force_units;
        for (endpoint, def) in new_peers {
            self.add_peer_relation(app, &endpoint, &def);
        }
        let names: Vec<String> =
            self.units.values().filter(|u| u.application == app).map(|u| u.name.clone()).collect();
        for name in names {
            if self.units.get(&name).is_some_and(|u| u.scripted) {
                self.enter_scopes(&name);
            }
        }
        Ok(())
    }

    /// An application by name.
    pub fn application(&self, app: &str) -> Result<&Application, Refused> {
        self.applications.get(app).ok_or_else(|| not_found(app))
    }
}

fn not_found(app: &str) -> Refused {
    format!("application \"{app}\" not found")
}

fn endpoints_of(charm: &Charm, role: Role) -> Vec<(String, EndpointDef)> {
    charm.endpoints.iter().filter(|(_, def)| def.role == role).map(|(n, d)| (n.clone(), d.clone())).collect()
}

/// Options as they are stored: texts are read as `juju config NAME=TEXT` reads them.
pub fn check_config(
    charm: &Charm,
    given: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Refused> {
    let mut out = BTreeMap::new();
    for (name, value) in given {
        let parsed = match value {
            Value::String(text) => charm.config.parse_setting(name, text)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                charm.config.validate_setting(name, value)?
            }
        };
        out.insert(name.clone(), parsed);
    }
    Ok(out)
}
