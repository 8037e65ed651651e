//! `create-cohort`, `refresh --list`, and refreshes of several snaps or of all.

use super::flags::Flags;
use super::messages::from_of;
use super::text::{all_quoted, fill, row, size, wide};
use super::{Client, Reply, Turn, after, until_ready};
use crate::snapd::NewChange;
use crate::snapd::refresh::{Plan, Wish};
use crate::store::{Request, StoreError};
use crate::world::World;

pub(super) fn create_cohort(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let mut names = flags.args;
    let (millis, trouble) = world.store.trouble(Request::Cohorts, &client.machine, &names);
    world.store.forget_used_faults();
    let machine = client.machine.clone();
    after(world, millis, move |world| {
        let failed = |text: &str| Turn::from(Reply::fail(1, &format!("cannot create cohorts: {text}")));
        match trouble {
            Some(StoreError::Empty) => return Reply::default().into(),
            Some(StoreError::Status(code, place)) => {
                let text = StoreError::Status(code, place).text();
                return failed(&format!("cannot create cohorts for {}: {text}", all_quoted(&names)));
            }
            Some(error) => return failed(&error.text()),
            None => {}
        }
        names.sort();
        names.dedup();
        let proxy = world.snapd(&machine).and_then(|snapd| snapd.proxy().map(str::to_owned));
        let now = world.clock;
        match world.store.cohort_keys(&names, proxy.as_deref(), now) {
            None => failed("snap not found"),
            Some(keys) => {
                let mut out = "cohorts:\n".to_owned();
                for (name, key) in keys {
                    out.push_str(&format!("  {name}:\n    cohort-key: {key}\n"));
                }
                Reply::out(out).into()
            }
        }
    })
}

/// Asks the store for all snaps at once.
fn ask(world: &mut World, client: &Client) -> (u64, Option<StoreError>) {
    let names: Vec<String> =
        world.snapd(&client.machine).map(|s| s.snaps.keys().cloned().collect()).unwrap_or_default();
    let answer = world.store.trouble(Request::Refresh, &client.machine, &names);
    world.store.forget_used_faults();
    answer
}

pub(super) fn refresh_list(world: &mut World, client: &Client, flags: &Flags) -> Turn {
    if !flags.args.is_empty() {
        return Reply::fail(1, "--list does not accept additional arguments").into();
    }
    let (millis, trouble) = ask(world, client);
    let client = client.clone();
    after(world, millis, move |world| {
        if let Some(error) = trouble {
            let text = format!("cannot list updates: {}", error.text());
            return Reply::fail(1, &fill(&text, client.columns, 7)).into();
        }
        let mut rows = vec![row(&["Name", "Version", "Rev", "Size", "Publisher", "Notes"])];
        let snaps: Vec<_> =
            world.snapd(&client.machine).map(|s| s.snaps.values().cloned().collect()).unwrap_or_default();
        for snap in snaps.iter().filter(|snap| !snap.sideloaded() && !snap.disabled) {
            let Ok(Plan { change, target, .. }) = world.plan_only(&client.machine, snap, &Wish::default())
            else {
                continue;
            };
            let Some((version, confinement, bytes)) = target.files.filter(|_| change.moves_revision()) else {
                continue;
            };
            rows.push(vec![
                snap.name.clone(),
                version,
                change.to.revision,
                size(bytes),
                snap.publisher.as_ref().map_or("-".to_owned(), crate::store::Publisher::short),
                confinement.note().unwrap_or("-").to_owned(),
            ]);
        }
        if rows.len() == 1 { Reply::soft("All snaps up to date.") } else { Reply::out(wide(&rows)) }.into()
    })
}

/// `snap refresh` without a name, or with several.
pub(super) fn refresh_many(world: &mut World, client: &Client, flags: &Flags) -> Turn {
    let (millis, trouble) = ask(world, client);
    let client = client.clone();
    let names = flags.args.clone();
    let no_wait = flags.has("no-wait");
    let dropped = ["cohort", "leave-cohort", "revision", "amend"].into_iter().find(|f| flags.has(f));
    let dropped = dropped.filter(|_| names.len() > 1);
    let problem = dropped.map(|flag| format!("with several names --{flag} is dropped in silence"));
    after(world, millis, move |world| {
        let reply = |reply: Reply| Turn::from(Reply { problem: problem.clone(), ..reply });
        if let Some(error) = trouble {
            let text = format!("cannot refresh {}: {}", shown(&names), error.text());
            return reply(Reply::fail(1, &fill(&text, client.columns, 7)));
        }
        for name in &names {
            if world.installed(&client.machine, name).is_none() {
                return reply(Reply::fail(1, &format!("snap \"{name}\" is not installed")));
            }
            if let Some(busy) = world.conflict(&client.machine, name) {
                let text = format!("snap \"{name}\" has \"{}\" change in progress", busy.kind);
                return reply(Reply::fail(10, &fill(&text, client.columns, 7)));
            }
        }
        let now = world.clock;
        let mut plans = world.general_plans(&client.machine, now, !names.is_empty());
        plans.retain(|plan| names.is_empty() || names.contains(&plan.change.snap));
        let moved: Vec<String> = plans.iter().map(|plan| plan.change.snap.clone()).collect();
        let summary = match (moved.as_slice(), names.as_slice()) {
            ([], []) => "Refresh all snaps: no updates".to_owned(),
            ([], names) => format!("Refresh snaps {}: no updates", all_quoted(names)),
            ([one], _) => format!("Refresh snap \"{one}\""),
            (moved, _) => format!("Refresh snaps {}", all_quoted(moved)),
        };
        let new = match moved.is_empty() {
            true => NewChange { kind: "refresh-snap", summary, ..NewChange::default() },
            false => world.refresh_change("refresh-snap", summary, plans),
        };
        let id = world.begin_change(&client.machine, &client.by, new);
        if no_wait {
            return reply(Reply::out(format!("{id}\n")));
        }
        let machine = client.machine.clone();
        let problem = problem.clone();
        until_ready(world, &client.machine, id, move |world| {
            if moved.is_empty() {
                return Reply { problem, ..Reply::soft("All snaps up to date.") };
            }
            let lines = moved.iter().filter_map(|name| world.installed(&machine, name));
            let out = lines.map(|snap| from_of(snap, "refreshed")).collect::<String>();
            Reply { problem, ..Reply::out(out) }
        })
    })
}

fn shown(names: &[String]) -> String {
    match names {
        [] => "all snaps".to_owned(),
        names => all_quoted(names),
    }
}
