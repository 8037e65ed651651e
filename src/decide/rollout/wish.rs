//! The leader: when an upgrade is wanted, whether its gate is open, and what its target is.
//!
//! An upgrade begins when the options ask for something that they have not asked for before and that
//! is not there yet. What was once taken up is kept in the target: it is not asked for again when
//! somebody else moves a snap, or an admin goes back. What they no longer say is forgotten, and may be
//! asked for anew.

use super::super::options::WantedChannel;
use super::super::upgrade::{self, Checked, Facts, Unit};
use super::grants;
use super::heads;
use super::target::{self, Followed, Keys, Note};
use super::view::View;
use super::{back, story, text};
use crate::databag::charm_state::RolloutMemory;
use crate::databag::cohorts::Offer;
use crate::databag::history::End;
use crate::databag::node::{Node, Role};
use crate::databag::target::{Kind, Pin, SnapTarget, Target, TargetHeads, Wish, Wishes};
use crate::juju::Status;
use crate::plan::Effect;
use crate::snap::{CohortKey, Minor, SnapName};
use std::collections::{BTreeMap, BTreeSet};

/// What the leader makes of the wanted channels.
#[derive(Debug, Clone, Default)]
pub struct Upgrading {
    /// What has to be done first.
    pub need: Option<Effect>,
    /// The target to be put in force, how the one before ends, and the line about it.
    pub target: Option<(Box<Target>, Option<End>, story::Told)>,
    /// The present target, with what the options ask for and is there already.
    pub recorded: Option<Box<Target>>,
    /// Its statuses.
    pub statuses: Vec<Status>,
}

/// What the options ask for, against what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Nothing new.
    Nothing,
    /// What is there already.
    There(Wishes),
    /// What was there before the upgrade that is in force.
    Back(Wishes),
    /// Something else: these snaps are to change.
    Forward(Wishes),
}

/// Decides about an upgrade. `own` is what this unit reports now.
pub fn decide(view: &View<'_>, own: &Node, memory: &mut RolloutMemory) -> Upgrading {
    let mut upgrading = Upgrading { statuses: packed(view), ..Upgrading::default() };
    if view.members.values().all(|member| member.node.is_none()) {
        return upgrading;
    }
    match look(view) {
        Wanted::Nothing if view.has_met() => upgrading.recorded = recorded(view, Wishes::new()),
        Wanted::There(wishes) if view.has_met() => upgrading.recorded = recorded(view, wishes),
        Wanted::Back(wishes) if view.has_met() => {
            if let Some((mut target, from)) =
                view.target.and_then(|from| Some((back::back(view, from)?, from)))
            {
                target.wanted.extend(wishes);
                let line = story::asked_back(&target, from);
                upgrading.target = Some((Box::new(target), Some(End::RolledBack), line));
            }
        }
        Wanted::Nothing | Wanted::There(_) | Wanted::Back(_) => {}
        Wanted::Forward(changes) => forward(view, own, changes, memory, &mut upgrading),
    }
    upgrading
}

/// The present target with what the options ask for now; none where it says so already.
fn recorded(view: &View<'_>, there: Wishes) -> Option<Box<Target>> {
    let target = view.target?;
    let mut now = target.clone();
    // A packed file that cannot be read is no word of an admin's.
    if view.options.channel != WantedChannel::Charm || matches!(view.rollout.packed, Some(Ok(_))) {
        let asked = view.wishes();
        now.wanted.retain(|name, _| asked.contains_key(name));
    }
    now.wanted.extend(there);
    (now != *target).then(|| Box::new(now))
}

/// What is wrong with the packed file, where it counts.
fn packed(view: &View<'_>) -> Vec<Status> {
    if view.options.channel != WantedChannel::Charm {
        return Vec::new();
    }
    match &view.rollout.packed {
        Some(Ok(_)) => Vec::new(),
        Some(Err(fault)) => vec![text::packed_wrong(fault)],
        None => vec![text::no_packed(view.rollout.unit.application())],
    }
}

