//! The `snap` program compared with recordings of the real one, and its behaviours one by one.

mod behaviours;
mod client;
mod daemon;

use std::path::PathBuf;

use serde_json::Value;

use super::{Client, Reply, Snap, SnapSpec, Starter, Turn};
use crate::store::{Confinement, Publish, Publisher};
use crate::world::{Model, Time, Version, World};

/// A machine `0`, and no snaps anywhere.
pub(super) fn world(now: &str) -> World {
    let model = Model { name: "m".to_owned(), uuid: "u".to_owned() };
    let mut world = World::new(Version::parse("3.6.9").unwrap(), model, 1);
    world.clock = Time::parse_rfc3339(now).unwrap();
    world.add_machine();
    world.store.url = "http://STORE".to_owned();
    world.store.address = "STORE".to_owned();
    world
}

pub(super) fn snapd(world: &mut World) -> &mut super::Snapd {
    &mut world.machines.get_mut("0").unwrap().snapd
}

pub(super) fn snap_of<'a>(world: &'a mut World, name: &str) -> &'a mut Snap {
    snapd(world).snaps.get_mut(name).unwrap()
}

/// Runs a command to its end; the clock moves on with it.
pub(super) fn run(world: &mut World, args: &[&str]) -> Reply {
    run_wide(world, args, 80)
}

pub(super) fn run_wide(world: &mut World, args: &[&str], columns: usize) -> Reply {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let by = Starter { by: "admin".to_owned(), argv: args.clone(), ..Starter::default() };
    let client = Client { machine: "0".to_owned(), columns, by };
    let mut turn = super::call(world, &client, &args);
    loop {
        match turn {
            Turn::Done(reply) => return reply,
            Turn::Until(at, then) => {
                world.clock = world.clock.max(at);
                world.tend_machines();
                turn = then(world);
            }
        }
    }
}

pub(super) fn publish(world: &mut World, snap: &str, channel: &str, revision: u32, version: &str) {
    let publish = Publish {
        snap: snap.to_owned(),
        channel: Some(channel.to_owned()),
        revision,
        version: Some(version.to_owned()),
        ..Publish::default()
    };
    let now = world.clock;
    world.store.publish(&publish, now).unwrap();
}

pub(super) fn acme() -> Publisher {
    Publisher { username: "acme".to_owned(), name: "Acme".to_owned(), badge: String::new() }
}

/// A snap as it is installed, whatever the store has.
pub(super) fn put(world: &mut World, name: &str, revision: &str, version: &str, channel: Option<&str>) {
    let spec = SnapSpec { name: name.to_owned(), sideloaded: true, ..SnapSpec::default() };
    world.set_up_snap("0", &spec).unwrap();
    let id = world.store.snaps.get(name).map(|snap| snap.id.clone());
    let publisher = world.store.snaps.get(name).map(|snap| snap.publisher.clone());
    let snap = snap_of(world, name);
    revision.clone_into(&mut snap.revision);
    version.clone_into(&mut snap.version);
    if let Some(channel) = channel {
        let channel = crate::store::Channel::parse(channel).unwrap();
        snap.tracking = Some(channel.clone());
        snap.channel = Some(channel);
        snap.id = Some(id.unwrap_or_else(|| "x".repeat(32)));
        snap.publisher = Some(publisher.unwrap_or_else(acme));
    }
}

pub(super) fn confine(world: &mut World, name: &str, confinement: Confinement) {
    snap_of(world, name).confinement = confinement;
}

pub(super) fn recordings() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../snap")
}

pub(super) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap_or_default()
}

pub(super) fn argv(case: &Value) -> Vec<&str> {
    case["argv"].as_array().unwrap().iter().skip(1).map(|arg| arg.as_str().unwrap()).collect()
}

/// A reply in the form in which recordings are compared.
pub(super) fn shown(code: u64, stdout: &str, stderr: &str) -> String {
    format!("exit {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
}
