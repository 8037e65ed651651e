//! The end of a successful hook: everything that it buffered is applied at once, or nothing is.

use std::collections::BTreeMap;

use super::context::Context;
use crate::world::{Bag, Owner, World};

/// One databag that a commit changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagChange {
    /// In which relation.
    pub relation: u32,
    /// Whose bag.
    pub owner: Owner,
    /// Keys with their old and new values.
    pub keys: Vec<(String, Option<String>, Option<String>)>,
}

/// What a commit changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Databags.
    pub bags: Vec<BagChange>,
    /// Keys of charm state that were set or removed.
    pub state: Vec<String>,
    /// Ports opened (true) or closed.
    pub ports: Vec<(bool, String)>,
}

/// Applies what the hook buffered; an error text is what stands behind `cannot apply changes: `.
pub fn commit(world: &mut World, context: &Context) -> Result<Changes, String> {
    check(world, context)?;
    let mut changes = Changes::default();
    let own_unit = context.own_unit.iter().map(|(id, own)| (*id, Owner::Unit(context.unit.clone()), own));
    let own_app = context.own_app.iter().map(|(id, own)| (*id, Owner::App(context.app.clone()), own));
    for (id, owner, own) in own_unit.chain(own_app) {
        if let Some(bag) = world.relations.get_mut(&id).and_then(|r| r.bag_mut(&owner)) {
            let keys = write(bag, &own.writes);
            if !keys.is_empty() {
                changes.bags.push(BagChange { relation: id, owner, keys });
            }
        }
    }
    if let Some(unit) = world.units.get_mut(&context.unit) {
        if let Some(state) = context.state.as_ref().filter(|_| context.state_written) {
            let names = state.keys().chain(unit.state.keys());
            let mut changed: Vec<String> =
                names.filter(|k| state.get(*k) != unit.state.get(*k)).cloned().collect();
            changed.sort();
            changed.dedup();
            changes.state = changed;
            unit.state = state.clone();
        }
        for (open, port) in &context.ports {
            let differs = if *open { unit.ports.insert(port.clone()) } else { unit.ports.remove(port) };
            if differs {
                changes.ports.push((*open, port.clone()));
            }
        }
    }
    Ok(changes)
}

fn write(bag: &mut Bag, writes: &BTreeMap<String, String>) -> Vec<(String, Option<String>, Option<String>)> {
    let before: BTreeMap<String, Option<String>> =
        writes.keys().map(|key| (key.clone(), bag.values.get(key).cloned())).collect();
    World::write_bag(bag, writes)
        .into_iter()
        .map(|key| {
            let old = before.get(&key).cloned().flatten();
            let new = bag.values.get(&key).cloned();
            (key, old, new)
        })
        .collect()
}

fn check(world: &World, context: &Context) -> Result<(), String> {
    let new_juju = world.juju.at_least(4, 0, 0);
    let touched = context.own_unit.keys().chain(context.own_app.keys());
    for id in touched {
        if !world.relations.contains_key(id) {
            return Err(if new_juju { "relation not found" } else { "permission denied" }.to_owned());
        }
    }
    let writes_app = context.own_app.values().any(|own| !own.writes.is_empty());
    if writes_app && !world.is_leader(&context.unit) {
        let (unit, app) = (&context.unit, &context.app);
        return Err(if new_juju {
            format!("updating unit and application settings for \"{unit}\": permission denied")
        } else {
            format!("checking leadership continuity: \"{unit}\" is not leader of \"{app}\"")
        });
    }
    let unit_bags = context.own_unit.iter().map(|(id, own)| (id, Owner::Unit(context.unit.clone()), own));
    let app_bags = context.own_app.iter().map(|(id, own)| (id, Owner::App(context.app.clone()), own));
    for (id, owner, own) in unit_bags.chain(app_bags) {
        let bag = world.relations.get(id).and_then(|r| r.bag(&owner)).cloned();
        let mut bag = bag.ok_or_else(|| "settings not found".to_owned())?;
        if !World::write_bag(&mut bag, &own.writes).is_empty() && bag.size() > world.limits.bag {
            // Wording not established; the sizes are.
            return Err(format!(
                "relation settings of {} bytes exceed the limit of {}",
                bag.size(),
                world.limits.bag
            ));
        }
    }
    if let Some(state) = context.state.as_ref().filter(|_| context.state_written) {
        let size: usize = state.iter().map(|(key, value)| key.len() + value.len()).sum();
        if size > world.limits.state {
            return Err(format!(
                "persisting charm state: max allowed size ({}) exceeded",
                world.limits.state
            ));
        }
    }
    check_ports(world, context)
}

fn check_ports(world: &World, context: &Context) -> Result<(), String> {
    let Some(machine) = world.units.get(&context.unit).map(|u| &u.machine) else { return Ok(()) };
    for (_, port) in context.ports.iter().filter(|(open, _)| *open) {
        let other = world
            .units
            .values()
            .find(|u| u.machine == *machine && u.name != context.unit && u.ports.contains(port));
        if let Some(other) = other {
            return Err(format!(
                "cannot open ports {port} (unit \"{}\"): port range conflicts with {port} (unit \"{}\")",
                context.unit, other.name
            ));
        }
    }
    Ok(())
}