/// Compares what the options ask for with what was taken up and what is there.
pub fn look(view: &View<'_>) -> Wanted {
    let mut wishes = view.wishes();
    if let Some(target) = view.target {
        wishes.retain(|name, wish| target.wanted.get(name) != Some(wish));
    }
    let (there, changes): (Wishes, Wishes) =
        wishes.into_iter().partition(|(name, wish)| is_there(view, name, wish));
    if changes.is_empty() {
        return if there.is_empty() || view.target.is_none() {
            Wanted::Nothing
        } else {
            Wanted::There(there)
        };
    }
    if view.target.is_some_and(|target| leads_back(view, target, &changes)) {
        return Wanted::Back(changes);
    }
    Wanted::Forward(changes)
}

/// Every snap that is not where the options want it, whether or not that was once taken up.
pub fn elsewhere(view: &View<'_>) -> Wishes {
    let mut wishes = view.wishes();
    wishes.retain(|name, wish| !is_there(view, name, wish));
    wishes
}

/// Whether a snap is where it is wanted: by the target where that names a channel, else by what every
/// member that has it tracks and runs.
fn is_there(view: &View<'_>, name: &SnapName, wish: &Wish) -> bool {
    if let Some((target, snap)) = view.target.and_then(|target| Some((target, target.snaps.get(name)?))) {
        let channels = back::channels(snap);
        if !channels.is_empty() {
            let same = channels.into_iter().eq([&wish.channel]);
            if !same || has_pins(view, snap, wish) {
                return same;
            }
            // A key may have given just the revision that is wanted: it counts once it has.
            if !snap.pins.is_empty() || !view.is_completed(None, target) {
                return false;
            }
        }
    }
    let nodes = view.members.values().filter_map(|member| member.node);
    nodes
        .filter_map(|node| Some((node, node.snaps.get(name)?)))
        .filter(|(_, snap)| snap.exempt.is_none())
        .all(|(node, snap)| {
            let revision = wish.revisions.get(&node.architecture);
            let tracks = snap.channel.as_ref() == Some(&wish.channel) && !snap.on_branch;
            let branch = wish.channel.branch().is_some();
            (tracks || branch && snap.on_branch) && revision.is_none_or(|revision| *revision == snap.revision)
        })
}

/// Whether a snap has the wanted revisions on every architecture that a member has.
fn has_pins(view: &View<'_>, snap: &SnapTarget, wish: &Wish) -> bool {
    let pins = |architecture| snap.pins.values().filter_map(move |pins| pins.get(architecture));
    let nodes = view.members.values().filter_map(|member| member.node);
    let used: BTreeSet<_> = nodes.map(|node| node.architecture).collect();
    let mut wanted = wish.revisions.iter().filter(|(architecture, _)| used.contains(*architecture));
    wanted.all(|(architecture, revision)| {
        let mut pins = pins(architecture).peekable();
        pins.peek().is_some() && pins.all(|pin| pin.revision == *revision)
    })
}

/// Whether what is wanted now is what ran before the upgrade in force: all that it changes goes back.
fn leads_back(view: &View<'_>, target: &Target, changes: &Wishes) -> bool {
    if target.kind != Kind::Upgrade || target.rollback {
        return false;
    }
    let Some(back) = back::back(view, target) else { return false };
    let undone = target
        .snaps
        .iter()
        .filter(|(name, snap)| !back::channels(snap).is_empty() && back.snaps.get(*name) != Some(*snap));
    let leads = |name: &SnapName, wish: &Wish| {
        back.snaps.get(name).is_some_and(|snap| {
            let same = has_pins(view, snap, wish) || has_run(target, name, wish);
            back::channels(snap).into_iter().eq([&wish.channel]) && same
        })
    };
    changes.iter().all(|(name, wish)| leads(name, wish))
        && undone.into_iter().all(|(name, _)| changes.contains_key(name))
}

/// Whether members ran the wanted revisions when a target was made: a key that they go back to gave them.
fn has_run(target: &Target, name: &SnapName, wish: &Wish) -> bool {
    let ran = target.before.values().flatten();
    let mut ran = ran.filter_map(|(architecture, snaps)| Some((architecture, snaps.get(name)?))).peekable();
    ran.peek().is_some()
        && ran.all(|(architecture, pin)| wish.revisions.get(architecture) == Some(&pin.revision))
}

