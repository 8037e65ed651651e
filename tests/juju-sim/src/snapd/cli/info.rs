//! `snap info`: the store's channel map and the installed snap. Trouble with the store is not told.

use super::flags::Flags;
use super::list::notes;
use super::text::{moment, size, table};
use super::{Client, Reply, Turn, after};
use crate::snapd::{Hold, Snap};
use crate::store::{Channel, Request, Revision, Risk, StoreSnap};
use crate::world::{Time, World};

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

struct Line {
    key: String,
    version: String,
    date: String,
    revision: String,
    size: String,
    notes: String,
}

enum Row<'a> {
    Open(u32, &'a Revision, Time),
    /// A safer risk of the track is open, or none.
    Closed(bool),
}

impl Line {
    fn of(key: String, row: Row<'_>, absolute: bool) -> Self {
        let date = |time: Time| if absolute { time.rfc3339() } else { time.date() };
        let none = String::new;
        match row {
            Row::Open(number, of, released) => Self {
                key,
                version: of.version.clone(),
                date: date(released),
                revision: format!("({number})"),
                size: size(of.size),
                notes: of.confinement.note().unwrap_or("-").to_owned(),
            },
            Row::Closed(forwards) => Self {
                key,
                version: if forwards { "^" } else { "--" }.to_owned(),
                date: none(),
                revision: none(),
                size: none(),
                notes: none(),
            },
        }
    }
}

/// The rows of every track that has an open channel for this architecture.
fn channels<'a>(snap: &'a StoreSnap, arch: &str) -> Vec<(String, Row<'a>)> {
    let shown = snap.shown();
    let mut rows = Vec::new();
    for track in &snap.tracks {
        let at = |risk: Risk| {
            let channel = Channel { track: track.clone(), risk, branch: None };
            let number = *shown.get(&channel)?.get(arch)?;
            let released = snap.released.get(&channel).and_then(|by_arch| by_arch.get(arch));
            Some((number, snap.revisions.get(&number)?, released.copied().unwrap_or(Time::START)))
        };
        if Risk::ALL.into_iter().all(|risk| at(risk).is_none()) {
            continue;
        }
        let mut open = false;
        for risk in Risk::ALL {
            let row = at(risk).map_or(Row::Closed(open), |(number, of, date)| Row::Open(number, of, date));
            open |= matches!(row, Row::Open(..));
            rows.push((format!("  {track}/{}:", risk.name()), row));
        }
    }
    rows
}

fn aligned(rows: &[Line]) -> String {
    let width = |of: fn(&Line) -> &String| rows.iter().map(|row| of(row).len()).max().unwrap_or(0);
    let (revisions, sizes) = (width(|row| &row.revision), width(|row| &row.size));
    let cells = rows.iter().map(|row| {
        vec![
            row.key.clone(),
            row.version.clone(),
            row.date.clone(),
            format!("{:>revisions$}", row.revision),
            format!("{:>sizes$}", row.size),
            row.notes.clone(),
        ]
    });
    table(&cells.collect::<Vec<_>>(), 2, 1)
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
