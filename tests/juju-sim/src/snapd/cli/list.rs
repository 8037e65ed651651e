//! `list`, `services`, `version`: what snapd knows without the store.

use super::flags::Flags;
use super::text::{row, wide};
use super::{Client, Reply, Turn};
use crate::snapd::Snap;
use crate::store::{Channel, Confinement};
use crate::world::{Time, World};

pub(super) fn system_lines(client: &str, daemon: &str, series: &str) -> String {
    let pairs = [
        ("snap", client),
        ("snapd", daemon),
        ("series", series),
        ("ubuntu", "22.04"),
        ("kernel", "5.15.0-1"),
    ];
    pairs.map(|(name, value)| format!("{name:<8}{value}\n")).concat()
}

pub(super) fn version(world: &mut World, client: &Client, _: Flags) -> Turn {
    let version = world.snapd(&client.machine).map_or(String::new(), |s| s.version.clone());
    Reply::out(system_lines(&version, &version, "16")).into()
}

/// The notes of an installed snap, in the client's order.
pub(super) fn notes(snap: &Snap, old: bool, now: Time, holds: bool) -> String {
    let confinement = match snap.confinement {
        Confinement::Strict => None,
        Confinement::Classic => Some("classic"),
        Confinement::Devmode => Some("devmode"),
    };
    let notes: Vec<&str> = [
        (snap.kind != "app").then_some(snap.kind.as_str()),
        (snap.disabled || old).then_some("disabled"),
        confinement,
        snap.cohort_key.is_some().then_some("in-cohort"),
        (holds && snap.is_held(now)).then_some("held"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if notes.is_empty() { "-".to_owned() } else { notes.join(",") }
}

fn tracking(channel: Option<&Channel>) -> String {
    match channel {
        None => "-".to_owned(),
        Some(Channel { track, risk, branch: Some(_) }) => format!("{track}/{}/…", risk.name()),
        Some(channel) => channel.to_string(),
    }
}

pub(super) fn list(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let now = world.clock;
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    let holds = snapd.at_least(2, 58);
    let mut rows = vec![row(&["Name", "Version", "Rev", "Tracking", "Publisher", "Notes"])];
    let wanted = |snap: &&Snap| flags.args.is_empty() || flags.args.contains(&snap.name);
    for snap in snapd.snaps.values().filter(wanted) {
        let publisher = snap.publisher.as_ref().map_or("-".to_owned(), crate::store::Publisher::short);
        let mut one = |version: &str, revision: &str, old: bool| {
            rows.push(vec![
                snap.name.clone(),
                version.to_owned(),
                revision.to_owned(),
                tracking(snap.tracking.as_ref()),
                publisher.clone(),
                notes(snap, old, now, holds),
            ]);
        };
        if flags.has("all") {
            snap.older.iter().for_each(|older| one(&older.version, &older.revision, true));
        }
        one(&snap.version, &snap.revision, false);
    }
    match (rows.len(), flags.args.is_empty()) {
        (1, true) => Reply::soft("No snaps are installed yet. Try 'snap install hello-world'."),
        (1, false) => Reply::fail(1, "no matching snaps installed"),
        (_, _) => Reply::out(wide(&rows)),
    }
    .into()
}

pub(super) fn services(world: &mut World, client: &Client, flags: Flags) -> Turn {
    let Some(snapd) = world.snapd(&client.machine) else { return Reply::default().into() };
    for name in &flags.args {
        let (snap, service) = name.split_once('.').map_or((name.as_str(), None), |(s, a)| (s, Some(a)));
        let Some(found) = snapd.snaps.get(snap) else {
            return Reply::fail(1, &format!("snap \"{snap}\" not found")).into();
        };
        if let Some(service) = service.filter(|service| !found.services.contains_key(*service)) {
            return Reply::fail(1, &format!("snap \"{snap}\" has no service \"{service}\"")).into();
        }
    }
    let mut rows = vec![row(&["Service", "Startup", "Current", "Notes"])];
    for snap in snapd.snaps.values() {
        for (name, service) in &snap.services {
            let full = format!("{}.{name}", snap.name);
            if !flags.args.is_empty() && !flags.args.iter().any(|arg| *arg == snap.name || *arg == full) {
                continue;
            }
            let startup = if service.enabled { "enabled" } else { "disabled" };
            let current = if service.active { "active" } else { "inactive" };
            rows.push(row(&[&full, startup, current, "-"]));
        }
    }
    if rows.len() == 1 {
        return Reply::soft("There are no services provided by installed snaps.").into();
    }
    Reply::out(wide(&rows)).into()
}
