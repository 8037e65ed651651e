//! `changes`, `tasks`, `watch`.

use super::flags::Flags;
use super::text::{moment, row, wide};
use super::{Client, Reply, Turn, until_ready};
use crate::snapd::{Change, Snapd};
use crate::world::World;

pub(super) fn changes(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let now = world.clock;
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let name = flags.args.first();
    if let Some(number) = name.filter(|name| name.parse::<u32>().is_ok()) {
        let text = format!("'snap changes' command expects a snap name, try 'snap tasks {number}'");
        return Reply::fail(1, &text).into();
    }
    let absolute = flags.has("abs-time");
    let mut found: Vec<&Change> =
        snapd.changes.iter().filter(|c| name.is_none_or(|name| c.snaps.contains(name))).collect();
    if found.is_empty() {
        return Reply::soft("no changes found").into();
    }
    found.sort_by_key(|change| (change.spawn, change.id));
    let mut rows = vec![row(&["ID", "Status", "Spawn", "Ready", "Summary"])];
    rows.extend(found.iter().map(|change| {
        vec![
            change.id.to_string(),
            change.status().to_owned(),
            moment(change.spawn, now, absolute),
            change.ready.map_or("-".to_owned(), |time| moment(time, now, absolute)),
            change.summary.clone(),
        ]
    }));
    Reply::out(format!("{}\n", wide(&rows))).into()
}

/// The change that an id or `--last=TYPE` names; none where `TYPE?` finds none.
fn named<'a>(snapd: &'a Snapd, flags: &Flags) -> Result<Option<&'a Change>, Reply> {
    let Some(last) = flags.value("last") else {
        let Some(id) = flags.args.first() else {
            return Err(Reply::fail(1, "please provide change ID or type with --last=<type>"));
        };
        let found = snapd.changes.iter().find(|change| change.id.to_string() == *id);
        return match found {
            Some(change) => Ok(Some(change)),
            None => Err(Reply::fail(1, &format!("cannot find change with id \"{id}\""))),
        };
    };
    if !flags.args.is_empty() {
        return Err(Reply::fail(1, "cannot use change ID and type together"));
    }
    let (kind, optional) = last.strip_suffix('?').map_or((last, false), |kind| (kind, true));
    let kind = match kind {
        "install" | "refresh" | "switch" | "hold" | "remove" | "revert" => format!("{kind}-snap"),
        other => other.to_owned(),
    };
    let found = snapd.changes.iter().rev().find(|change| change.kind == kind);
    match (found, optional, snapd.changes.is_empty()) {
        (Some(change), _, _) => Ok(Some(change)),
        (None, true, _) => Ok(None),
        (None, false, true) => Err(Reply::fail(1, "no changes found")),
        (None, false, false) => Err(Reply::fail(1, &format!("no changes of type \"{kind}\" found"))),
    }
}

pub(super) fn watch(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    match named(snapd, &flags) {
        Ok(Some(change)) => {
            let id = change.id;
            until_ready(world, &client.machine, id, |_| Reply::default())
        }
        Ok(None) => Reply::default().into(),
        Err(reply) => reply.into(),
    }
}

pub(super) fn tasks(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let now = world.clock;
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let change = match named(snapd, &flags) {
        Ok(Some(change)) => change,
        Ok(None) => return Reply::default().into(),
        Err(reply) => return reply.into(),
    };
    let absolute = flags.has("abs-time");
    let mut rows = vec![row(&["Status", "Spawn", "Ready", "Summary"])];
    let all = summaries(change);
    for (place, summary) in all.iter().enumerate() {
        let status = match (change.status(), place) {
            ("Done", _) | ("Doing", 0) => "Done",
            ("Doing", 1) => "Doing",
            ("Doing", _) => "Do",
            (_, 0) => "Undone",
            (_, 1) => "Error",
            (_, _) => "Hold",
        };
        let ready = change.ready.or((status == "Done").then_some(change.spawn));
        rows.push(vec![
            status.to_owned(),
            moment(change.spawn, now, absolute),
            ready
                .filter(|_| status != "Do" && status != "Doing")
                .map_or("-".to_owned(), |t| moment(t, now, absolute)),
            summary.clone(),
        ]);
    }
    Reply::out(format!("{}\n", wide(&rows))).into()
}

/// What the parts of a change are called; the real ones are more.
fn summaries(change: &Change) -> Vec<String> {
    let mut all = Vec::new();
    for of in &change.moves {
        let (name, number) = (&of.snap, &of.to.revision);
        if !of.moves_revision() {
            all.push(change.summary.clone());
            continue;
        }
        let from = of.to.tracking.as_ref().map_or(String::new(), |c| format!(" from channel \"{c}\""));
        all.push(format!("Ensure prerequisites for \"{name}\" are available"));
        all.push(format!("Download snap \"{name}\" ({number}){from}"));
        all.push(format!("Mount snap \"{name}\" ({number})"));
        if of.from.is_some() {
            all.push(format!("Stop snap \"{name}\" services"));
        }
        all.push(format!("Make snap \"{name}\" ({number}) available to the system"));
        all.push(format!("Start snap \"{name}\" ({number}) services"));
    }
    if all.is_empty() {
        all.push(change.summary.clone());
    }
    all
}
