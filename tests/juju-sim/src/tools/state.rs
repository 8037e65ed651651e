//! state-get, state-set, state-delete: the charm state of one unit in the controller.

use std::collections::BTreeMap;

use serde_json::Value;

use super::write::from_file;
use super::{Call, Done, Fail, Format, parse, print, strings};
use crate::agent::context::Context;
use crate::wire::format::Output;
use crate::wire::gnuflag::Spec;
use crate::wire::key_values;
use crate::world::World;

fn state<'a>(world: &World, context: &'a mut Context) -> &'a mut BTreeMap<String, String> {
    let stored = world.units.get(&context.unit).map(|unit| &unit.state);
    context.state.get_or_insert_with(|| stored.cloned().unwrap_or_default())
}

pub fn state_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output().flag(&["strict"]), call, 1)?;
    let state = state(world, context);
    let output: Output = match parsed.args().first().map(String::as_str) {
        None | Some("-" | "") if state.is_empty() => Output::NilMap,
        None | Some("-" | "") => strings(state.clone()).into(),
        Some(key) => match state.get(key) {
            Some(value) => Value::from(value.as_str()).into(),
            None if parsed.is_set("strict") => return Err(Fail::Error(format!("\"{key}\" not found"))),
            None => Value::from("").into(),
        },
    };
    print(call, &parsed, Format::Smart, output)
}

pub fn state_set(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().value(&["file"]).parse(&call.args)?;
    let pairs = key_values::pairs(parsed.args()).map_err(Fail::Usage)?;
    let mut settings = from_file(call, &parsed)?;
    settings.extend(pairs);
    for (key, value) in &settings {
        if key.len() > 256 {
            return Err(Fail::Error("max allowed key length (256) exceeded".to_owned()));
        }
        if value.len() > 65536 {
            return Err(Fail::Error("max allowed value length (65536) exceeded".to_owned()));
        }
    }
    let state = state(world, context);
    state.extend(settings);
    context.state_written = true;
    Ok(Vec::new())
}

pub fn state_delete(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new(), call, 1)?;
    if let Some(key) = parsed.args().first() {
        state(world, context).remove(key);
        context.state_written = true;
    }
    Ok(Vec::new())
}
