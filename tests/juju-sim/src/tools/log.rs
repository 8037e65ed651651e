//! juju-log.

use super::{Call, Done, Fail};
use crate::agent::context::Context;
use crate::wire::gnuflag::Spec;
use crate::world::{Level, World};

pub fn juju_log(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let spec = Spec::new().flag(&["debug"]).value(&["l", "log-level"]).value(&["format"]);
    let parsed = spec.parse(&call.args)?;
    if parsed.args().is_empty() {
        return Err(Fail::Usage("no message specified".to_owned()));
    }
    let unit = context.unit.clone();
    let level = match parsed.value("log-level").filter(|name| !name.is_empty()) {
        _ if parsed.is_set("debug") => Level::Debug,
        None => Level::Info,
        Some(name) => match Level::parse(name) {
            Some(level) => level,
            None => {
                world.log(
                    &unit,
                    "juju-log",
                    Level::Warning,
                    &format!("Specified log level of \"{name}\" is not valid"),
                );
                Level::Info
            }
        },
    };
    let prefix = context.relation.map_or(String::new(), |id| format!("{}: ", context.relation_id(id)));
    let text = format!("{prefix}{}", parsed.args().join(" "));
    world.log(&unit, "juju-log", level, &text);
    Ok(Vec::new())
}
