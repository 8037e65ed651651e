//! The `snap` program: one function a command, each a turn that ends with a reply or waits for a moment.

mod changes;
mod commands;
mod config;
mod flags;
mod hold;
mod info;
mod install;
mod list;
mod many;
mod messages;
mod offline;
mod plugs;
mod refresh;
mod rows;
mod run;
mod switch;
mod text;

use super::{Presence, Starter};
use crate::world::{Time, World};
use commands::{OTHERS, command};
use flags::Flags;
pub(crate) use plugs::fstab;
#[cfg(test)]
pub(super) use text::human;

/// Who calls.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) machine: String,
    /// Width of the terminal.
    pub(crate) columns: usize,
    pub(crate) by: Starter,
}

/// What the program prints and exits with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) code: u8,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What no correct caller does.
    pub(crate) problem: Option<String>,
}

/// What follows a wait.
pub(crate) type Then = Box<dyn FnOnce(&mut World) -> Turn>;

/// What a program does next.
pub(crate) enum Turn {
    /// It ends.
    Done(Reply),
    /// It waits until then.
    Until(Time, Then),
}

impl Reply {
    pub(crate) fn out(text: impl Into<String>) -> Self {
        Self { stdout: text.into(), ..Self::default() }
    }

    /// One of the soft outcomes: exit 0, text on standard error.
    fn soft(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), ..Self::default() }
    }

    pub(crate) fn fail(code: u8, text: &str) -> Self {
        Self { code, stderr: format!("error: {text}\n"), ..Self::default() }
    }

    /// What the real client rejects, with 64.
    fn usage(text: &str) -> Self {
        Self { problem: Some(text.to_owned()), ..Self::fail(64, text) }
    }

    fn not_simulated(what: &str) -> Self {
        let text = format!("{what}: not simulated");
        Self { problem: Some(text.clone()), ..Self::fail(1, &text) }
    }
}

impl From<Reply> for crate::tools::Answer {
    fn from(reply: Reply) -> Self {
        Self {
            code: reply.code,
            stdout: reply.stdout.into_bytes(),
            stderr: reply.stderr.into_bytes(),
            problem: reply.problem,
            ..Self::default()
        }
    }
}

impl From<Reply> for Turn {
    fn from(reply: Reply) -> Self {
        Self::Done(reply)
    }
}

/// Answers a call.
pub(crate) fn call(world: &mut World, client: &Client, args: &[String]) -> Turn {
    let snapd = world.snapd(&client.machine);
    let new = snapd.is_some_and(|snapd| snapd.at_least(2, 58));
    let presence = snapd.map_or(Presence::Absent, |snapd| snapd.presence);
    let Some((name, rest)) = args.split_first() else {
        return Reply::not_simulated("snap without a command").into();
    };
    let Some((run, spec, needs)) = command(name) else {
        if OTHERS.contains(&name.as_str()) {
            return Reply::not_simulated(&format!("snap {name}")).into();
        }
        return Reply::usage(&format!("unknown command \"{name}\", see 'snap help'.")).into();
    };
    let mut spec = spec.to_vec();
    let holds = ["hold", "unhold"];
    if !new {
        spec.retain(|(name, _, _)| !holds.contains(name));
    }
    let flags = match flags::parse(rest, &spec) {
        Ok(flags) => flags,
        Err(text) => {
            // A caller may well find out in this way that an old snapd has no holds.
            let tries = holds.iter().any(|hold| text == format!("unknown flag `{hold}'"));
            let reply = Reply::usage(&text);
            return Reply { problem: reply.problem.filter(|_| new || !tries), ..reply }.into();
        }
    };
    if let Some(needed) = needs.filter(|_| flags.args.is_empty()) {
        return Reply::usage(&format!("the required argument `{needed}` was not provided")).into();
    }
    if presence != Presence::Up {
        return offline::call(world, name, &flags);
    }
    run(world, client, flags)
}

/// The channel that `--channel` or one of its short forms asks for.
fn asked_channel(flags: &Flags) -> Option<String> {
    let short = ["edge", "beta", "candidate", "stable"].into_iter().find(|risk| flags.has(risk));
    flags.value("channel").or(short).map(str::to_owned)
}

/// What the client says before it sends an odd channel on, or why it does not send it.
fn check_channel(channel: Option<&str>, columns: usize) -> Result<String, Reply> {
    let Some(channel) = channel else { return Ok(String::new()) };
    match crate::store::Channel::parse(channel) {
        Ok(_) => Ok(String::new()),
        Err(text) if channel.split('/').count() > 3 => Err(Reply::fail(1, &text)),
        Err(_) => {
            let text = format!(
                "Specifying a channel \"{channel}\" is relying on undefined behaviour. Interpreting it as \"{channel}\" for now, but this will be an error later."
            );
            Ok(format!("Warning: {}\n\n", text::fill(&text, columns, 9)))
        }
    }
}

/// Waits for the store, then goes on.
fn after(world: &World, millis: u64, then: impl FnOnce(&mut World) -> Turn + 'static) -> Turn {
    Turn::Until(world.clock.plus(millis), Box::new(then))
}

/// Waits for the end of a change; a failed one is told as the client tells it.
fn until_ready(
    world: &World,
    machine: &str,
    id: u32,
    done: impl FnOnce(&mut World) -> Reply + 'static,
) -> Turn {
    let machine = machine.to_owned();
    let Some(change) = world.change(&machine, id) else {
        return Reply::fail(1, &format!("cannot find change with id \"{id}\"")).into();
    };
    match (change.ready, &change.error) {
        (Some(_), Some(error)) => Reply::fail(1, error).into(),
        (Some(_), None) => Turn::Until(
            world.clock,
            Box::new(move |world| {
                let reply = done(world);
                Turn::Done(reply)
            }),
        ),
        (None, _) if world.snapd(&machine).is_some_and(|snapd| snapd.presence != Presence::Up) => {
            // The client tries again for a while; the change itself waits for snapd.
            after(world, offline::TRIES, move |world| match world.snapd(&machine).map(|s| s.presence) {
                Some(Presence::Up) => until_ready(world, &machine, id, done),
                _ => Reply::fail(1, &offline::unreachable("Get", &format!("changes/{id}"))).into(),
            })
        }
        (None, _) => {
            let at = change.due.max(world.clock.plus(100));
            Turn::Until(at, Box::new(move |world| until_ready(world, &machine, id, done)))
        }
    }
}
