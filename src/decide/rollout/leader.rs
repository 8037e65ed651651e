//! The leader's part: a new target, else grants; one write of the peers application databag.

use super::grants::{self, Grants};
use super::target::{self, Making, Reason};
use super::view::{View, last_words};
use super::{story, text, wish};
use crate::databag::charm_state::RolloutMemory;
use crate::databag::granted::{GRANTED, Granted};
use crate::databag::history::{End, HISTORY, History};
use crate::databag::node::{Node, Role};
use crate::databag::skipped::{SKIPPED, Skipped};
use crate::databag::target::{Kind, TARGET, Target};
use crate::juju::{Level as StatusLevel, Status, UnitName};
use crate::plan::{Effect, Keys};
use crate::snap::{Architecture, Channel, Revision, SnapName};
use std::collections::BTreeMap;

/// What the leader wants.
#[derive(Debug, Clone)]
pub struct Led {
    /// What has to be done first.
    pub need: Option<Effect>,
    /// What is to be written.
    pub app: Keys,
    /// The statuses about making cohort targets.
    pub notes: Vec<Status>,
    /// The statuses of the gate of upgrades.
    pub gate: Vec<Status>,
    /// The statuses of the present rollout.
    pub statuses: Vec<Status>,
    /// How far the rollout is.
    pub progress: Option<Status>,
    /// What has happened.
    pub log: Vec<story::Told>,
}

/// Decides for the leader.
pub fn decide(view: &View<'_>, own: &Node, memory: &mut RolloutMemory) -> Led {
    let app_name = view.rollout.unit.application();
    let wish = wish::decide(view, own, memory);
    // What an admin asks for goes before new revisions.
    let busy = wish.need.is_some() || wish.target.is_some();
    let idle = Making { need: None, target: None, notes: Vec::new() };
    let Making { need, target, notes } = if busy { idle } else { target::decide(view, own, None, memory) };
    let mut led = Led {
        need: wish.need.or(need),
        app: Keys::new(),
        notes: notes.iter().filter_map(|note| text::note(note, app_name)).collect(),
        gate: wish.statuses,
        statuses: Vec::new(),
        progress: None,
        log: Vec::new(),
    };
    let unfinished = view.target.filter(|target| !view.is_completed(None, target));
    led.gate.extend(unfinished.and_then(text::overridden));
    let grants = grants::decide(view);
    remember(view, &grants, memory);
    let mut statuses = Vec::new();
    statuses.extend(grants.wait.as_ref().and_then(|wait| text::wait(wait, app_name)));
    statuses.extend(overdue(view));
    statuses.extend(differences(view));
    statuses.extend(text::passed(&passed(view, &grants)));
    statuses.retain(|status| !led.notes.contains(status));
    let all: Vec<&Status> = led.gate.iter().chain(&statuses).chain(&led.notes).collect();
    let held = led.gate.iter().any(|status| status.level != StatusLevel::Active);
    led.progress = progress(view, &grants, &all, held);
    led.statuses = statuses;
    if led.need.is_some() {
        return led;
    }
    if let Some((target, end, line)) = wish.target {
        led.app = replace(view, &target, end);
        led.log.push(line);
        return led;
    }
    match target {
        Some((target, reason)) => take(view, &target, &reason, &mut led),
        None => {
            led.need = grants.need;
            let target = wish.recorded.as_deref().or(view.target);
            led.app = changes(view, target, &grants.granted, &grants.skipped, &history(view));
            led.log = grants.news.iter().map(story::news).collect();
        }
    }
    led
}

fn take(view: &View<'_>, target: &Target, reason: &Reason, led: &mut Led) {
    led.app = replace(view, target, None);
    led.log.push(story::made(target, reason));
}

/// The write that puts a target in force. The skips of the one before are void, except of dead units.
pub fn replace(view: &View<'_>, target: &Target, end: Option<End>) -> Keys {
    let mut skipped = view.skipped.clone();
    skipped.units.retain(|unit, skip| skip.dead.as_ref() == Some(&last_words(view.told(unit))));
    if target.kind == Kind::Upgrade {
        // The upgrade that checks were overridden for has its target, or is not wanted any more.
        skipped.overridden = None;
    }
    let mut history = history(view);
    if let Some(old) = view.target
        && let Some(past) = history.entry(&old.id, old.kind, old.made)
    {
        let ended = if past.completed { End::Completed } else { End::Replaced };
        past.end = Some(end.unwrap_or(ended));
    }
    changes(view, Some(target), view.granted, &skipped, &history)
}

