//! Step by step towards what is wanted. The unit's file is in place before the snap is installed, which
//! else would run with a file of its own; the snap is connected before the file is validated, since what
//! is mounted is in the file; the service is started anew once, at the end, and only on a change.

use super::render::{Rendered, Wanted, probe, render};
use super::{Way, file_name, in_force, need, outcome_of, places, shared, wish};
use crate::databag::certificates;
use crate::databag::charm_state::CollectionMemory;
use crate::databag::collected::Collected;
use crate::databag::scrape::Slot;
use crate::databag::{Digest, Hidden};
use crate::juju::{Level, Status, Timestamp};
use crate::observed::collection::{Collection, Done, Occasion, Step};
use crate::snap::{Alteration, Installed, Place, Relocation, Revision};
use std::collections::{BTreeMap, BTreeSet};

/// Plugs that the service cannot do without, and slots of snapd's own for them.
const PLUGS: [(&str, &str); 3] =
    [("etc-otelcol-config", "system-files"), ("log-observe", "log-observe"), ("home", "home")];
/// A slot that did not connect is tried again after so many seconds.
const SLOTS_AGAIN: u64 = 600;

/// The next step; and what the peers are told, where that is certain.
pub(super) fn next(
    part: &Collection,
    wanted: &Wanted,
    memory: &mut CollectionMemory,
) -> (Way, Option<Option<Collected>>) {
    let rendered = render(wanted);
    let mut found = Vec::new();
    let way = steps(part, wanted, rendered.as_ref(), memory, &mut found).err();
    let way = way.unwrap_or(Way::Settled(found));
    if matches!(way, Way::Settled(_)) {
        memory.principals = part.sources.keys().cloned().collect();
    }
    let settled = matches!(way, Way::Settled(_)) && part.machine.active;
    let collected = rendered.filter(|rendered| settled && is_in_force(part, rendered.digest));
    (
        way,
        collected
            .map(|rendered| Some(Collected::of(rendered.collected)).filter(|c| !c.principals.is_empty())),
    )
}

fn is_in_force(part: &Collection, digest: Digest) -> bool {
    part.machine.files.get(&file_name(part)).is_some_and(|file| file.digest == digest)
}

/// All steps in their order; the first that is not done yet is the way.
fn steps(
    part: &Collection,
    wanted: &Wanted,
    rendered: Option<&Rendered>,
    memory: &mut CollectionMemory,
    found: &mut Vec<Status>,
) -> Result<(), Way> {
    let Some(revision) = shared::revision(part.architecture) else {
        let line = format!("there is no collector for {}: set collect=off", part.architecture);
        return Err(Way::Settled(vec![Status::new(Level::Blocked, line)]));
    };
    lock(part, revision)?;
    certificates(part)?;
    let installed = installed(part, rendered, revision)?;
    hold(part, installed, revision)?;
    let slots = connect(part, wanted, memory, found)?;
    if let Some(rendered) = rendered
        && !is_accepted(part, wanted, rendered, memory)?
    {
        let line = "the collector refuses its configuration; what was in force before stays";
        found.push(Status::new(Level::Blocked, line));
        return Ok(());
    }
    place(part, rendered)?;
    run(part, rendered, memory, found)?;
    found.push(Status::new(Level::Active, remark(wanted, slots)));
    Ok(())
}

/// The unit's lock file: as long as it is there nobody else removes the snap.
fn lock(part: &Collection, revision: Revision) -> Result<(), Way> {
    let name = format!("{}{revision}__{}", places::LOCK, super::id_of(&part.unit));
    let own = part.machine.locks.iter().filter(|(_, owner)| owner.as_ref() == Some(&part.unit));
    if own.map(|(name, _)| name).eq([&name]) {
        return Ok(());
    }
    Err(need(part, Step::Lock { name }, None, "cannot place the collector's lock file"))
}

fn certificates(part: &Collection) -> Result<(), Way> {
    let text = certificates::bundle(&part.certificates);
    if text.as_deref().map(Digest::of) == part.machine.bundle {
        return Ok(());
    }
    Err(need(part, Step::Bundle { text }, None, "cannot write the certificates for the collector"))
}

