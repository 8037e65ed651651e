//! relation-get: whose databag may be read, and how old the answer may be.

use std::collections::BTreeMap;

use serde_json::Value;

use super::relation::{relation_of, with_relation};
use super::{Call, Done, Fail, Format, parse, print, strings};
use crate::agent::context::{Context, OwnBag};
use crate::wire::gnuflag::Spec;
use crate::world::{Owner, World};

pub fn relation_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(with_relation(Spec::new().output().flag(&["app"]), context), call, 2)?;
    let id = relation_of(&parsed, context)?;
    let key = parsed.args().first().filter(|key| key.as_str() != "-" && !key.is_empty());
    let owner = owner(context, parsed.args().get(1).map(String::as_str), parsed.is_set("app"))?;
    let bag = match owner {
        Owner::App(app) => app_bag(world, context, id, &app)?,
        Owner::Unit(unit) => unit_bag(world, context, id, &unit)?,
    };
    let value = match key {
        Some(key) => bag.get(key).map_or(Value::Null, |value| Value::from(value.as_str())),
        None => strings(bag),
    };
    print(call, &parsed, Format::Smart, value)
}

fn owner(context: &Context, name: Option<&str>, app: bool) -> Result<Owner, Fail> {
    match name {
        Some(name) if app => Ok(Owner::App(World::app_of(name).to_owned())),
        Some(name) if is_unit(name) => Ok(Owner::Unit(name.to_owned())),
        Some(name) if is_app(name) => {
            Err(Fail::Usage(format!("expected unit name, got application name \"{name}\"")))
        }
        Some(name) => Err(Fail::Usage(format!("invalid unit name \"{name}\""))),
        None => match (&context.remote_unit, &context.remote_app) {
            (Some(unit), _) if app => Ok(Owner::App(World::app_of(unit).to_owned())),
            (Some(unit), _) => Ok(Owner::Unit(unit.clone())),
            (None, Some(app)) => Ok(Owner::App(app.clone())),
            (None, None) => Err(Fail::Usage("no unit or application specified".to_owned())),
        },
    }
}

/// `^(APPLICATION)/(0|[1-9][0-9]*)$`
fn is_unit(name: &str) -> bool {
    name.split_once('/').is_some_and(|(app, number)| {
        is_app(app)
            && !number.is_empty()
            && number.bytes().all(|b| b.is_ascii_digit())
            && (number == "0" || !number.starts_with('0'))
    })
}

/// Parts of lower-case letters and digits with a letter in each after the first digit-only one, joined by hyphens.
fn is_app(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.split('-').all(|part| {
            part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
                && part.bytes().any(|b| b.is_ascii_lowercase())
        })
}

fn gone(world: &World) -> Fail {
    Fail::Error(
        if world.juju.at_least(4, 0, 0) { "relation not found" } else { "permission denied" }.to_owned(),
    )
}

fn app_bag(
    world: &mut World,
    context: &mut Context,
    id: u32,
    app: &str,
) -> Result<BTreeMap<String, String>, Fail> {
    let Some(relation) = world.relations.get(&id) else { return Err(gone(world)) };
    if relation.end_of(app).is_none() {
        return Err(Fail::Error("permission denied".to_owned()));
    }
    let peer = relation.is_peer();
    if app == context.app && context.is_leader(world) {
        return own_app(world, context, id).map(|own| own.view.clone()).map_err(Fail::Error);
    }
    if app == context.app && !peer {
        return Err(Fail::Error("permission denied".to_owned()));
    }
    once(world, context, id, Owner::App(app.to_owned()))
}

fn unit_bag(
    world: &mut World,
    context: &mut Context,
    id: u32,
    unit: &str,
) -> Result<BTreeMap<String, String>, Fail> {
    if unit == context.unit {
        return own_unit(world, context, id).map(|own| own.view.clone()).map_err(Fail::Error);
    }
    let member = context.members.get(&id).is_some_and(|members| members.contains(unit));
    let cache = world.units.get(&context.unit).and_then(|u| u.uniter.cache.get(&id));
    if let Some(bag) = cache.and_then(|cache| cache.get(unit)).filter(|_| member) {
        return Ok(bag.clone());
    }
    let Some(relation) = world.relations.get(&id) else { return Err(gone(world)) };
    if relation.end_of(World::app_of(unit)).is_none() {
        return Err(Fail::Error("permission denied".to_owned()));
    }
    if !world.same_scope(relation, &context.unit, unit) {
        return Err(Fail::Error(format!(
            "cannot read settings for unit \"{unit}\" in relation \"{}\": unit \"{unit}\": settings not found",
            relation.key
        )));
    }
    if !member {
        return once(world, context, id, Owner::Unit(unit.to_owned()));
    }
    let bag = relation.units.get(unit).map(|state| state.bag.values.clone()).unwrap_or_default();
    if let Some(agent) = world.units.get_mut(&context.unit) {
        agent.uniter.cache.entry(id).or_default().insert(unit.to_owned(), bag.clone());
    }
    Ok(bag)
}

/// A databag that is read once a hook.
fn once(
    world: &World,
    context: &mut Context,
    id: u32,
    owner: Owner,
) -> Result<BTreeMap<String, String>, Fail> {
    let place = (id, owner.to_string());
    if let Some(bag) = context.once.get(&place) {
        return Ok(bag.clone());
    }
    let bag = world.relations.get(&id).and_then(|r| r.bag(&owner));
    let values = bag.map(|bag| bag.values.clone()).ok_or_else(|| gone(world))?;
    context.once.insert(place, values.clone());
    Ok(values)
}

/// Our unit's databag; reading it alone makes the commit send it.
pub fn own_unit<'a>(world: &World, context: &'a mut Context, id: u32) -> Result<&'a mut OwnBag, String> {
    let owner = Owner::Unit(context.unit.clone());
    own(world, context.own_unit.entry(id), id, &owner)
}

/// Our application's databag; the caller has checked leadership.
pub fn own_app<'a>(world: &World, context: &'a mut Context, id: u32) -> Result<&'a mut OwnBag, String> {
    let owner = Owner::App(context.app.clone());
    own(world, context.own_app.entry(id), id, &owner)
}

fn own<'a>(
    world: &World,
    entry: std::collections::btree_map::Entry<'a, u32, OwnBag>,
    id: u32,
    owner: &Owner,
) -> Result<&'a mut OwnBag, String> {
    match entry {
        std::collections::btree_map::Entry::Occupied(entry) => Ok(entry.into_mut()),
        std::collections::btree_map::Entry::Vacant(entry) => {
            let bag = world.relations.get(&id).and_then(|r| r.bag(owner));
            let refused =
                if world.juju.at_least(4, 0, 0) { "relation not found" } else { "permission denied" };
            let view = bag.map(|bag| bag.values.clone()).ok_or_else(|| refused.to_owned())?;
            Ok(entry.insert(OwnBag { view, writes: BTreeMap::new() }))
        }
    }
}