/// The history with what is true now of the present target.
fn history(view: &View<'_>) -> History {
    let mut history = view.history.clone();
    let Some(target) = view.target else { return history };
    let control_plane = view.is_completed(Some(Role::ControlPlane), target);
    let completed = view.is_completed(None, target);
    if (control_plane || completed)
        && let Some(past) = history.entry(&target.id, target.kind, target.made)
    {
        past.control_plane |= control_plane;
        past.completed |= completed;
    }
    history
}

/// The keys of the peers application databag that differ from what was read.
pub fn changes(
    view: &View<'_>,
    target: Option<&Target>,
    granted: &Granted,
    skipped: &Skipped,
    history: &History,
) -> Keys {
    let mut keys = Keys::new();
    if let Some(target) = target.filter(|target| view.target != Some(*target)) {
        keys.insert(TARGET.to_owned(), Some(target.write()));
    }
    if granted != view.granted {
        keys.insert(GRANTED.to_owned(), Some(granted.write()));
    }
    if skipped != view.skipped {
        keys.insert(SKIPPED.to_owned(), Some(skipped.write()));
    }
    if history != view.history {
        keys.insert(HISTORY.to_owned(), Some(history.write()));
    }
    keys
}

fn remember(view: &View<'_>, grants: &Grants, memory: &mut RolloutMemory) {
    let now = view.rollout.now;
    let held = |serial: &u64| view.granted.grants.iter().any(|grant| grant.serial == *serial);
    memory.read.retain(|serial, _| held(serial));
    for grant in &view.granted.grants {
        memory.read.entry(grant.serial).or_insert(now);
    }
    memory.unreported.clone_from(&grants.unreported);
    memory.joined.extend(view.rollout.peers.keys().cloned());
    let known = |unit: &UnitName| view.is_listed(unit) || view.granted.of(unit).is_some();
    memory.joined.retain(known);
}

/// Grants without an answer for longer than the limit.
fn overdue(view: &View<'_>) -> Vec<Status> {
    let late = |serial: &u64| {
        let since = view.memory().read.get(serial);
        since.is_some_and(|since| view.rollout.now.0.saturating_sub(since.0) >= view.options.grant_timeout)
    };
    let failed = |unit: &UnitName| {
        view.target.is_some_and(|target| {
            view.members.get(unit).is_some_and(|member| member.failure(&target.id).is_some())
        })
    };
    let late = view.granted.grants.iter().filter(|grant| late(&grant.serial) && !failed(&grant.unit));
    late.map(text::overdue).collect()
}

/// Principals that were waited for long enough and have still not been reported.
fn passed(view: &View<'_>, grants: &Grants) -> Vec<UnitName> {
    let late = |since: u64| view.rollout.now.0.saturating_sub(since) >= view.options.grant_timeout;
    grants.unreported.iter().filter(|(_, since)| late(since.0)).map(|(unit, _)| unit.clone()).collect()
}

/// Members of one architecture and channel that completed one target and run different revisions.
fn differences(view: &View<'_>) -> Vec<Status> {
    let Some(target) = view.target else { return Vec::new() };
    let mut first: BTreeMap<(&SnapName, Architecture, &Channel), (&UnitName, Revision)> = BTreeMap::new();
    let mut found: BTreeMap<&SnapName, Status> = BTreeMap::new();
    for member in view.members.values().filter(|member| member.has_completed(&target.id)) {
        let Some(node) = member.node else { continue };
        for (name, snap) in node.snaps.iter().filter(|(_, snap)| snap.exempt.is_none() && !snap.on_branch) {
            let Some(channel) = snap.channel.as_ref().filter(|_| target.snaps.contains_key(name)) else {
                continue;
            };
            let own = (member.unit, snap.revision);
            let one = *first.entry((name, node.architecture, channel)).or_insert(own);
            if one.1 != own.1 {
                found.entry(name).or_insert_with(|| text::differ(name, one, own));
            }
        }
    }
    found.into_values().collect()
}

fn progress(view: &View<'_>, grants: &Grants, statuses: &[&Status], held: bool) -> Option<Status> {
    let target = view.target?;
    let members: Vec<_> = view.members.values().collect();
    let worst = statuses.iter().copied().min_by_key(|status| status.level);
    let worst = worst.filter(|status| status.level != StatusLevel::Active);
    // Also what is no trouble says why nobody moves: a window that is closed.
    let wait = grants.wait.as_ref().and_then(|wait| text::wait(wait, view.rollout.unit.application()));
    Some(text::progress(target, &members, &grants.granted.grants, worst.or(wait.as_ref()), held))
}