/// The snap, once it is there.
fn installed<'a>(
    part: &'a Collection,
    rendered: Option<&Rendered>,
    revision: Revision,
) -> Result<&'a Installed, Way> {
    let name = shared::snap();
    match &part.machine.installed {
        Ok(Some(installed)) => return Ok(installed),
        Ok(None) => {}
        Err(trouble) => {
            let line = format!("cannot see whether {name} is installed: {}", trouble.text);
            return Err(Way::Stuck(Status::new(Level::Waiting, line)));
        }
    }
    if let Some(rendered) = rendered
        && !is_in_force(part, rendered.digest)
    {
        let step = Step::Place { text: Some(rendered.text.clone()) };
        return Err(need(part, step, None, "cannot write the collector's file"));
    }
    let step = Step::Alter(Alteration::Install { to: to(revision), classic: false });
    let during = Status::new(Level::Maintenance, format!("installing {name} {revision}"));
    Err(need(part, step, Some(during), &format!("cannot install {name} {revision} (or set collect=off)")))
}

fn to(revision: Revision) -> Relocation {
    Relocation { name: shared::snap(), channel: None, to: Place::Revision(revision), ignore_running: false }
}

/// The snap is held at the revision, unless another user of it wants another one.
fn hold(part: &Collection, installed: &Installed, revision: Revision) -> Result<(), Way> {
    let hold = Step::Alter(Alteration::Hold { names: BTreeSet::from([shared::snap()]) });
    // snapd before 2.58 has no holds; the pinned revision is looked after all the same.
    if !installed.notes.held() && outcome_of(part, &hold).is_none() {
        return Err(Way::go(hold, None));
    }
    let others = part.machine.locks.iter().filter(|(_, owner)| owner.as_ref() != Some(&part.unit));
    let own = format!("{revision}__");
    let agreed =
        others.map(|(name, _)| name.trim_start_matches(places::LOCK)).all(|name| name.starts_with(&own));
    if installed.revision == revision || installed.is_sideloaded() || !agreed {
        return Ok(());
    }
    let name = shared::snap();
    let during = Status::new(Level::Maintenance, format!("moving {name} to {revision}"));
    let step = Step::Alter(Alteration::Move(to(revision)));
    Err(need(part, step, Some(during), &format!("cannot move {name} to {revision}")))
}

/// Connects plugs and slots; gives how many slots are connected.
fn connect(
    part: &Collection,
    wanted: &Wanted,
    memory: &mut CollectionMemory,
    found: &mut Vec<Status>,
) -> Result<usize, Way> {
    let name = shared::snap();
    let there = match &part.connections {
        None => {
            return Err(need(part, Step::ReadConnections, None, "cannot read the collector's connections"));
        }
        Some(Err(trouble)) => {
            let line = format!("cannot read the collector's connections: {}", trouble.text);
            return Err(Way::Stuck(Status::new(Level::Waiting, line)));
        }
        Some(Ok(there)) => there,
    };
    for (plug, slot) in PLUGS {
        let step = Step::ConnectPlug { plug, slot };
        let connected = there.iter().any(|connection| connection.plug == plug);
        if !connected && !matches!(outcome_of(part, &step), Some(Ok(_))) {
            let cannot = format!("cannot run snap connect {name}:{plug} :{slot}");
            return Err(need(part, step, None, &cannot));
        }
    }
    let (mut count, mut again) = (0, false);
    for slot in wanted.slots.keys() {
        let step = Step::Connect { slot: slot.clone() };
        let text = slot.to_string();
        let connected = there.iter().any(|connection| connection.plug == "logs" && connection.slot == text);
        match outcome_of(part, &step) {
            _ if connected => count += 1,
            Some(Ok(_)) => count += 1,
            Some(Err(failure)) => {
                let level = if failure.transient { Level::Waiting } else { Level::Blocked };
                found.push(Status::new(level, format!("log slot {slot} does not connect: {}", failure.text)));
                again = true;
            }
            None if part.machine.snaps.contains(&slot.snap) => return Err(Way::go(step, None)),
            None => {
                let line = format!("log slot {slot}: its snap is not installed yet");
                found.push(Status::new(Level::Waiting, line));
            }
        }
    }
    memory.slots_again = again.then_some(Timestamp(part.now.0 + SLOTS_AGAIN));
    if let Some(slot) = unwanted(part, memory, wanted.slots.keys()) {
        return Err(Way::go(Step::Disconnect { slot }, None));
    }
    Ok(count)
}

