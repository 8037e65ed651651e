//! Names in scenarios: which unit, which relation, whose databag.

use anyhow::{Context as _, Result, bail};

use crate::sim::Sim;
use crate::world::Owner;

impl Sim {
    /// The unit that `app/0`, `app/leader` or `app@principal/0` means now.
    pub fn unit_named(&self, name: &str) -> Result<String> {
        if let Some((app, principal)) = name.split_once('@') {
            let principal = self.unit_named(principal)?;
            let beside = self.world.subordinates_of(&principal);
            let found = beside.iter().find(|u| u.application == app);
            return found
                .map(|u| u.name.clone())
                .with_context(|| format!("no unit of {app} beside {principal}"));
        }
        if let Some(app) = name.strip_suffix("/leader") {
            return self
                .world
                .leader_of(app)
                .map(str::to_owned)
                .with_context(|| format!("nobody leads {app}"));
        }
        if !self.world.units.contains_key(name) {
            let known: Vec<&str> = self.world.units.keys().map(String::as_str).collect();
            bail!("no unit {name}; there are {}", known.join(", "));
        }
        Ok(name.to_owned())
    }

    /// The relation between endpoints.
    pub fn relation_named(&self, ends: &[String]) -> Result<u32> {
        self.world.find_relation(ends).with_context(|| {
            let known: Vec<&str> = self.world.relations.values().map(|r| r.key.as_str()).collect();
            format!("no relation {}; there are: {}", ends.join(" "), known.join(", "))
        })
    }

    /// The owner of a databag: a unit or an application.
    pub fn owner_named(&self, unit: Option<&str>, app: Option<&str>) -> Result<Owner> {
        match (unit, app) {
            (Some(unit), None) => Ok(Owner::Unit(self.unit_named(unit)?)),
            (None, Some(app)) => Ok(Owner::App(app.to_owned())),
            (_, _) => bail!("a databag belongs either to a `unit` or to an `app`"),
        }
    }

    /// The machine with this id, or that a unit is on.
    pub fn machine_named(&self, machine: Option<&str>, unit: Option<&str>) -> Result<String> {
        match (machine, unit) {
            (Some(machine), None) if self.world.machines.contains_key(machine) => Ok(machine.to_owned()),
            (Some(machine), None) => bail!("no machine {machine}"),
            (None, Some(unit)) => {
                let unit = self.unit_named(unit)?;
                self.world.units.get(&unit).map(|u| u.machine.clone()).context("no such unit")
            }
            (_, _) => bail!("give either a `machine` or a `unit` on it"),
        }
    }
}