/// What the checks look at. `own` is what this unit reports now.
pub fn facts<'a>(view: &View<'a>, own: &'a Node, changes: Wishes) -> Facts<'a> {
    let rollout = view.rollout;
    let given_up =
        |unit| view.is_skipped(unit) && view.skipped.units.get(unit).is_some_and(|s| s.dead.is_some());
    let living = || view.members.values().filter(move |member| !given_up(member.unit));
    let unreported = match &rollout.goal {
        Some(Ok(goal)) => Ok(grants::missing(view, goal).into_iter().cloned().collect()),
        Some(Err(why)) => Err(why.clone()),
        None => Err("it was not read".to_owned()),
    };
    let mut heads = TargetHeads::new();
    let mut absent: BTreeMap<_, BTreeMap<_, _>> = BTreeMap::new();
    for (name, architectures) in heads::reports(view, own) {
        for (architecture, told) in architectures {
            heads.entry(name.clone()).or_default().insert(architecture, told.channels.clone());
            absent.entry(name.clone()).or_default().insert(architecture, told.absent.clone());
        }
    }
    let mut reporters = BTreeMap::new();
    for member in view.members.values() {
        if let Some(node) = member.node {
            reporters.entry(node.architecture).or_insert_with(|| member.unit.clone());
        }
    }
    let packed = rollout.packed.as_ref().and_then(|packed| packed.as_ref().ok());
    let packed = packed.filter(|_| view.options.channel == WantedChannel::Charm);
    let supported = packed.into_iter().flatten();
    let supported =
        supported.filter_map(|(name, snap)| Some((name.clone(), snap.supported.clone()?))).collect();
    Facts {
        app: rollout.unit.application(),
        build: &rollout.build,
        unreported,
        units: living()
            .map(|member| Unit {
                unit: member.unit,
                role: member.role,
                node: member.node.filter(|_| !member.garbled),
                state: member.progress.map(|progress| progress.state),
            })
            .collect(),
        changes,
        supported,
        heads,
        absent,
        reporters,
        busy: match &rollout.snapd.changes {
            Ok(changes) => Ok(changes.iter().find(|(_, all)| !all.is_empty()).map(|(name, _)| name.clone())),
            Err(trouble) => Err(trouble.text.clone()),
        },
        followers: followers(view),
    }
}

fn followers(view: &View<'_>) -> Vec<(String, Option<(Minor, Minor)>)> {
    let mut told = Vec::new();
    for (relation, follower) in &view.rollout.followers {
        let app = follower.app.as_ref().map_or_else(|| relation.to_string(), ToString::to_string);
        match &follower.versions {
            Some(Ok(versions)) => {
                let minor = |line: &Option<crate::databag::Line>| Minor::of_version(line.as_ref()?.as_str());
                // One that has no snap of Kubernetes has no versions to tell.
                if let (Some(oldest), Some(newest)) = (minor(&versions.oldest), minor(&versions.newest)) {
                    told.push((app, Some((oldest, newest))));
                }
            }
            Some(Err(_)) | None => told.push((app, None)),
        }
    }
    told
}

/// The checks that an admin has overridden for just these changes.
pub fn overridden<'a>(view: &View<'a>, changes: &Wishes) -> BTreeSet<&'a str> {
    let overridden = view.skipped.overridden.as_ref().filter(|overridden| overridden.wanted == *changes);
    overridden.into_iter().flat_map(|overridden| &overridden.checks).map(|check| check.as_str()).collect()
}

/// Makes the checks, and if nothing holds it back the target.
fn forward(
    view: &View<'_>,
    own: &Node,
    changes: Wishes,
    memory: &mut RolloutMemory,
    upgrading: &mut Upgrading,
) {
    if view.rollout.goal.is_none() {
        upgrading.need = Some(Effect::ReadGoalState);
        return;
    }
    let app = view.rollout.unit.application();
    let overridden = overridden(view, &changes);
    let facts = facts(view, own, changes);
    let checks = upgrade::run(&facts);
    let held: Vec<&Checked> =
        checks.iter().filter(|check| check.holds(|name| overridden.contains(name))).collect();
    if let Some(closed) = text::gate(&held, app) {
        upgrading.statuses.push(closed);
        return;
    }
    if !view.has_met() {
        upgrading.statuses.push(text::upgrade_waits());
        return;
    }
    let offer = match target::followed(view) {
        Followed::Nobody => None,
        Followed::Offer(offer) => Some(offer),
        Followed::Unfinished => {
            upgrading.statuses.extend(text::wait(&grants::Wait::Source, app));
            return;
        }
    };
    let keys = match target::keys(view, &names(view, &facts, offer, memory), memory) {
        Keys::Made(keys) => keys,
        Keys::Need(effect) => {
            upgrading.need = Some(effect);
            return;
        }
        Keys::Not(kind) => {
            upgrading.statuses.extend(text::note(&Note::NoKeys(kind), app));
            return;
        }
    };
    upgrading
        .statuses
        .extend(memory.unknown.keys().filter_map(|name| text::note(&Note::Unknown(name.clone()), app)));
    let mut target = assemble(view, &facts, keys, offer);
    target.overridden = overridden.into_iter().map(Into::into).collect();
    if view.target.is_none_or(|old| old.snaps != target.snaps) {
        let line = story::upgrade(&target, &facts.changes);
        upgrading.target = Some((Box::new(target), None, line));
    }
}

