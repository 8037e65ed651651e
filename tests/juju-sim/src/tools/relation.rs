//! relation-ids, relation-list, relation-model-get, and the option `-r` of all relation tools.

use serde_json::{Value, json};

use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::Context;
use crate::wire::gnuflag::{Parsed, Spec};
use crate::world::World;

/// Adds `-r`; only the number behind the last colon counts.
pub fn with_relation<'a>(spec: Spec<'a>, context: &Context) -> Spec<'a> {
    let known: Vec<u32> = context.known.keys().copied().collect();
    spec.checked(&["r", "relation"], move |text| match number(text) {
        None => Err("invalid relation id".to_owned()),
        Some(id) if known.contains(&id) => Ok(()),
        Some(_) => Err("relation not found".to_owned()),
    })
}

fn number(text: &str) -> Option<u32> {
    text.rsplit(':').next().and_then(|number| number.parse().ok())
}

/// The relation that a tool is about: `-r`, else the hook's own.
pub fn relation_of(parsed: &Parsed, context: &Context) -> Result<u32, Fail> {
    parsed
        .value("relation")
        .and_then(number)
        .or(context.relation)
        .ok_or_else(|| Fail::Usage("no relation id specified".to_owned()))
}

pub fn ids(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output(), call, 1)?;
    let own = context.relation.and_then(|id| context.known.get(&id).cloned());
    let endpoint = parsed.args().first().filter(|name| !name.is_empty()).cloned().or(own);
    let endpoint = endpoint.ok_or_else(|| Fail::Usage("no endpoint name specified".to_owned()))?;
    let hides = world.juju.at_least(3, 4, 4);
    let mut found: Vec<String> = context
        .known
        .iter()
        .filter(|(id, name)| **name == endpoint && !(hides && context.is_breaking(**id)))
        .map(|(id, _)| context.relation_id(*id))
        .collect();
    found.sort();
    print(call, &parsed, Format::Smart, json!(found))
}

pub fn list(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(with_relation(Spec::new().output().flag(&["app"]), context), call, 0)?;
    let id = relation_of(&parsed, context)?;
    if parsed.is_set("app") {
        let other = world.relations.get(&id).and_then(|r| r.other_end(&context.app));
        let name = other.map(|end| end.application.clone()).or_else(|| context.remote_app.clone());
        return print(call, &parsed, Format::Smart, name.map_or(Value::Null, Value::from));
    }
    let members: Vec<String> = context.members.get(&id).map_or(Vec::new(), |m| m.iter().cloned().collect());
    print(call, &parsed, Format::Smart, json!(members))
}

pub fn model_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(with_relation(Spec::new().output(), context), call, 0)?;
    relation_of(&parsed, context)?;
    print(call, &parsed, Format::Smart, json!({"uuid": world.model.uuid}))
}
