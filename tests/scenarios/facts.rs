//! What the world says about rollouts, read from databags, machines and the store: for the judges.

use juju_sim::snapd::Change;
use juju_sim::store::{self, Channel};
use juju_sim::world::{Relation, Scope, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// One grant as it was committed.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub unit: String,
    pub role: String,
    pub target: String,
    pub serial: u64,
}

/// The applications of lockstep with their peer relations.
pub fn applications(world: &World) -> impl Iterator<Item = (&str, &Relation)> {
    world.applications.values().filter_map(|app| {
        let peers = world.relations.values().find(|relation| {
            relation.is_peer()
                && relation.end_of(&app.name).is_some_and(|end| end.interface == "lockstep_peers")
        });
        Some((app.name.as_str(), peers?))
    })
}

/// How many workers may move at once. With a wrong value the last good one is in force, which nobody but
/// the charm knows: then there is no bound to judge by.
pub fn parallelism(world: &World, app: &str) -> u64 {
    let value = world.applications[app].config()["worker-parallelism"].as_u64();
    value.filter(|count| *count > 0).unwrap_or(u64::MAX)
}

pub fn is_move(change: &Change) -> bool {
    change.kind == "refresh-snap" && !change.moves.is_empty()
}

/// What a unit tells of its machine.
pub fn node_of(world: &World, unit: &str) -> Value {
    let peers = applications(world).find(|(app, _)| *app == World::app_of(unit));
    peers
        .and_then(|(_, peers)| peers.units.get(unit))
        .map_or(Value::Null, |state| json(&state.bag.values, "node"))
}

/// The role of a member: one with managed snaps that owns its machine. Who tells nothing counts as
/// control plane.
pub fn member_role(world: &World, relation: &Relation, unit: &str) -> Option<String> {
    let node = |unit: &str| json(&relation.units[unit].bag.values, "node");
    let own = node(unit);
    if own.is_null() {
        return Some("control-plane".to_owned());
    }
    let rank = |unit: &str, node: &Value| {
        let takes_part =
            node["role"].is_string() && node["snaps"].as_object().is_some_and(|snaps| !snaps.is_empty());
        takes_part.then(|| (text(&node["role"]), world.units[unit].number))
    };
    let mine = rank(unit, &own)?;
    let here = relation.units.iter().filter(|(_, state)| state.scope == Scope::In);
    let first = here
        .filter_map(|(other, _)| {
            rank(other, &node(other)).filter(|_| node(other)["machine"] == own["machine"])
        })
        .min();
    first.filter(|first| *first == mine).map(|(role, _)| role)
}

/// The revision that a target wants of a snap; none where it does not say.
pub fn wanted(
    world: &World,
    snap: &Value,
    node: &Value,
    arch: &str,
    tracking: Option<&Channel>,
) -> Option<String> {
    let pin = &snap["pins"][text(&node["role"])][arch]["revision"];
    if !pin.is_null() {
        return Some(pin.as_str().map_or_else(|| pin.to_string(), str::to_owned));
    }
    let cohort = world.store.cohorts.get(snap["cohort"].as_str()?)?;
    store::head(&cohort.map, tracking?, arch).map(|(revision, _)| revision.to_string())
}

pub fn first_role(target: &Value) -> &'static str {
    let minor = |place: usize| -> Vec<u64> {
        let text = text(&target["minors"][place]);
        text.split('.').filter_map(|number| number.parse().ok()).collect()
    };
    if minor(1) < minor(0) { "worker" } else { "control-plane" }
}

pub fn completes(progress: &Value, target: &Value) -> bool {
    progress["state"] == "completed" && progress["target"] == *target && !target.is_null()
}

/// The snaps that a unit has taken to where the target says.
pub fn done(progress: &Value) -> Vec<String> {
    let snaps = progress["snaps"].as_object().into_iter().flatten();
    snaps.filter(|(_, state)| *state == "done").map(|(name, _)| name.clone()).collect()
}

pub fn grants(granted: &Value) -> Vec<Grant> {
    let grants = granted["grants"].as_array().into_iter().flatten();
    let one = |grant: &Value| Grant {
        unit: text(&grant["unit"]),
        role: text(&grant["role"]),
        target: text(&grant["target"]),
        serial: grant["serial"].as_u64().unwrap_or(0),
    };
    grants.map(one).collect()
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A key of a databag; null where it is not there or cannot be read.
pub fn json(bag: &BTreeMap<String, String>, key: &str) -> Value {
    bag.get(key).and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null)
}
