//! config-get.

use serde_json::Value;

use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::Context;
use crate::wire::gnuflag::Spec;
use crate::world::World;

pub fn config_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output().flag(&["a", "all"]), call, 1)?;
    let key = parsed.args().first().filter(|key| !key.is_empty() && key.as_str() != "-");
    let all = parsed.is_set("all");
    if let Some(key) = key.filter(|_| all) {
        return Err(Fail::Usage(format!("cannot use argument --all together with key \"{key}\"")));
    }
    let Some(application) = world.applications.get(&context.app) else {
        return Err(Fail::Error(format!("application \"{}\" not found", context.app)));
    };
    let config = context.config.get_or_insert_with(|| application.config());
    let value = match key {
        Some(key) => config.get(key).cloned().unwrap_or(Value::Null),
        None if all => {
            let options = application.charm.config.options.keys();
            Value::Object(
                options.map(|k| (k.clone(), config.get(k).cloned().unwrap_or(Value::Null))).collect(),
            )
        }
        None => Value::Object(config.clone().into_iter().collect()),
    };
    print(call, &parsed, Format::Smart, value)
}
