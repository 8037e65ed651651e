//! `snap info`: the store's channel map and the installed snap. Trouble with the store is not told.

use super::flags::Flags;
use super::list::notes;
use super::rows::{Line, aligned, channels};
use super::text::{moment, size, table};
use super::{Client, Reply, Turn, after};
use crate::snapd::{Hold, Snap};
use crate::store::{Request, StoreSnap};
use crate::world::World;

pub(super) fn info(world: &mut World, client: &Client, flags: Flags) -> Turn {
    asked(world, client.clone(), flags, Vec::new(), 0)
}

/// Asks the store about one snap after the other.
fn asked(world: &mut World, client: Client, flags: Flags, mut known: Vec<bool>, waited: u64) -> Turn {
    let Some(name) = flags.args.get(known.len()).cloned() else {
        return after(world, waited, move |world| told(world, &client, &flags, &known).into());
    };
    let (millis, trouble) = world.store.trouble(Request::Info, &client.machine, &[name]);
    world.store.forget_used_faults();
    known.push(trouble.is_none());
    asked(world, client, flags, known, waited + millis)
}

fn told(world: &World, client: &Client, flags: &Flags, known: &[bool]) -> Reply {
    let mut documents = Vec::new();
    let mut found = 0;
    for (name, known) in flags.args.iter().zip(known) {
        let remote = world.store.snaps.get(name).filter(|_| *known);
        let local = world.installed(&client.machine, name);
        if remote.is_none() && local.is_none() {
            if flags.args.len() == 1 {
                return Reply::fail(1, &format!("no snap found for \"{name}\""));
            }
            documents.push(format!("warning: no snap found for \"{name}\"\n"));
            continue;
        }
        found += 1;
        documents.push(document(world, client, flags, name, remote, local));
    }
    let stdout = documents.join("---\n");
    if found == 0 {
        return Reply { stdout, ..Reply::fail(1, "no valid snaps given") };
    }
    Reply::out(stdout)
}

/// Lines `key: value` with the values in one column.
fn lines(pairs: &[(&str, String)]) -> String {
    let rows: Vec<Vec<String>> =
        pairs.iter().map(|(key, value)| vec![format!("{key}:"), value.clone()]).collect();
    table(&rows, 2, 1)
}

fn document(
    world: &World,
    client: &Client,
    flags: &Flags,
    name: &str,
    remote: Option<&StoreSnap>,
    local: Option<&Snap>,
) -> String {
    let now = world.clock;
    let absolute = flags.has("abs-time");
    let holds = world.snapd(&client.machine).is_some_and(|snapd| snapd.at_least(2, 58));
    let in_store = world.store.snaps.get(name);
    let summary = in_store.map_or(format!("The {name} snap"), |snap| snap.summary.clone());
    let description = in_store.map_or(format!("This is {name}."), |snap| snap.description.clone());
    let publisher = remote.map(|snap| &snap.publisher).or(local.and_then(|snap| snap.publisher.as_ref()));
    let publisher = publisher.map_or("--".to_owned(), crate::store::Publisher::long);
    let license = "unset".to_owned();
    let mut out = String::new();
    let (title, rest) =
        ([("name", name.to_owned()), ("summary", summary)], [("publisher", publisher), ("license", license)]);
    if let (true, Some(_)) = (flags.has("verbose"), local) {
        out.push_str(&lines(&title));
        out.push_str("health:\n  status:  unknown\n  message: health has not been set\n");
        out.push_str(&lines(&rest));
    } else {
        let [one, two] = title;
        let [three, four] = rest;
        out.push_str(&lines(&[one, two, three, four]));
    }
    out.push_str("description: |\n");
    for line in description.lines() {
        out.push_str(&format!("  {line}\n"));
    }
    if let Some(local) = local {
        out.push_str(&services(local));
    }
    if let (true, Some(local)) = (flags.has("verbose"), local) {
        out.push_str(&verbose_notes(local));
    }
    let mut pairs = Vec::new();
    if flags.has("verbose")
        && let Some(base) = in_store.and_then(|snap| snap.base.clone())
    {
        pairs.push(("base", base));
    }
    if let Some(id) = local.and_then(|snap| snap.id.clone()).or(remote.map(|snap| snap.id.clone())) {
        pairs.push(("snap-id", id));
    }
    if let Some(local) = local {
        if let (true, Some(key)) = (flags.has("verbose"), &local.cohort_key) {
            pairs.push(("cohort", key.clone()));
        }
        if let Some(tracking) = &local.tracking {
            pairs.push(("tracking", tracking.to_string()));
        }
        pairs.push(("refresh-date", moment(local.refreshed, now, absolute)));
        match local.held.filter(|hold| holds && hold.holds(now)) {
            Some(Hold::Forever) => pairs.push(("hold", "forever".to_owned())),
            Some(Hold::Until(end)) => pairs.push(("hold", moment(end, now, absolute))),
            None => {}
        }
    }
    let arch = world.machines.get(&client.machine).map_or("", |m| m.arch.as_str());
    let rows = remote.map(|snap| channels(snap, arch)).unwrap_or_default();
    let installed = local.map(|local| Line {
        key: "installed:".to_owned(),
        version: local.version.clone(),
        date: String::new(),
        revision: format!("({})", local.revision),
        size: size(local.size),
        notes: notes(local, false, now, holds),
    });
    if rows.is_empty() {
        if let Some(line) = installed {
            let Line { version, revision, size, notes, .. } = line;
            pairs.push(("installed", format!("{version} {revision} {size} {notes}")));
        }
        out.push_str(&lines(&pairs));
        return out;
    }
    out.push_str(&lines(&pairs));
    out.push_str("channels:\n");
    let rows: Vec<Line> =
        rows.into_iter().map(|(key, of)| Line::of(key, of, absolute)).chain(installed).collect();
    out.push_str(&aligned(&rows));
    out
}

fn services(local: &Snap) -> String {
    if local.services.is_empty() {
        return String::new();
    }
    let rows = local.services.iter().map(|(name, service)| {
        let enabled = if service.enabled { "enabled" } else { "disabled" };
        let active = if service.active { "active" } else { "inactive" };
        vec![format!("  {}.{name}:", local.name), format!("simple, {enabled}, {active}")]
    });
    format!("services:\n{}", table(&rows.collect::<Vec<_>>(), 2, 1))
}

fn verbose_notes(local: &Snap) -> String {
    let no = || "false".to_owned();
    let devmode = local.confinement == crate::store::Confinement::Devmode;
    let pairs = [
        ("notes", String::new()),
        ("  private", no()),
        ("  confinement", local.confinement.name().to_owned()),
        ("  devmode", devmode.to_string()),
        ("  jailmode", no()),
        ("  trymode", no()),
        ("  enabled", (!local.disabled).to_string()),
        ("  broken", no()),
        ("  ignore-validation", no()),
    ];
    lines(&pairs)
}
