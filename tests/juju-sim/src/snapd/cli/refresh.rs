//! `snap refresh NAME`, and which form of `snap refresh` a call is.

use super::flags::Flags;
use super::messages::{from_of, needs_classic, refused};
use super::text::fill;
use super::{Client, Reply, Turn, after, asked_channel, check_channel, hold, many, until_ready};
use crate::snapd::refresh::{NoPlan, Plan, Wish};
use crate::snapd::{Snap, ellipt_left};
use crate::store::{Confinement, Request, StoreError};
use crate::world::World;

pub(super) fn refresh(world: &mut World, client: &Client, flags: Flags) -> Turn {
    if flags.has("hold") || flags.has("unhold") {
        return hold::hold(world, client, &flags);
    }
    if flags.has("time") {
        return hold::time(world, client, &flags);
    }
    if flags.has("list") {
        return many::refresh_list(world, client, &flags);
    }
    let channel = asked_channel(&flags);
    let moded = channel.is_some() || ["classic", "devmode", "jailmode"].iter().any(|f| flags.has(f));
    let [name] = flags.args.as_slice() else {
        if moded {
            return Reply::fail(1, "a single snap name is needed to specify mode or channel flags").into();
        }
        if flags.args.is_empty() && flags.has("ignore-running") {
            return Reply::fail(
                1,
                "a single snap name must be specified when ignoring running apps and hooks",
            )
            .into();
        }
        return many::refresh_many(world, client, &flags);
    };
    let name = name.clone();
    let warning = match check_channel(channel.as_deref(), client.columns) {
        Ok(warning) => warning,
        Err(reply) => return reply.into(),
    };
    let turn = one(world, client, &flags, &name, channel);
    if warning.is_empty() { turn } else { with_warning(turn, warning) }
}

/// The same with words before all others on standard error.
pub(super) fn with_warning(turn: Turn, warning: String) -> Turn {
    match turn {
        Turn::Done(reply) => Reply { stderr: format!("{warning}{}", reply.stderr), ..reply }.into(),
        Turn::Until(at, then) => Turn::Until(at, Box::new(move |world| with_warning(then(world), warning))),
    }
}

/// What is wrong with the wish before anybody is asked.
fn senseless(world: &World, client: &Client, name: &str, flags: &Flags) -> Option<String> {
    if flags.value("cohort").is_some() && flags.has("leave-cohort") {
        return Some("cannot specify both cohort-key and leave-cohort".to_owned());
    }
    if flags.value("cohort").is_some() && flags.value("revision").is_some() {
        return Some("cannot specify both cohort-key and revision".to_owned());
    }
    let snapd = world.snapd(&client.machine)?;
    match snapd.snaps.get(name) {
        None if snapd.at_least(2, 58) => {
            Some(format!("cannot refresh \"{name}\": snap \"{name}\" is not installed"))
        }
        None => Some(format!("snap \"{name}\" is not installed")),
        Some(snap) if snap.disabled => {
            Some(format!("cannot refresh \"{name}\": refreshing disabled snap \"{name}\" not supported"))
        }
        Some(snap) if snap.sideloaded() && !flags.has("amend") => {
            Some(format!("local snap \"{name}\" is unknown to the store, use --amend to proceed anyway"))
        }
        Some(_) => None,
    }
}

fn one(world: &mut World, client: &Client, flags: &Flags, name: &str, channel: Option<String>) -> Turn {
    let error = |text: &str| Reply::fail(1, &fill(text, client.columns, 7));
    if let Some(text) = senseless(world, client, name, flags) {
        return error(&text).into();
    }
    let revision = match flags.value("revision").map(str::parse::<u32>) {
        Some(Ok(number)) if number > 0 => Some(number),
        Some(_) => {
            let text = format!("invalid snap revision: {:?}", flags.value("revision").unwrap_or(""));
            return error(&text).into();
        }
        None => None,
    };
    let wish = Wish {
        channel,
        cohort: flags.value("cohort").map(str::to_owned),
        leave: flags.has("leave-cohort"),
        revision,
    };
    let snap = world.installed(&client.machine, name).cloned();
    let on_disk = |snap: &Snap| {
        revision.is_some_and(|number| snap.older.iter().any(|older| older.revision == number.to_string()))
    };
    let (millis, trouble) = match snap.as_ref().is_some_and(on_disk) {
        true => (0, None),
        false => world.store.trouble(Request::Refresh, &client.machine, &[name.to_owned()]),
    };
    world.store.forget_used_faults();
    let (client, name) = (client.clone(), name.to_owned());
    let options = Options {
        classic: flags.has("classic"),
        ignore_running: flags.has("ignore-running"),
        no_wait: flags.has("no-wait"),
    };
    after(world, millis, move |world| match trouble {
        Some(StoreError::Timeout) => error_of(&client, "unable to contact snap store").into(),
        Some(trouble) => error_of(&client, &format!("cannot refresh \"{name}\": {}", trouble.text())).into(),
        None => planned(world, client, &name, &wish, options),
    })
}

