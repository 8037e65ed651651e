//! `snap install NAME`: from the store only.

use super::flags::Flags;
use super::messages::{from_of, needs_classic, refused};
use super::text::fill;
use super::{Client, Reply, Turn, after, asked_channel, check_channel, until_ready};
use crate::snapd::refresh::Wish;
use crate::snapd::{Effect, Move, NewChange, is_snap_name};
use crate::store::{Channel, Confinement, Question, Request, StoreError};
use crate::world::World;

pub(super) fn install(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let channel = asked_channel(&flags);
    let [name] = flags.args.as_slice() else {
        return Reply::not_simulated("snap install of several snaps").into();
    };
    if !is_snap_name(name) {
        return Reply::not_simulated(&format!("snap install of the file {name}")).into();
    }
    if let Err(reply) = check_channel(channel.as_deref(), client.columns) {
        return reply.into();
    }
    let error = |text: &str| Turn::from(Reply::fail(1, &fill(text, client.columns, 7)));
    if world.installed(&client.machine, name).is_some() {
        return Reply::soft(&format!("snap \"{name}\" is already installed, see 'snap help refresh'")).into();
    }
    let revision = flags.value("revision").map(str::parse::<u32>);
    if flags.value("cohort").is_some() && revision.is_some() {
        return error("cannot specify both cohort-key and revision");
    }
    if let Some(Err(_)) = revision {
        return error(&format!("invalid snap revision: {:?}", flags.value("revision").unwrap_or("")));
    }
    let wish = Wish {
        channel,
        cohort: flags.value("cohort").map(str::to_owned),
        revision: revision.and_then(Result::ok),
        ..Wish::default()
    };
    let (millis, trouble) =
        world.store.trouble(Request::Refresh, &client.machine, std::slice::from_ref(name));
    world.store.forget_used_faults();
    let (client, name) = (client.clone(), name.clone());
    let (classic, no_wait) = (flags.has("classic"), flags.has("no-wait"));
    after(world, millis, move |world| {
        let error = |text: &str| Turn::from(Reply::fail(1, &fill(text, client.columns, 7)));
        match trouble {
            Some(StoreError::Timeout) => error("unable to contact snap store"),
            Some(trouble) => error(&format!("cannot install \"{name}\": {}", trouble.text())),
            None => begin(world, &client, &name, &wish, classic, no_wait),
        }
    })
}

fn begin(world: &mut World, client: &Client, name: &str, wish: &Wish, classic: bool, no_wait: bool) -> Turn {
    let error = |text: &str| Turn::from(Reply::fail(1, &fill(text, client.columns, 7)));
    let Some(machine) = world.machines.get(&client.machine) else { return Reply::default().into() };
    let (arch, proxy) = (machine.arch.clone(), machine.snapd.proxy().map(str::to_owned));
    let tracking = match Channel::parse(wish.channel.as_deref().unwrap_or("latest/stable")) {
        Ok(channel) => channel,
        Err(text) => return error(&text),
    };
    if let Some(busy) = world.conflict(&client.machine, name) {
        let text = format!("snap \"{name}\" has \"{}\" change in progress", busy.kind);
        return Reply::fail(10, &fill(&text, client.columns, 7)).into();
    }
    let question = Question {
        snap: name,
        channel: &tracking,
        cohort: wish.cohort.as_deref(),
        machine: &client.machine,
        arch: &arch,
        proxy: proxy.as_deref(),
    };
    let offer = match wish.revision {
        Some(number) => world.store.numbered(name, number, &arch),
        None => world.store.offer(question),
    };
    let offer = match offer {
        Ok(offer) => offer,
        Err(refusal) => {
            return error(&refused(name, "install", &arch, wish.channel.as_deref(), &tracking, refusal));
        }
    };
    if offer.revision.confinement == Confinement::Classic && !classic {
        return error(&needs_classic(name));
    }
    let mut snap = world.new_snap(name, offer.number, &offer.revision);
    snap.tracking = Some(tracking);
    snap.channel = offer.channel.clone().or(snap.tracking.clone());
    snap.cohort_key.clone_from(&wish.cohort);
    let (extra, fails) = world.fetch(&client.machine, name, &offer, false);
    let new = NewChange {
        kind: "install-snap",
        summary: match &wish.channel {
            Some(channel) => format!("Install \"{name}\" snap from \"{channel}\" channel"),
            None => format!("Install \"{name}\" snap"),
        },
        moves: vec![Move { snap: name.to_owned(), from: None, to: snap.place() }],
        effects: vec![Effect::Install(Box::new(snap))],
        millis: world.snap_times.refresh + extra,
        fails,
        snaps: Vec::new(),
    };
    let id = world.begin_change(&client.machine, &client.by, new);
    if no_wait {
        return Reply::out(format!("{id}\n")).into();
    }
    let (machine, name) = (client.machine.clone(), name.to_owned());
    until_ready(world, &client.machine, id, move |world| {
        Reply::out(world.installed(&machine, &name).map_or(String::new(), |snap| from_of(snap, "installed")))
    })
}
