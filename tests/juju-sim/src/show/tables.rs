//! Tables like those of `juju status`, and databags.

use std::fmt::Write as _;

use crate::world::{Life, Relation, Unit, World};

/// Applications, units with subordinates below their principals, machines and relations.
pub fn status(world: &World) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "Model {}, Juju {}, {}\n", world.model.name, world.juju, world.clock);
    let mut apps = vec![row(&["App", "Version", "Status", "Scale", "Charm", "Rev", "Message"])];
    for app in world.applications.values() {
        let units = world.units_of(&app.name);
        let version = units.iter().rev().find_map(|u| u.version.clone()).unwrap_or_default();
        let status = world.app_status(&app.name);
        apps.push(vec![
            app.name.clone(),
            version,
            status.status,
            units.len().to_string(),
            app.charm.name.clone(),
            app.charm.revision.to_string(),
            status.message,
        ]);
    }
    out.push_str(&table(&apps));
    let mut units = vec![row(&["Unit", "Workload", "Agent", "Machine", "Address", "Ports", "Message"])];
    let mut principals: Vec<&Unit> = world.units.values().filter(|u| u.principal.is_none()).collect();
    principals.sort_by(|a, b| (&a.application, a.number).cmp(&(&b.application, b.number)));
    for principal in principals {
        units.push(unit_row(world, principal, ""));
        for subordinate in world.subordinates_of(&principal.name) {
            units.push(unit_row(world, subordinate, "  "));
        }
    }
    let _ = write!(out, "\n{}", table(&units));
    if world.machines.values().any(|machine| !machine.snapd.snaps.is_empty()) {
        let _ = write!(out, "\n{}", snaps(world));
    }
    let mut relations = vec![row(&["Relation", "Id", "Interface", "Type", "Message"])];
    for relation in world.relations.values() {
        let kind = match (relation.is_peer(), relation.container) {
            (true, _) => "peer",
            (false, true) => "subordinate",
            (false, false) => "regular",
        };
        let ends: Vec<String> =
            relation.endpoints.iter().rev().map(|e| format!("{}:{}", e.application, e.name)).collect();
        let interface = relation.endpoints.first().map_or(String::new(), |end| end.interface.clone());
        let message = if relation.life == Life::Dying { "departing" } else { "" };
        relations.push(vec![
            ends.join(" "),
            relation.id.to_string(),
            interface,
            kind.to_owned(),
            message.to_owned(),
        ]);
    }
    let _ = write!(out, "\n{}", table(&relations));
    out
}

/// The snaps of every machine, with what runs on them now.
fn snaps(world: &World) -> String {
    let mut rows = vec![row(&["Machine", "Arch", "Snap", "Version", "Rev", "Tracking", "Cohort", "Notes"])];
    for (id, machine) in &world.machines {
        for snap in machine.snapd.snaps.values() {
            let busy = machine.snapd.running().find(|change| change.snaps.contains(&snap.name));
            let down = snap.services.values().any(|service| !service.active);
            let notes = [
                snap.is_held(world.clock).then(|| "held".to_owned()),
                snap.disabled.then(|| "disabled".to_owned()),
                down.then(|| "services down".to_owned()),
                busy.map(|change| format!("{} by {}", change.kind, change.by.describe())),
            ];
            let key = snap.cohort_key.as_deref().map(|key| crate::snapd::ellipt_left(key, 10));
            rows.push(vec![
                id.clone(),
                machine.arch.clone(),
                snap.name.clone(),
                snap.version.clone(),
                snap.revision.clone(),
                snap.tracking.as_ref().map_or("-".to_owned(), |channel| channel.to_string()),
                key.unwrap_or_default(),
                notes.into_iter().flatten().collect::<Vec<_>>().join(", "),
            ]);
        }
    }
    table(&rows)
}

fn unit_row(world: &World, unit: &Unit, indent: &str) -> Vec<String> {
    let mark = if world.is_leader(&unit.name) { "*" } else { "" };
    let machine = world.machines.get(&unit.machine);
    let agent = match (machine.is_some_and(|m| m.up), unit.life) {
        (false, _) => "lost".to_owned(),
        (true, Life::Dying) => format!("{} (dying)", unit.agent.status),
        (true, Life::Alive) => unit.agent.status.clone(),
    };
    let shown = unit.shown_status();
    vec![
        format!("{indent}{}{mark}", unit.name),
        shown.status.clone(),
        agent,
        unit.machine.clone(),
        machine.map_or(String::new(), |m| m.address.clone()),
        unit.ports.iter().cloned().collect::<Vec<_>>().join(","),
        shown.message.clone(),
    ]
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|r| r.get(column)).map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for cells in rows {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(line, "{cell:<width$}  ");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// All databags of a relation.
pub fn databags(world: &World, id: u32) -> String {
    let Some(relation) = world.relations.get(&id) else { return String::new() };
    let mut out = format!("Databags of {} (relation {id})\n", relation.key);
    for (app, bag) in &relation.apps {
        one_bag(&mut out, app, &bag.values.iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Vec<_>>());
    }
    for (unit, values) in unit_bags(relation) {
        one_bag(&mut out, &unit, &values);
    }
    out
}

type Values = Vec<(String, String)>;

/// Without what Juju keeps in every unit's bag.
fn unit_bags(relation: &Relation) -> Vec<(String, Values)> {
    let juju = ["egress-subnets", "ingress-address", "private-address"];
    let own = |values: &std::collections::BTreeMap<String, String>| {
        values
            .iter()
            .filter(|(k, _)| !juju.contains(&k.as_str()))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    relation.units.iter().map(|(unit, state)| (unit.clone(), own(&state.bag.values))).collect()
}

fn one_bag(out: &mut String, owner: &str, values: &Values) {
    if values.is_empty() {
        let _ = writeln!(out, "  {owner}: -");
        return;
    }
    let _ = writeln!(out, "  {owner}:");
    for (key, value) in values {
        let _ = writeln!(out, "    {key}: {}", crate::sim::shorten(&value.replace('\n', "\\n"), 100));
    }
}

/// The values at a JSON pointer in which `*` stands for every item, or every key where it comes last.
pub fn places(json: &serde_json::Value, at: &str) -> Vec<String> {
    use serde_json::Value;
    let Some((part, rest)) = at.strip_prefix('/').map(|at| at.split_once('/').unwrap_or((at, ""))) else {
        return vec![json.as_str().map_or_else(|| json.to_string(), str::to_owned)];
    };
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    match (json, part) {
        (Value::Object(map), "*") if rest.is_empty() => map.keys().cloned().collect(),
        (Value::Object(map), "*") => map.values().flat_map(|value| places(value, &rest)).collect(),
        (Value::Array(items), "*") => items.iter().flat_map(|value| places(value, &rest)).collect(),
        _ => json.pointer(&format!("/{part}")).map(|value| places(value, &rest)).unwrap_or_default(),
    }
}