/// The names that need a key: those that change, without those whose revision the charm names for
/// every architecture, and those that have no place yet.
fn names(
    view: &View<'_>,
    facts: &Facts<'_>,
    offer: Option<&Offer>,
    memory: &RolloutMemory,
) -> BTreeSet<SnapName> {
    let architectures: BTreeSet<_> = facts.reporters.keys().collect();
    let pinned =
        |wish: &Wish| architectures.iter().all(|architecture| wish.revisions.contains_key(*architecture));
    let changing = facts.changes.iter().filter(|(_, wish)| !pinned(wish)).map(|(name, _)| name);
    let placed = |name: &SnapName| view.target.is_some_and(|target| target.snaps.contains_key(name));
    let homeless =
        view.options.snaps.keys().filter(|name| !placed(name) && !facts.changes.contains_key(*name));
    let offered = |name: &SnapName| offer.is_some_and(|offer| offer.keys.contains_key(name));
    let names =
        changing.chain(homeless).filter(|name| !target::is_unknown(view, memory, name) && !offered(name));
    names.cloned().collect()
}

fn assemble(
    view: &View<'_>,
    facts: &Facts<'_>,
    mut keys: BTreeMap<SnapName, CohortKey>,
    offer: Option<&Offer>,
) -> Target {
    let now = view.rollout.now;
    let mut snaps: BTreeMap<SnapName, SnapTarget> =
        view.target.map(|old| old.snaps.clone()).unwrap_or_default();
    snaps.retain(|name, _| view.options.snaps.contains_key(name));
    let mut wanted = Wishes::new();
    for (name, wish) in &facts.changes {
        let offered = offer.and_then(|offer| offer.keys.get(name));
        let key = offered.cloned().or_else(|| keys.remove(name));
        let mut snap = SnapTarget {
            created: key.is_some().then_some(now),
            followed: offered.is_some(),
            cohort: key,
            channel: Some(wish.channel.clone()),
            ..SnapTarget::default()
        };
        for (architecture, revision) in &wish.revisions {
            for role in [Role::ControlPlane, Role::Worker] {
                let pin = Pin { channel: None, revision: *revision };
                snap.pins.entry(role).or_default().insert(*architecture, pin);
            }
        }
        if snap.cohort.is_some() || !snap.pins.is_empty() {
            snaps.insert(name.clone(), snap);
            wanted.insert(name.clone(), wish.clone());
        }
    }
    for (name, key) in keys {
        let snap = SnapTarget { cohort: Some(key), created: Some(now), ..SnapTarget::default() };
        snaps.insert(name, snap);
    }
    let mut target = target::begin(view, Kind::Upgrade, snaps);
    target.heads = view.target.map(|old| old.heads.clone()).unwrap_or_default();
    target.heads.retain(|name, _| target.snaps.contains_key(name) && !wanted.contains_key(name));
    for (name, wish) in &wanted {
        for (architecture, heads) in facts.heads.get(name).into_iter().flatten() {
            if let Some(head) = heads.get(&wish.channel) {
                let of_snap = target.heads.entry(name.clone()).or_default();
                of_snap.entry(*architecture).or_default().insert(wish.channel.clone(), head.clone());
            }
        }
    }
    // Whoever asks for a channel asks for what it has, also if that was once rolled back from.
    target.refused.retain(|name, _| !wanted.contains_key(name));
    target.follows = offer.map(|offer| offer.state.target.clone());
    target.minors = upgrade::minors(facts);
    target.wanted.extend(wanted);
    target
}
