//! `set`, `get` and `known`: the system's configuration, and assertions.

use serde_json::Value;

use super::flags::Flags;
use super::{Client, Reply, Turn, until_ready};
use crate::snapd::{Effect, NewChange};
use crate::world::{Time, World};

fn is_system(name: &str) -> bool {
    name == "system" || name == "core"
}

pub(super) fn set(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some((snap, pairs)) = flags.args.split_first() else { return Reply::default().into() };
    if pairs.is_empty() {
        return Reply::usage("the required argument `<conf value> (at least 1 argument)` was not provided")
            .into();
    }
    if !is_system(snap) {
        return Reply::not_simulated(&format!("snap set {snap}")).into();
    }
    let mut values = Vec::new();
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=') else {
            if let Some(key) = pair.strip_suffix('!') {
                values.push((key.to_owned(), Value::Null));
                continue;
            }
            let text = format!("invalid configuration: {pair:?} (want key=value)");
            return Reply::fail(1, &text).into();
        };
        let json = serde_json::from_str(text).ok().filter(|_| !flags.has("string"));
        values.push((key.to_owned(), json.unwrap_or_else(|| Value::String(text.to_owned()))));
    }
    let fault = values.iter().find_map(|(key, value)| fault(key, value));
    let fails = fault.map(|why| {
        format!("cannot perform the following tasks:\n- Run configure hook of \"core\" snap (run hook \"configure\": {why})")
    });
    let new = NewChange {
        kind: "configure-snap",
        summary: "Change configuration of \"core\" snap".to_owned(),
        effects: vec![Effect::Config(values)],
        millis: world.snap_times.metadata,
        fails,
        ..NewChange::default()
    };
    let id = world.begin_change(&client.machine, &client.by, new);
    if flags.has("no-wait") {
        return Reply::out(format!("{id}\n")).into();
    }
    until_ready(world, &client.machine, id, |_| Reply::default())
}

/// What snapd says of a value that it does not take.
fn fault(key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => return None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    match key {
        "refresh.timer" => {
            let part = text.split(',').find(|part| !is_schedule(part))?;
            Some(format!("cannot parse \"{part}\": \"{part}\" is not a valid weekday"))
        }
        "refresh.hold" if text != "forever" && Time::parse_rfc3339(&text).is_none() => Some(format!(
            "refresh.hold cannot be parsed: parsing time \"{text}\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"{text}\" as \"2006\""
        )),
        "refresh.retain" => {
            let fits = text.parse::<u32>().is_ok_and(|number| (2..=20).contains(&number));
            (!fits)
                .then(|| "retain must be a number between 2 and 20".to_owned() + &format!(", not \"{text}\""))
        }
        "refresh.metered" if text != "hold" && !text.is_empty() => {
            Some(format!("refresh.metered value \"{text}\" is invalid"))
        }
        _ => None,
    }
}

/// A weekday such as `fri5`, or times such as `23:00-01:00` and `00:00~24:00/4`.
fn is_schedule(part: &str) -> bool {
    let part = part.split_once('/').map_or(part, |(part, _)| part);
    let is_day = |day: &str| {
        let name = day.trim_end_matches(|c: char| ('1'..='5').contains(&c));
        ["mon", "tue", "wed", "thu", "fri", "sat", "sun"].contains(&name) && day.len() - name.len() <= 1
    };
    let is_clock = |clock: &str| {
        clock.split_once(':').is_some_and(|(hour, minute)| {
            hour.len() == 2
                && minute.len() == 2
                && hour.parse::<u8>().is_ok_and(|h| h <= 24)
                && minute.parse::<u8>().is_ok_and(|m| m < 60)
        })
    };
    part.split(['-', '~']).all(is_day) || part.split(['-', '~']).all(is_clock)
}

pub(super) fn get(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some((snap, keys)) = flags.args.split_first() else { return Reply::default().into() };
    let [key] = keys else { return Reply::not_simulated("snap get of anything but one key").into() };
    if !is_system(snap) || flags.has("list") {
        return Reply::not_simulated(&format!("snap get {snap}")).into();
    }
    let found = world.snapd(&client.machine).and_then(|snapd| snapd.config.get(key));
    let Some(found) = found else {
        return Reply::fail(1, &format!("snap \"core\" has no \"{key}\" configuration option")).into();
    };
    let text = match found {
        _ if flags.has("doc") => format!("{{\n\t\"{key}\": {found}\n}}"),
        Value::String(text) if flags.has("typed") => format!("\"{text}\""),
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            found.to_string()
        }
    };
    Reply::out(format!("{text}\n")).into()
}

pub(super) fn known(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some((kind, headers)) = flags.args.split_first() else { return Reply::default().into() };
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let wants = |name: &str| headers.iter().find_map(|h| h.strip_prefix(name)?.strip_prefix('='));
    let signed = "sign-key-sha3-384: -CvQKAwRQ5h3Ffn10FILJoEZUXOv6km9FwA80-Rcj-f-6jadQ89VRswHNiEB9Lxk\n\nAcLBUgQAAQoABgUCV7UYzwAA\n";
    let mut all = Vec::new();
    match kind.as_str() {
        "snap-declaration" => {
            for snap in snapd.snaps.values() {
                let (Some(id), Some(publisher)) = (&snap.id, &snap.publisher) else { continue };
                if wants("snap-name").is_none_or(|name| name == snap.name)
                    && wants("snap-id").is_none_or(|wanted| wanted == id)
                {
                    all.push(format!(
                        "type: snap-declaration\nauthority-id: canonical\nseries: 16\nsnap-id: {id}\npublisher-id: {}\nsnap-name: {}\ntimestamp: 2026-01-01T00:00:00.000000Z\n{signed}",
                        publisher.username, snap.name
                    ));
                }
            }
        }
        "store" => all.extend(snapd.proxy().filter(|proxy| wants("store").is_none_or(|w| w == *proxy)).map(
            |proxy| format!("type: store\nauthority-id: canonical\nstore: {proxy}\noperator-id: acme\nurl: https://{proxy}.example\ntimestamp: 2026-01-01T00:00:00.000000Z\n{signed}"),
        )),
        "model" | "account" | "account-key" | "serial" | "snap-revision" => {}
        other => {
            return Reply::fail(1, &format!("cannot find assert type {other:?}")).into();
        }
    }
    Reply::out(all.join("\n")).into()
}
