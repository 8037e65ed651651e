//! status-set, status-get, application-version-set: all take effect at once.

use serde_json::{Value, json};

use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::Context;
use crate::wire::gnuflag::Spec;
use crate::world::{StatusInfo, World};

const SETTABLE: [&str; 4] = ["maintenance", "blocked", "waiting", "active"];

pub fn status_set(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().flag(&["application"]).parse(&call.args)?;
    let Some(status) = parsed.args().first() else {
        return Err(Fail::Usage("invalid args, require <status> [message]".to_owned()));
    };
    if !SETTABLE.contains(&status.as_str()) {
        let text = format!("invalid status \"{status}\", expected one of [{}]", SETTABLE.join(" "));
        return Err(Fail::Usage(text));
    }
    parsed.at_most(2)?;
    let message = parsed.args().get(1).map_or("", String::as_str);
    let now = world.clock;
    if parsed.is_set("application") {
        if !context.is_leader(world) {
            return Err(Fail::Error("this unit is not the leader".to_owned()));
        }
        if let Some(application) = world.applications.get_mut(&context.app) {
            let info = StatusInfo::new(status, message, now);
            application.status_history.push(info.clone());
            application.status = Some(info);
        }
    } else if let Some(unit) = world.units.get_mut(&context.unit) {
        unit.set_workload(status, message, now);
        unit.uniter.status_set = true;
    }
    Ok(Vec::new())
}

fn with_data(info: &StatusInfo) -> Value {
    json!({"message": info.message, "status": info.status, "status-data": {}})
}

pub fn status_get(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let spec = Spec::new().output().flag(&["include-data"]).flag(&["application"]);
    let parsed = parse(spec, call, 0)?;
    if parsed.is_set("application") {
        if !context.is_leader(world) {
            let text = "finding application status: this unit is not the leader";
            return Err(Fail::Error(text.to_owned()));
        }
        let status = world.app_status(&context.app);
        let units: serde_json::Map<String, Value> =
            world.units_of(&context.app).iter().map(|u| (u.name.clone(), with_data(&u.workload))).collect();
        if !parsed.is_set("include-data") {
            return print(call, &parsed, Format::Smart, json!(status.status));
        }
        let mut value = with_data(&status);
        if let Some(map) = value.as_object_mut() {
            map.insert("units".to_owned(), Value::Object(units));
        }
        return print(call, &parsed, Format::Smart, json!({"application-status": value}));
    }
    let Some(unit) = world.units.get(&context.unit) else {
        return Err(Fail::Error(format!("unit \"{}\" not found", context.unit)));
    };
    // The first answer of a hook is kept; a later status-set does not change it.
    let info = context.status.get_or_insert_with(|| unit.workload.clone());
    let value = match (parsed.is_set("include-data"), parsed.format(Format::Smart)) {
        (true, _) => with_data(info),
        (false, Format::Smart) => json!(info.status),
        (false, Format::Json | Format::Yaml) => json!({"status": info.status}),
    };
    print(call, &parsed, Format::Smart, value)
}

pub fn version_set(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().parse(&call.args)?;
    let version =
        parsed.args().first().cloned().ok_or_else(|| Fail::Usage("no version specified".to_owned()))?;
    parsed.at_most(1)?;
    if let Some(unit) = world.units.get_mut(&context.unit) {
        unit.version = Some(version);
    }
    Ok(Vec::new())
}

impl World {
    /// What `juju status` shows for an application: what its leader set, else the worst of its units.
    pub fn app_status(&self, app: &str) -> StatusInfo {
        if let Some(status) = self.applications.get(app).and_then(|a| a.status.clone()) {
            return status;
        }
        let units = self.units_of(app);
        let worst = units.iter().map(|u| u.shown_status()).max_by_key(|info| info.severity());
        worst.cloned().unwrap_or_else(|| StatusInfo::new("unknown", "", self.clock))
    }
}
