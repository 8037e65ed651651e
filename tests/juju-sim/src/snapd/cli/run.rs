//! `snap start`, `restart`, `stop`, `remove`: of one whole snap.

use super::flags::Flags;
use super::{Client, Reply, Turn, until_ready};
use crate::snapd::{Effect, NewChange};
use crate::world::World;

pub(super) fn start(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let enabled = flags.has("enable").then_some(true);
    services(world, client, &flags, enabled, true, "Started.")
}

pub(super) fn restart(world: &mut World, client: &Client, flags: Flags) -> Turn {
    services(world, client, &flags, None, true, "Restarted.")
}

pub(super) fn stop(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let enabled = flags.has("disable").then_some(false);
    services(world, client, &flags, enabled, false, "Stopped.")
}

fn services(
    world: &mut World,
    client: &Client,
    flags: &Flags,
    enabled: Option<bool>,
    active: bool,
    said: &'static str,
) -> Turn {
    let [name] = flags.args.as_slice() else {
        return Reply::not_simulated("services of several snaps").into();
    };
    if world.installed(&client.machine, name).is_none() {
        return Reply::fail(1, &format!("snap \"{name}\" not found")).into();
    }
    let effects = vec![Effect::Services(name.clone(), enabled, active)];
    let summary = format!("Running service command for snap \"{name}\"");
    let millis = world.snap_times.metadata;
    let new = NewChange { kind: "service-control", summary, effects, millis, ..NewChange::default() };
    let id = world.begin_change(&client.machine, &client.by, new);
    until_ready(world, &client.machine, id, move |_| Reply::out(format!("{said}\n")))
}

pub(super) fn remove(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let [name] = flags.args.as_slice() else {
        return Reply::not_simulated("removal of several snaps").into();
    };
    if world.installed(&client.machine, name).is_none() {
        return Reply::soft(&format!("snap \"{name}\" is not installed")).into();
    }
    if let Some(busy) = world.conflict(&client.machine, name) {
        return Reply::fail(10, &format!("snap \"{name}\" has \"{}\" change in progress", busy.kind)).into();
    }
    let effects = vec![Effect::Remove(name.clone())];
    let (summary, snaps) = (format!("Remove \"{name}\" snap"), vec![name.clone()]);
    let millis = world.snap_times.refresh;
    let new = NewChange { kind: "remove-snap", summary, effects, millis, snaps, ..NewChange::default() };
    let id = world.begin_change(&client.machine, &client.by, new);
    let name = name.clone();
    until_ready(world, &client.machine, id, move |_| Reply::out(format!("{name} removed\n")))
}
