//! The environment of a hook: exactly what Juju sets, and nothing else.

use super::context::{Context, Job};
use super::files::Paths;
use crate::world::{HookKind, World};

/// Name and value of every variable. `path` is what follows the unit's own tools in `PATH`.
pub fn environment(world: &World, context: &Context, paths: &Paths, path: &str) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = Vec::new();
    let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
    let unit = world.units.get(&context.unit);
    let machine = unit.and_then(|u| world.machines.get(&u.machine));
    let charm = paths.charm(&context.unit).display().to_string();
    set("PATH", &format!("{}:{path}", paths.tools(&context.unit).display()));
    set("CHARM_DIR", &charm);
    set("JUJU_CHARM_DIR", &charm);
    set("JUJU_CONTEXT_ID", &context.id);
    set("JUJU_AGENT_SOCKET_NETWORK", "unix");
    set("JUJU_AGENT_SOCKET_ADDRESS", &paths.socket(&context.unit).display().to_string());
    set("JUJU_UNIT_NAME", &context.unit);
    set("JUJU_PRINCIPAL_UNIT", unit.and_then(|u| u.principal.as_deref()).unwrap_or(""));
    set("JUJU_MODEL_NAME", &world.model.name);
    set("JUJU_MODEL_UUID", &world.model.uuid);
    set("JUJU_API_ADDRESSES", "10.0.0.2:17070 10.0.0.3:17070 10.0.0.4:17070");
    set("JUJU_MACHINE_ID", machine.map_or("", |m| m.id.as_str()));
    set("JUJU_AVAILABILITY_ZONE", machine.map_or("", |m| m.zone.as_str()));
    set("JUJU_VERSION", &world.juju.to_string());
    set("CLOUD_API_VERSION", "");
    for proxy in ["HTTP", "HTTPS", "FTP", "NO"] {
        set(&format!("JUJU_CHARM_{proxy}_PROXY"), "");
    }
    if !world.juju.at_least(4, 0, 0) {
        set("JUJU_SLA", "unsupported");
        set("JUJU_METER_STATUS", "AMBER");
        set("JUJU_METER_INFO", "not set");
    }
    set("LANG", "C.UTF-8");
    set("TERM", "tmux-256color");
    set("DEBIAN_FRONTEND", "noninteractive");
    set("APT_LISTCHANGES_FRONTEND", "none");
    match &context.job {
        Job::Hook(hook) => {
            set("JUJU_HOOK_NAME", &hook.name());
            set("JUJU_DISPATCH_PATH", &format!("hooks/{}", hook.name()));
            if let (Some(endpoint), Some(id)) = (&hook.endpoint, hook.relation_id()) {
                set("JUJU_RELATION", endpoint);
                set("JUJU_RELATION_ID", &id);
                set("JUJU_REMOTE_APP", hook.remote_app.as_deref().unwrap_or(""));
                set("JUJU_REMOTE_UNIT", hook.remote_unit.as_deref().unwrap_or(""));
            }
            if hook.kind == HookKind::RelationDeparted {
                set("JUJU_DEPARTING_UNIT", hook.departing.as_deref().unwrap_or(""));
            }
        }
        Job::Action(id) => {
            let name = world.actions.get(id).map_or("", |action| action.name.as_str());
            set("JUJU_HOOK_NAME", "");
            set("JUJU_DISPATCH_PATH", &format!("actions/{name}"));
            set("JUJU_ACTION_NAME", name);
            set("JUJU_ACTION_UUID", &id.to_string());
            set("JUJU_ACTION_TAG", &format!("action-{id}"));
        }
        Job::Exec(_) => set("JUJU_HOOK_NAME", ""),
    }
    env
}