/// A slot that this unit has connected, and that nobody on this machine names any more.
pub(super) fn unwanted<'a>(
    part: &'a Collection,
    memory: &CollectionMemory,
    wanted: impl Iterator<Item = &'a Slot>,
) -> Option<Slot> {
    let wanted: BTreeSet<&Slot> = wanted.chain(wish::others(part).flat_map(|header| &header.slots)).collect();
    memory.connected.iter().find(|slot| !wanted.contains(slot)).cloned()
}

/// Whether the collector accepts the file. If it does not, whose jobs it refuses is found out, and the
/// next decision leaves them out.
fn is_accepted(
    part: &Collection,
    wanted: &Wanted,
    rendered: &Rendered,
    memory: &CollectionMemory,
) -> Result<bool, Way> {
    if memory.validated == Some(rendered.digest) {
        return Ok(true);
    }
    let cannot = "cannot validate the collector's configuration";
    let step = Step::Validate { text: rendered.text.clone() };
    if !matches!(outcome_of(part, &step), Some(Ok(Done::Refused))) {
        return Err(need(part, step, None, cannot));
    }
    let parts: BTreeMap<_, Hidden> = rendered
        .collected
        .iter()
        .filter_map(|principal| Some((principal.clone(), probe(wanted, principal)?)))
        .collect();
    let step = Step::Probe { parts };
    match outcome_of(part, &step) {
        // Nobody's jobs alone are to blame.
        Some(Ok(_)) => Ok(false),
        Some(Err(_)) | None => Err(need(part, step, None, cannot)),
    }
}

fn place(part: &Collection, rendered: Option<&Rendered>) -> Result<(), Way> {
    let there = part.machine.files.get(&file_name(part)).map(|file| file.digest);
    if there == rendered.map(|rendered| rendered.digest) {
        return Ok(());
    }
    let step = Step::Place { text: rendered.map(|rendered| rendered.text.clone()) };
    Err(need(part, step, None, "cannot write the collector's file"))
}

/// The service: started anew once a change; one that does not run then is started once an update-status.
fn run(
    part: &Collection,
    rendered: Option<&Rendered>,
    memory: &CollectionMemory,
    found: &mut Vec<Status>,
) -> Result<(), Way> {
    let name = shared::snap();
    let applied = memory.applied == Some(in_force(part));
    if rendered.is_none() && part.machine.files.is_empty() {
        // Without any file it would run with one of its own.
        if part.machine.active {
            return Err(need(part, Step::Stop, None, &format!("cannot stop {name}")));
        }
        return Ok(());
    }
    let during = Some(Status::new(Level::Maintenance, format!("starting {name}")));
    if !applied {
        let step = if part.machine.active { Step::Restart } else { Step::Start };
        return Err(need(part, step, during, &format!("cannot start {name}")));
    }
    if part.machine.active {
        return Ok(());
    }
    if part.occasion == Occasion::UpdateStatus && outcome_of(part, &Step::Start).is_none() {
        return Err(Way::go(Step::Start, during));
    }
    found.push(Status::new(Level::Blocked, format!("the collector does not run: see snap logs {name}")));
    Ok(())
}

/// `collecting 3 jobs, 1 log slot for 1 Prometheus, 1 Loki`
fn remark(wanted: &Wanted, slots: usize) -> String {
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut what = Vec::new();
    let mut whom = Vec::new();
    if !wanted.remote_write.is_empty() {
        what.push(count(wanted.jobs.values().map(Vec::len).sum(), "job", "jobs"));
        whom.push(count(wanted.remote_write.len(), "Prometheus", "Prometheus"));
    }
    if !wanted.loki.is_empty() {
        what.push(count(slots, "log slot", "log slots"));
        whom.push(count(wanted.loki.len(), "Loki", "Loki"));
    }
    format!("collecting {} for {}", what.join(", "), whom.join(", "))
}
