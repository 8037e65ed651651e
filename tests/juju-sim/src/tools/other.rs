//! Ports, reboot, resources, and the tools that Juju has but nothing here simulates.

use serde_json::json;

use super::{Call, Done, Fail, Format, parse, print};
use crate::agent::context::{Context, Job, Reboot};
use crate::wire::gnuflag::Spec;
use crate::world::World;

pub fn open_port(_: &mut World, context: &mut Context, call: &Call) -> Done {
    port(context, call, true)
}

pub fn close_port(_: &mut World, context: &mut Context, call: &Call) -> Done {
    port(context, call, false)
}

fn port(context: &mut Context, call: &Call, open: bool) -> Done {
    let parsed = Spec::new().value(&["endpoints"]).value(&["format"]).parse(&call.args)?;
    let text = parsed.args().first().ok_or_else(|| Fail::Usage("no port or range specified".to_owned()))?;
    parsed.at_most(1)?;
    let range = read_port(text).ok_or_else(|| {
        Fail::Usage(format!(
            "invalid port or range \"{text}\", expected <port>[/<protocol>] or <from>-<to>[/<protocol>]"
        ))
    })?;
    context.ports.push((open, range));
    Ok(Vec::new())
}

fn read_port(text: &str) -> Option<String> {
    let text = text.to_ascii_lowercase();
    if text == "icmp" {
        return Some(text);
    }
    let (range, protocol) = text.split_once('/').unwrap_or((&text, "tcp"));
    let valid = |number: &str| number.parse::<u16>().is_ok_and(|port| port > 0);
    let range_ok = match range.split_once('-') {
        Some((from, to)) => valid(from) && valid(to),
        None => valid(range),
    };
    (range_ok && ["tcp", "udp"].contains(&protocol)).then(|| format!("{range}/{protocol}"))
}

pub fn opened_ports(world: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().output().flag(&["endpoints"]), call, 0)?;
    let ports: Vec<String> =
        world.units.get(&context.unit).map_or(Vec::new(), |u| u.ports.iter().cloned().collect());
    print(call, &parsed, Format::Smart, json!(ports))
}

pub fn reboot(_: &mut World, context: &mut Context, call: &Call) -> Done {
    let parsed = parse(Spec::new().flag(&["now"]), call, 0)?;
    if matches!(context.job, Job::Action(_)) {
        return Err(Fail::Error("juju-reboot is not supported when running an action.".to_owned()));
    }
    context.reboot = if parsed.is_set("now") { Reboot::Now } else { Reboot::After };
    Ok(Vec::new())
}

pub fn resource_get(_: &mut World, _: &mut Context, call: &Call) -> Done {
    let parsed = Spec::new().parse(&call.args)?;
    let name = parsed.args().first().ok_or_else(|| Fail::Usage("missing resource name".to_owned()))?;
    Err(Fail::Error(format!("could not download resource: resource \"{name}\" not found")))
}

pub fn not_simulated(_: &mut World, _: &mut Context, _: &Call) -> Done {
    Err(Fail::NotSimulated)
}
