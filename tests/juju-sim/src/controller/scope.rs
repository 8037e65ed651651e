//! Scopes: units enter and leave relations, subordinates appear beside principals.

use std::collections::BTreeMap;

use crate::world::{Bag, Life, Relation, RelationState, RelationUnit, Scope, World};

impl World {
    /// Relations that a unit is told of: all of its application, but a subordinate unit only sees container relations
    /// with its own principal's application or with another subordinate.
    pub fn visible_relations(&self, unit: &str) -> Vec<u32> {
        let Some(unit) = self.units.get(unit) else { return Vec::new() };
        let app = &unit.application;
        self.relations
            .values()
            .filter(|relation| {
                let on_disk = |name: &String| unit.scripted || unit.uniter.endpoints.contains(name);
                relation.end_of(app).is_some_and(|end| end.implicit || on_disk(&end.name))
            })
            .filter(|relation| match (&unit.principal, relation.container) {
                (Some(principal), true) => relation.other_end(app).is_some_and(|other| {
                    other.application == Self::app_of(principal)
                        || self.applications.get(&other.application).is_some_and(|a| a.charm.subordinate)
                }),
                (_, _) => true,
            })
            .map(|relation| relation.id)
            .collect()
    }

    /// The unit enters the scope of every alive relation that it does not know yet.
    pub fn enter_scopes(&mut self, unit: &str) {
        for id in self.visible_relations(unit) {
            let known = self.units.get(unit).is_some_and(|u| u.uniter.relations.contains_key(&id));
            let alive = self.relations.get(&id).is_some_and(|r| r.life == Life::Alive);
            if alive && !known {
                self.enter_scope(id, unit);
            }
        }
    }

    fn enter_scope(&mut self, id: u32, name: &str) {
        let fresh = self.address_keys(name);
        let Some(relation) = self.relations.get(&id) else { return };
        let container = self.scope_key(relation, name);
        let app = Self::app_of(name).to_owned();
        let Some(end) = relation.end_of(&app).cloned() else { return };
        let version = relation.units.get(name).map_or(0, |state| state.bag.version + 1);
        let bag = Bag { version, values: fresh };
        if let Some(relation) = self.relations.get_mut(&id) {
            relation.units.insert(name.to_owned(), RelationUnit { scope: Scope::In, container, bag });
        }
        if let Some(unit) = self.units.get_mut(name) {
            unit.uniter.relations.insert(
                id,
                RelationState {
                    endpoint: end.name,
                    created: false,
                    members: BTreeMap::new(),
                    apps: BTreeMap::new(),
                    changed_pending: None,
                    remote_known: true,
                    implicit: end.implicit,
                    broken: false,
                },
            );
        }
        self.create_subordinate(id, name);
    }

    /// A principal that enters a container scope gets a subordinate unit beside it, if it has none yet.
    fn create_subordinate(&mut self, id: u32, principal: &str) {
        let Some(unit) = self.units.get(principal) else { return };
        let Some(relation) = self.relations.get(&id) else { return };
        if !relation.container || unit.principal.is_some() {
            return;
        }
        let Some(other) = relation.other_end(&unit.application) else { return };
        let subordinate = self.applications.get(&other.application);
        if !subordinate.is_some_and(|app| app.charm.subordinate && app.life == Life::Alive) {
            return;
        }
        let (app, machine) = (other.application.clone(), unit.machine.clone());
        if self.subordinates_of(principal).iter().any(|u| u.application == app) {
            return;
        }
        // The application was looked up just now, so this cannot be refused.
        let _ = self.create_unit(&app, &machine, Some(principal));
    }

    /// Keys that Juju itself keeps in a unit's databags.
    pub fn address_keys(&self, unit: &str) -> BTreeMap<String, String> {
        let mut keys = BTreeMap::new();
        let Some(machine) = self.units.get(unit).and_then(|u| self.machines.get(&u.machine)) else {
            return keys;
        };
        keys.insert("egress-subnets".to_owned(), machine.egress());
        keys.insert("ingress-address".to_owned(), machine.address.clone());
        if !self.juju.at_least(4, 0, 0) {
            keys.insert("private-address".to_owned(), machine.address.clone());
        }
        keys
    }

    /// Writes the address keys anew in all relations of a unit, as the commit of a config-changed does.
    pub fn refresh_address_keys(&mut self, unit: &str) {
        let keys = self.address_keys(unit);
        for relation in self.relations.values_mut() {
            let Some(state) = relation.units.get_mut(unit).filter(|state| state.scope == Scope::In) else {
                continue;
            };
            let changed = keys.iter().any(|(key, value)| state.bag.values.get(key) != Some(value));
            if changed {
                state.bag.version += 1;
                state.bag.values.extend(keys.clone());
            }
        }
    }

    /// The unit leaves one scope; the last one to leave a dying relation takes it along.
    pub fn leave_scope(&mut self, id: u32, unit: &str) {
        if let Some(state) = self.relations.get_mut(&id).and_then(|r| r.units.get_mut(unit)) {
            state.scope = Scope::Left;
        }
        self.reap_relation(id);
    }

    /// Removes a dying relation that no unit is left in.
    pub(crate) fn reap_relation(&mut self, id: u32) {
        let done = self.relations.get(&id).is_some_and(|r| {
            r.life == Life::Dying && !r.is_peer() && r.units.values().all(|state| state.scope == Scope::Left)
        });
        if done {
            self.relations.remove(&id);
        }
    }

    /// Sets keys of a databag at once; an empty value removes the key. Gives the keys that really changed.
    pub fn write_bag(bag: &mut Bag, changes: &BTreeMap<String, String>) -> Vec<String> {
        let mut changed = Vec::new();
        for (key, value) in changes {
            let differs = match value.as_str() {
                "" => bag.values.remove(key).is_some(),
                value => bag.values.insert(key.clone(), value.to_owned()).as_deref() != Some(value),
            };
            if differs {
                changed.push(key.clone());
            }
        }
        if !changed.is_empty() {
            bag.version += 1;
        }
        changed
    }

    /// Whether a unit is in the relation's scope at all, and for whom its bag can be read.
    pub fn same_scope(&self, relation: &Relation, reader: &str, of: &str) -> bool {
        relation.units.get(of).is_some_and(|state| state.container == self.scope_key(relation, reader))
    }
}