#[derive(Debug, Clone, Copy)]
struct Options {
    classic: bool,
    ignore_running: bool,
    no_wait: bool,
}

fn error_of(client: &Client, text: &str) -> Reply {
    Reply::fail(1, &fill(text, client.columns, 7))
}

fn planned(world: &mut World, client: Client, name: &str, wish: &Wish, options: Options) -> Turn {
    let Some(snap) = world.installed(&client.machine, name).cloned() else {
        return error_of(&client, &format!("snap \"{name}\" is not installed")).into();
    };
    // Where nothing is to be done snapd does not look for changes that are under way.
    let plan = match world.plan_only(&client.machine, &snap, wish) {
        Ok(plan) => plan,
        Err(NoPlan::NoUpdate) => {
            return Reply::soft(&format!("snap \"{name}\" has no updates available")).into();
        }
        Err(NoPlan::BadChannel(text)) => return error_of(&client, &text).into(),
        Err(NoPlan::Refused(refusal, tracking)) => {
            let arch = world.machines.get(&client.machine).map_or("", |m| m.arch.as_str());
            let text = refused(name, "refresh", arch, wish.channel.as_deref(), &tracking, refusal);
            return error_of(&client, &text).into();
        }
    };
    if let Some(busy) = world.conflict(&client.machine, name) {
        let text = format!("snap \"{name}\" has \"{}\" change in progress", busy.kind);
        return Reply::fail(10, &fill(&text, client.columns, 7)).into();
    }
    let moves = plan.change.moves_revision();
    let classic = plan.target.files.as_ref().is_some_and(|(_, c, _)| *c == Confinement::Classic);
    if moves && classic && snap.confinement != Confinement::Classic && !options.classic {
        return error_of(&client, &needs_classic(name)).into();
    }
    if moves && !snap.running.is_empty() && !options.ignore_running {
        let pids: Vec<String> = snap.running.iter().map(u32::to_string).collect();
        let text = format!(
            "cannot refresh \"{name}\": snap \"{name}\" has running apps ({name}), pids: {}",
            pids.join(",")
        );
        return error_of(&client, &text).into();
    }
    let Ok(plan) = world.plan(&client.machine, &snap, wish) else {
        return Reply::soft(&format!("snap \"{name}\" has no updates available")).into();
    };
    begin(world, &client, name, wish, plan, options.no_wait)
}

fn begin(world: &mut World, client: &Client, name: &str, wish: &Wish, plan: Plan, no_wait: bool) -> Turn {
    let new = world.snapd(&client.machine).is_some_and(|snapd| snapd.at_least(2, 58));
    let channel = wish.channel.as_deref().filter(|channel| *channel != "stable");
    let summary = match (channel, wish.cohort.as_deref().filter(|_| new)) {
        (None, None) => format!("Refresh \"{name}\" snap"),
        (Some(channel), None) => format!("Refresh \"{name}\" snap from \"{channel}\" channel"),
        (None, Some(key)) => format!("Refresh \"{name}\" snap from \"{}\" cohort", ellipt_left(key, 10)),
        (Some(channel), Some(key)) => format!(
            "Refresh \"{name}\" snap from \"{channel}\" channel and \"{}\" cohort",
            ellipt_left(key, 10)
        ),
    };
    let change = world.refresh_change("refresh-snap", summary, vec![plan]);
    let id = world.begin_change(&client.machine, &client.by, change);
    if no_wait {
        return Reply::out(format!("{id}\n")).into();
    }
    let (machine, name) = (client.machine.clone(), name.to_owned());
    until_ready(world, &client.machine, id, move |world| {
        Reply::out(world.installed(&machine, &name).map_or(String::new(), |snap| from_of(snap, "refreshed")))
    })
}
