//! `snap refresh --hold`, `--unhold` and `--time`.

use super::flags::Flags;
use super::text::{all_quoted, fill, minute, moment};
use super::{Client, Reply, Turn, until_ready};
use crate::snapd::{Effect, Hold, NewChange, parse_duration};
use crate::world::World;

pub(super) fn hold(world: &mut World, client: &Client, flags: &Flags) -> Turn {
    let others = ["list", "time", "channel", "revision", "cohort", "leave-cohort", "amend", "hold", "unhold"];
    let given: Vec<&str> = others.into_iter().filter(|flag| flags.has(flag)).collect();
    if let [first, second, ..] = given.as_slice() {
        let text = match flags.has("hold") && flags.has("unhold") {
            true => "cannot use --hold and --unhold together".to_owned(),
            false => {
                let hold = if flags.has("hold") { "hold" } else { "unhold" };
                let other = if *first == hold { second } else { first };
                format!("cannot use --{hold} with --{other}")
            }
        };
        return Reply::fail(1, &text).into();
    }
    let until = match flags.value("hold") {
        None => None,
        Some("forever") => Some(Hold::Forever),
        Some(text) => match parse_duration(text) {
            Ok(millis) => Some(Hold::Until(world.clock.plus(millis))),
            Err(why) => {
                let text = format!(
                    "hold value must be a number of hours, minutes or seconds, or \"forever\": {why}"
                );
                return Reply::fail(1, &text).into();
            }
        },
    };
    for name in &flags.args {
        if world.installed(&client.machine, name).is_none() {
            let verb = if until.is_some() { "hold" } else { "unhold" };
            let text = format!("cannot {verb} \"{name}\": snap \"{name}\" is not installed");
            return Reply::fail(1, &fill(&text, client.columns, 7)).into();
        }
    }
    let names = all_quoted(&flags.args);
    let (summary, out) = match (flags.args.is_empty(), until) {
        (true, None) => (
            "Remove auto-refresh hold on all snaps".to_owned(),
            "Removed auto-refresh hold on all snaps".to_owned(),
        ),
        (false, None) => {
            (format!("Remove refresh hold on {names}"), format!("Removed general refresh hold of {names}"))
        }
        (true, Some(hold)) => (
            "Hold auto-refreshes for all snaps".to_owned(),
            format!("Auto-refresh of all snaps held {}", shown(hold)),
        ),
        (false, Some(hold)) => (
            format!("Hold general refreshes for {names}"),
            format!("General refreshes of {names} held {}", shown(hold)),
        ),
    };
    let effects = if flags.args.is_empty() {
        let value = match until {
            None => serde_json::Value::Null,
            Some(Hold::Forever) => "forever".into(),
            Some(Hold::Until(end)) => end.rfc3339().into(),
        };
        vec![Effect::Config(vec![("refresh.hold".to_owned(), value)])]
    } else {
        flags.args.iter().map(|name| Effect::Hold(name.clone(), until)).collect()
    };
    let millis = world.snap_times.metadata;
    let new = NewChange { kind: "hold-snap", summary, effects, millis, ..NewChange::default() };
    let id = world.begin_change(&client.machine, &client.by, new);
    if flags.has("no-wait") {
        return Reply::out(format!("{id}\n")).into();
    }
    until_ready(world, &client.machine, id, move |_| Reply::out(format!("{out}\n")))
}

fn shown(hold: Hold) -> String {
    match hold {
        Hold::Forever => "indefinitely".to_owned(),
        Hold::Until(end) => format!("until {}", end.rfc3339()),
    }
}

pub(super) fn time(world: &mut World, client: &Client, flags: &Flags) -> Turn {
    let now = world.clock;
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let absolute = flags.has("abs-time");
    let shown = |time| moment(minute(time), now, absolute);
    let hold = snapd.refresh_hold().filter(|hold| hold.holds(now));
    let mut out = format!("timer: {}\n", snapd.setting("refresh.timer").unwrap_or("00:00~24:00/4"));
    out.push_str(&format!("last: {}\n", snapd.last_refresh.map_or("n/a".to_owned(), shown)));
    match hold {
        Some(Hold::Forever) => out.push_str("hold: forever\n"),
        Some(Hold::Until(end)) => out.push_str(&format!("hold: {}\n", shown(end))),
        None => {}
    }
    let next = snapd.auto_refresh.as_ref().map(|auto| shown(auto.next));
    let held = match (&next, hold) {
        (Some(_), Some(_)) => " (but held)",
        (_, _) => "",
    };
    out.push_str(&format!("next: {}{held}\n", next.unwrap_or("n/a".to_owned())));
    Reply::out(out).into()
}
