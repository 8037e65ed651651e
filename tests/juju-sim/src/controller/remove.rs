//! Removal of units, relations and applications.

use super::Refused;
use crate::world::{Life, Scope, World};

impl World {
    /// `juju remove-unit`: the unit is marked as departing in all its relations at once.
    pub fn remove_unit(&mut self, name: &str) -> Result<(), Refused> {
        let unit = self.units.get(name).ok_or_else(|| format!("unit \"{name}\" does not exist"))?;
        if unit.principal.is_some() {
            return Err(format!("cannot remove unit \"{name}\": unit is a subordinate"));
        }
        self.destroy_unit(name);
        Ok(())
    }

    /// `juju remove-unit --force`: without hooks, as for a machine that will not come back.
    pub fn remove_unit_by_force(&mut self, name: &str) -> Result<(), Refused> {
        self.remove_unit(name)?;
        let subordinates: Vec<String> = self.subordinates_of(name).iter().map(|u| u.name.clone()).collect();
        for unit in subordinates.iter().map(String::as_str).chain([name]) {
            if self.units.contains_key(unit) {
                self.finish_unit(unit);
            }
        }
        Ok(())
    }

    /// The unit becomes dying; so do the subordinates beside it.
    pub(crate) fn destroy_unit(&mut self, name: &str) {
        let Some(unit) = self.units.get_mut(name) else { return };
        if unit.life == Life::Dying {
            return;
        }
        unit.life = Life::Dying;
        let scripted = unit.scripted;
        let untouched = !unit.uniter.installed && unit.uniter.pending.hook().is_none();
        for relation in self.relations.values_mut() {
            if let Some(state) = relation.units.get_mut(name).filter(|state| state.scope == Scope::In) {
                state.scope = Scope::Departing;
            }
        }
        for subordinate in self.subordinates_of(name).iter().map(|u| u.name.clone()).collect::<Vec<_>>() {
            self.destroy_unit(&subordinate);
        }
        if scripted || untouched {
            self.finish_unit(name);
        }
    }

    /// The unit's agent is through, or has nothing to do: the unit leaves all scopes and, once no subordinate is left
    /// beside it, the model.
    pub fn finish_unit(&mut self, name: &str) {
        let relations: Vec<u32> =
            self.relations.values().filter(|r| r.units.contains_key(name)).map(|r| r.id).collect();
        for id in relations {
            self.leave_scope(id, name);
        }
        if !self.subordinates_of(name).is_empty() {
            return;
        }
        let Some(unit) = self.units.remove(name) else { return };
        self.tend_leases();
        if let Some(principal) = &unit.principal
            && self
                .units
                .get(principal)
                .is_some_and(|p| p.life == Life::Dying && (p.scripted || p.uniter.removed))
        {
            self.finish_unit(principal);
        }
        if unit.principal.is_none() && !self.units.values().any(|u| u.machine == unit.machine) {
            self.machines.remove(&unit.machine);
        }
        self.reap_application(&unit.application);
    }

    fn reap_application(&mut self, app: &str) {
        let dying = self.applications.get(app).is_some_and(|a| a.life == Life::Dying);
        if !dying || self.units.values().any(|u| u.application == app) {
            return;
        }
        let peers: Vec<u32> = self
            .relations
            .values()
            .filter(|r| r.is_peer() && r.end_of(app).is_some())
            .map(|r| r.id)
            .collect();
        for id in peers {
            self.relations.remove(&id);
        }
        if !self.relations.values().any(|r| r.end_of(app).is_some()) {
            self.applications.remove(app);
        }
    }

    /// `juju remove-relation`, with `force` as if the controller forgot it at once.
    pub fn remove_relation(&mut self, id: u32, force: bool) -> Result<(), Refused> {
        let relation = self.relations.get_mut(&id).ok_or_else(|| format!("relation {id} not found"))?;
        if relation.is_peer() {
            return Err("cannot remove relation: is a peer relation".to_owned());
        }
        relation.life = Life::Dying;
        let apps: Vec<String> = relation.endpoints.iter().map(|end| end.application.clone()).collect();
        if force {
            self.relations.remove(&id);
            return Ok(());
        }
        let scripted: Vec<String> = self
            .units
            .values()
            .filter(|u| u.scripted && apps.contains(&u.application))
            .map(|u| u.name.clone())
            .collect();
        for name in scripted {
            if let Some(unit) = self.units.get_mut(&name) {
                unit.uniter.relations.remove(&id);
            }
            self.leave_scope(id, &name);
        }
        self.reap_relation(id);
        self.orphans();
        for app in apps {
            self.reap_application(&app);
        }
        Ok(())
    }

    /// Subordinate units without an alive container relation to their principal's application destroy themselves.
    pub fn orphans(&mut self) {
        let orphans: Vec<String> = self
            .units
            .values()
            .filter(|unit| unit.life == Life::Alive)
            .filter(|unit| {
                let Some(principal) = &unit.principal else { return false };
                !self.relations.values().any(|r| {
                    r.container
                        && r.life == Life::Alive
                        && r.end_of(&unit.application).is_some()
                        && r.end_of(Self::app_of(principal)).is_some()
                })
            })
            .map(|unit| unit.name.clone())
            .collect();
        for name in orphans {
            self.destroy_unit(&name);
        }
    }

    /// `juju remove-application`: its units and its relations with others go; peer relations stay until last.
    pub fn remove_application(&mut self, app: &str) -> Result<(), Refused> {
        self.application(app)?;
        if let Some(application) = self.applications.get_mut(app) {
            application.life = Life::Dying;
        }
        let units: Vec<String> =
            self.units.values().filter(|u| u.application == app).map(|u| u.name.clone()).collect();
        for unit in units {
            self.destroy_unit(&unit);
        }
        let relations: Vec<u32> = self
            .relations
            .values()
            .filter(|r| !r.is_peer() && r.end_of(app).is_some())
            .map(|r| r.id)
            .collect();
        for id in relations {
            if self.relations.contains_key(&id) {
                self.remove_relation(id, false)?;
            }
        }
        self.reap_application(app);
        Ok(())
    }
}
