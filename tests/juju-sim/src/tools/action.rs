//! action-get, action-set, action-fail, action-log.

use serde_json::{Map, Value};

use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::{Context, Job};
use crate::wire::gnuflag::Spec;
use crate::wire::key_values;
use crate::world::World;

fn running(context: &Context) -> Result<u32, Fail> {
    match context.job {
        Job::Action(id) => Ok(id),
        Job::Hook(_) | Job::Exec(_) => Err(Fail::Error("not running an action".to_owned())),
    }
}

pub fn get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output(), call, 1)?;
    let action = world.actions.get(&running(context)?);
    let params = action.map(|a| Value::Object(a.params.clone().into_iter().collect())).unwrap_or(Value::Null);
    let value = match parsed.args().first().filter(|key| !key.is_empty()) {
        None => params,
        Some(key) => {
            key.split('.').try_fold(&params, |value, part| value.get(part)).cloned().unwrap_or(Value::Null)
        }
    };
    print(call, &parsed, Format::Smart, value)
}

pub fn set(_: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().parse(&call.args)?;
    let pairs = key_values::action_results(parsed.args()).map_err(Fail::Usage)?;
    running(context)?;
    for (path, value) in pairs {
        insert(&mut context.results, &path, value);
    }
    Ok(Vec::new())
}

/// Puts a value at a path; what is no map on the way is replaced.
fn insert(tree: &mut Value, path: &[String], value: String) {
    let Some((first, rest)) = path.split_first() else {
        *tree = Value::String(value);
        return;
    };
    if !tree.is_object() {
        *tree = Value::Object(Map::new());
    }
    if let Some(map) = tree.as_object_mut() {
        insert(map.entry(first.clone()).or_insert(Value::Null), rest, value);
    }
}

pub fn fail(_: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new(), call, 1)?;
    running(context)?;
    let text = parsed.args().first().filter(|text| !text.is_empty());
    let default = "action failed without reason given, check action for errors";
    context.failed = Some(text.map_or(default, String::as_str).to_owned());
    Ok(Vec::new())
}

pub fn log(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().parse(&call.args)?;
    if parsed.args().is_empty() {
        return Err(Fail::Usage("no message specified".to_owned()));
    }
    let id = running(context)?;
    if let Some(action) = world.actions.get_mut(&id) {
        action.log.push(parsed.args().join(" "));
    }
    Ok(Vec::new())
}
