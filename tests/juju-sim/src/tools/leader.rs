//! is-leader, and up to 3.6 leader-get and leader-set.

use serde_json::{Value, json};

use super::{Call, Done, Fail, Format, parse, print, strings};
use crate::agent::context::Context;
use crate::wire::gnuflag::Spec;
use crate::wire::key_values;
use crate::world::World;

pub fn is_leader(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output(), call, 0)?;
    let leader = context.is_leader(world);
    print(call, &parsed, Format::Smart, json!(leader))
}

pub fn leader_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output(), call, 1)?;
    let settings =
        world.applications.get(&context.app).map(|a| a.leader_settings.values.clone()).unwrap_or_default();
    let value = match parsed.args().first().map(String::as_str) {
        None | Some("-" | "") => strings(settings),
        Some(key) => settings.get(key).map_or(Value::Null, |value| Value::from(value.as_str())),
    };
    print(call, &parsed, Format::Smart, value)
}

pub fn leader_set(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().parse(&call.args)?;
    let pairs = key_values::pairs(parsed.args()).map_err(Fail::Usage)?;
    if !context.is_leader(world) {
        let text = "cannot write leadership settings: cannot write settings: not the leader";
        return Err(Fail::Error(text.to_owned()));
    }
    if let Some(application) = world.applications.get_mut(&context.app) {
        World::write_bag(&mut application.leader_settings, &pairs.into_iter().collect());
    }
    Ok(Vec::new())
}
