//! `snap switch`: what a snap follows, without a move and without the store.

use super::flags::Flags;
use super::refresh::with_warning;
use super::text::{fill, quoted};
use super::{Client, Reply, Turn, asked_channel, check_channel, until_ready};
use crate::snapd::{Effect, Move, NewChange, Place, Target, ellipt_left};
use crate::store::Channel;
use crate::world::World;

pub(super) fn switch(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let [name] = flags.args.as_slice() else {
        return Reply {
            problem: Some("too many arguments".to_owned()),
            ..Reply::fail(1, "too many arguments for command")
        }
        .into();
    };
    let channel = asked_channel(&flags);
    let warning = match check_channel(channel.as_deref(), client.columns) {
        Ok(warning) => warning,
        Err(reply) => return reply.into(),
    };
    let key = flags.value("cohort").map(str::to_owned);
    let leave = flags.has("leave-cohort");
    let error = |text: &str| Turn::from(Reply::fail(1, &fill(text, client.columns, 7)));
    if key.is_some() && leave {
        return Reply::fail(1, "cannot specify both --cohort and --leave-cohort").into();
    }
    if key.is_none() && !leave && channel.is_none() {
        let text = "nothing to switch; specify --channel (and/or one of --cohort/--leave-cohort)";
        return Reply::fail(1, text).into();
    }
    let Some(snap) = world.installed(&client.machine, name).cloned() else {
        return error(&format!("snap \"{name}\" is not installed"));
    };
    let tracking = match channel.as_deref().map(|c| Channel::resolve(c, snap.tracking.as_ref())) {
        None => snap.tracking.clone(),
        Some(Ok(channel)) => Some(channel),
        Some(Err(text)) => return with_warning(error(&text), warning),
    };
    if let Some(busy) = world.conflict(&client.machine, name) {
        let text = format!("snap \"{name}\" has \"{}\" change in progress", busy.kind);
        return Reply::fail(10, &fill(&text, client.columns, 7)).into();
    }
    let cohort_key = if leave { None } else { key.clone().or(snap.cohort_key.clone()) };
    let place = Place { revision: snap.revision.clone(), tracking: tracking.clone(), cohort_key };
    let short = key.as_deref().map(|key| quoted(&ellipt_left(key, 10)));
    let to = tracking.as_ref().map_or(String::new(), Channel::to_string);
    let asked = channel.as_deref().unwrap_or_default();
    let (summary, out) = match (&channel, &short, leave) {
        (Some(_), Some(key), _) => (
            format!("Switch \"{name}\" snap to channel \"{asked}\" and cohort {key}"),
            format!("\"{name}\" switched to the \"{to}\" channel and the {key} cohort\n\n"),
        ),
        (Some(_), None, true) => (
            format!("Switch \"{name}\" snap to channel \"{asked}\" and away from cohort"),
            format!("\"{name}\" left the cohort, and switched to the \"{to}\" channel\n"),
        ),
        (Some(_), None, false) => (
            format!("Switch \"{name}\" snap to channel \"{asked}\""),
            format!("\"{name}\" switched to the \"{to}\" channel\n\n"),
        ),
        (None, Some(key), _) => (
            format!("Switch \"{name}\" snap to cohort {key}"),
            format!("\"{name}\" switched to the {key} cohort\n\n"),
        ),
        (None, None, _) => {
            (format!("Switch \"{name}\" snap away from cohort"), format!("\"{name}\" left the cohort\n"))
        }
    };
    let target = Target {
        name: name.clone(),
        place: place.clone(),
        channel: snap.channel.clone(),
        files: None,
        crashes: false,
        adopt: None,
    };
    let new = NewChange {
        kind: "switch-snap",
        summary,
        moves: vec![Move { snap: name.clone(), from: Some(snap.place()), to: place }],
        effects: vec![Effect::Go(Box::new(target))],
        millis: world.snap_times.metadata,
        ..NewChange::default()
    };
    let id = world.begin_change(&client.machine, &client.by, new);
    if flags.has("no-wait") {
        return Reply::out(format!("{id}\n")).into();
    }
    with_warning(until_ready(world, &client.machine, id, move |_| Reply::out(out)), warning)
}
