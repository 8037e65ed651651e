//! relation-set.

use super::read::{own_app, own_unit};
use super::relation::{relation_of, with_relation};
use super::{Call, Done, Fail};
use crate::agent::context::Context;
use crate::wire::gnuflag::{Parsed, Spec};
use crate::wire::{key_values, yaml_v2};
use crate::world::World;

pub fn relation_set(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let spec = Spec::new().value(&["format"]).value(&["file"]).flag(&["app"]);
    let parsed = with_relation(spec, context).parse(&call.args)?;
    let id = relation_of(&parsed, context)?;
    let pairs = key_values::pairs(parsed.args()).map_err(Fail::Usage)?;
    let mut settings = from_file(call, &parsed)?;
    settings.extend(pairs);
    let own = if parsed.is_set("app") {
        if !context.is_leader(world) {
            return Err(Fail::Error("cannot write relation settings".to_owned()));
        }
        own_app(world, context, id)
            .map_err(|e| Fail::Error(format!("cannot read relation application settings: {e}")))?
    } else {
        own_unit(world, context, id)
            .map_err(|e| Fail::Error(format!("cannot read relation settings: {e}")))?
    };
    for (key, value) in settings {
        if value.is_empty() {
            own.view.remove(&key);
        } else {
            own.view.insert(key.clone(), value.clone());
        }
        own.writes.insert(key, value);
    }
    Ok(Vec::new())
}

/// The map in the file that `--file` names, `-` being standard input; the agent opens it, in the tool's directory.
pub fn from_file(call: &Call, parsed: &Parsed) -> Result<Vec<(String, String)>, Fail> {
    let bytes = match parsed.value("file") {
        None | Some("") => return Ok(Vec::new()),
        Some("-") => call.stdin.clone().ok_or(Fail::Stdin)?,
        Some(file) => {
            let path = std::path::Path::new(&call.cwd).join(file);
            fs_err::read(path).map_err(|e| Fail::Error(e.to_string()))?
        }
    };
    yaml_v2::string_map(&bytes).map_err(Fail::Error)
}
