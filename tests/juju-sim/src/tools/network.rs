//! network-get, unit-get, goal-state.

use serde_json::{Map, Value, json};

use super::relation::with_relation;
use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::Context;
use crate::wire::gnuflag::Spec;
use crate::world::{Life, Machine, Role, World};

fn machine<'a>(world: &'a World, context: &Context) -> Result<&'a Machine, Fail> {
    let unit = world.units.get(&context.unit);
    unit.and_then(|u| world.machines.get(&u.machine))
        .ok_or_else(|| Fail::Error("machine not found".to_owned()))
}

pub fn network_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let flags = ["bind-address", "ingress-address", "egress-subnets"];
    let mut spec = Spec::new().output().flag(&["primary-address"]);
    for flag in flags {
        spec = spec.flag(match flag {
            "bind-address" => &["bind-address"],
            "ingress-address" => &["ingress-address"],
            _ => &["egress-subnets"],
        });
    }
    let parsed = with_relation(spec, context).parse(&call.args)?;
    let Some(binding) = parsed.args().first() else {
        return Err(Fail::Usage("no arguments specified".to_owned()));
    };
    parsed.at_most(1)?;
    if let Some(id) =
        parsed.value("relation").and_then(|r| r.rsplit(':').next()).and_then(|n| n.parse::<u32>().ok())
        && !world.relations.contains_key(&id)
    {
        return Err(Fail::Error(format!("relation {id} not found")));
    }
    let charm = world.applications.get(&context.app).map(|a| &a.charm);
    if binding != "juju-info" && !charm.is_some_and(|c| c.endpoints.contains_key(binding)) {
        return Err(Fail::Error(format!("no network config found for binding \"{binding}\"")));
    }
    let machine = machine(world, context)?;
    let all = json!({
        "bind-addresses": [{
            "mac-address": mac(&machine.address),
            "interface-name": "eth0",
            "addresses": [{"hostname": "", "value": machine.address, "cidr": machine.cidr}],
        }],
        "egress-subnets": [machine.egress()],
        "ingress-addresses": [machine.address],
    });
    let mut chosen = Map::new();
    for flag in flags.into_iter().filter(|flag| parsed.is_set(flag)) {
        let value = match flag {
            "egress-subnets" => json!([machine.egress()]),
            _ => json!(machine.address),
        };
        chosen.insert(flag.to_owned(), value);
    }
    let value = match chosen.len() {
        0 => all,
        1 => chosen.into_values().next().unwrap_or(Value::Null),
        _ => Value::Object(chosen),
    };
    print(call, &parsed, Format::Smart, value)
}

fn mac(address: &str) -> String {
    let parts: Vec<String> =
        address.split('.').map(|part| format!("{:02x}", part.parse::<u8>().unwrap_or(0))).collect();
    format!("00:16:{}", parts.join(":"))
}

pub fn unit_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().output().parse(&call.args)?;
    let setting =
        parsed.args().first().cloned().ok_or_else(|| Fail::Usage("no setting specified".to_owned()))?;
    if !["private-address", "public-address"].contains(&setting.as_str()) {
        return Err(Fail::Usage(format!("unknown setting \"{setting}\"")));
    }
    parsed.at_most(1)?;
    let address = machine(world, context)?.address.clone();
    print(call, &parsed, Format::Smart, Value::from(address))
}

pub fn goal_state(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let check = |value: &str| match value {
        "json" | "yaml" => Ok(()),
        other => Err(format!("unknown format \"{other}\"")),
    };
    let parsed = parse(Spec::new().checked(&["format"], check).value(&["o", "output"]), call, 0)?;
    let mut relations = Map::new();
    for relation in world.relations.values().filter(|r| !r.is_peer()) {
        let (Some(own), Some(other)) = (relation.end_of(&context.app), relation.other_end(&context.app))
        else {
            continue;
        };
        if own.implicit || own.role == Role::Peer {
            continue;
        }
        let entry = relations.entry(own.name.clone()).or_insert_with(|| Value::Object(Map::new()));
        if let Some(entry) = entry.as_object_mut() {
            let since = world.clock.stamp();
            let status = if relation.life == Life::Dying { "departing" } else { "joined" };
            entry.insert(other.application.clone(), json!({"status": status, "since": since}));
            entry.append(&mut goal_units(world, context, &other.application));
        }
    }
    let units = goal_units(world, context, &context.app);
    print(call, &parsed, Format::Yaml, json!({"units": units, "relations": relations}))
}

/// Subordinate units only show to the principal that they are beside.
fn goal_units(world: &World, context: &Context, app: &str) -> Map<String, Value> {
    world
        .units_of(app)
        .into_iter()
        .filter(|unit| unit.principal.as_ref().is_none_or(|principal| *principal == context.unit))
        .map(|unit| {
            let status = if unit.life == Life::Dying { "dying" } else { unit.workload.status.as_str() };
            (unit.name.clone(), json!({"status": status, "since": unit.workload.since.stamp()}))
        })
        .collect()
}
