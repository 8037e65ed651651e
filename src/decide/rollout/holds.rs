//! Holds of our own, missing snaps, and what is undone on removal.
//!
//! A hold is first remembered and placed by a later pass: a hook that was killed in between must not
//! make an own hold look like somebody else's.

use super::machine::Machine;
use super::view::View;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::{NodeSnap, Role};
use crate::databag::target::{Goal, Wishes};
use crate::observed::Rollout;
use crate::snap::{Alteration, Architecture, Channel, Place, Relocation, Revision, SnapName, TroubleKind};
use std::collections::BTreeSet;

/// Snaps that only a control-plane machine runs.
const CONTROL_PLANE_ONLY: [&str; 4] =
    ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "cdk-addons"];

/// The next command about holds, and whether holds wait for this memory to be committed.
pub fn decide(
    view: &View<'_>,
    machine: &Machine<'_>,
    memory: &mut RolloutMemory,
) -> (Option<Alteration>, bool) {
    let rollout = view.rollout;
    let committed = &rollout.memory.holds;
    if !view.options.hold_snaps {
        return (take_off(rollout, memory), false);
    }
    let wanted: BTreeSet<SnapName> = machine
        .snaps
        .iter()
        .filter(|(_, snap)| snap.exempt.is_none() && !snap.installed.notes.held())
        .map(|(name, _)| (*name).clone())
        .collect();
    memory.holds.retain(|name| rollout.snapd.installed.as_ref().is_ok_and(|all| all.contains_key(name)));
    if rollout.snapd.version.is_none_or(|version| !version.can_hold()) {
        return (None, false);
    }
    memory.holds.extend(wanted.iter().cloned());
    let names: BTreeSet<SnapName> = wanted.intersection(committed).cloned().collect();
    let tried = rollout.done.iter().any(|(alteration, _)| matches!(alteration, Alteration::Hold { .. }));
    let waits = wanted.len() > names.len();
    ((!names.is_empty() && !tried).then_some(Alteration::Hold { names }), waits)
}

/// Takes own holds off, and forgets those that are.
fn take_off(rollout: &Rollout, memory: &mut RolloutMemory) -> Option<Alteration> {
    let Ok(installed) = &rollout.snapd.installed else { return None };
    memory.holds.retain(|name| installed.get(name).is_some_and(|snap| snap.notes.held()));
    let tried = rollout.done.iter().any(|(alteration, _)| matches!(alteration, Alteration::Unhold { .. }));
    (!memory.holds.is_empty() && !tried).then(|| Alteration::Unhold { names: memory.holds.clone() })
}

/// What is undone when this unit is removed: own holds, then the cohorts that it has joined, without
/// moving anything.
pub fn remove(rollout: &Rollout, restore: bool, memory: &mut RolloutMemory) -> Option<Alteration> {
    if !restore {
        return None;
    }
    let Ok(installed) = &rollout.snapd.installed else { return None };
    if let Some(unhold) = take_off(rollout, memory) {
        return Some(unhold);
    }
    let left = |name: &SnapName| {
        let leave = Alteration::LeaveCohort { name: name.clone() };
        rollout.done.iter().any(|(alteration, _)| *alteration == leave)
    };
    let joined =
        |name: &&SnapName| installed.get(*name).is_some_and(|snap| snap.notes.in_cohort()) && !left(name);
    let name =
        memory.given.iter().filter(|(_, given)| given.key.is_some()).map(|(name, _)| name).find(joined)?;
    Some(Alteration::LeaveCohort { name: name.clone() })
}

/// The next managed snap that is missing here and can be installed, and those that cannot be because
/// nobody says from which channel.
pub fn install(view: &View<'_>, role: Role) -> (Option<Alteration>, Vec<SnapName>) {
    let (Ok(installed), true) = (&view.rollout.snapd.installed, view.options.install_missing) else {
        return (None, Vec::new());
    };
    // Before it has met the others it cannot tell that none of them has a snap.
    let wishes = if view.has_met() { view.wishes() } else { Wishes::new() };
    let mut homeless = Vec::new();
    for name in crate::snap::KubernetesOrder::sorted(view.options.snaps.keys().cloned()) {
        let elsewhere = role == Role::Worker && CONTROL_PLANE_ONLY.contains(&name.as_str());
        let waits =
            view.memory().installs.get(&name).is_some_and(|tried| {
                view.rollout.now.0.saturating_sub(tried.0) < view.options.check_interval
            });
        if installed.contains_key(&name) || elsewhere || waits {
            continue;
        }
        let here = view.rollout.architecture;
        let goal = view.target.and_then(|target| target.snaps.get(&name)).map(|snap| snap.goal(role, here));
        let wish = wishes.get(&name);
        let (to, channel) = match (goal, wish.and_then(|wish| wish.revisions.get(&here))) {
            (Some(Goal::Cohort { key, channel }), _) => (Place::Cohort(key.clone()), channel),
            (Some(Goal::Revision { revision, channel }), _) => (Place::Revision(revision), channel),
            // What the charm names needs no key, and no target either: but not before others have moved.
            (Some(Goal::Unsaid) | None, Some(revision)) => {
                (Place::Revision(revision_of(view, &name).unwrap_or(*revision)), None)
            }
            (Some(Goal::Unsaid) | None, None) => continue,
        };
        let wanted = || wish.map(|wish| wish.channel.clone());
        let Some(channel) = channel.cloned().or_else(|| channel_of(view, &name)).or_else(wanted) else {
            homeless.push(name);
            continue;
        };
        let to = Relocation { name: name.clone(), channel: Some(channel), to, ignore_running: false };
        let failed = super::machine::moves(view.rollout, &name).last().map(|(_, outcome)| outcome);
        let classic = match failed {
            None => false,
            Some(Err(trouble)) if trouble.kind == TroubleKind::NeedsClassic => true,
            Some(_) => continue,
        };
        let again = Alteration::Install { to, classic };
        if !view.rollout.done.iter().any(|(done, _)| *done == again) {
            return (Some(again), homeless);
        }
    }
    (None, homeless)
}

/// What members run of a snap that is not here: those of the same role first, by number. Where the
/// options want something else, the gate of upgrades may be closed.
fn others<'a>(
    view: &View<'a>,
    name: &'a SnapName,
) -> impl Iterator<Item = (Architecture, &'a NodeSnap)> + use<'a> {
    let mut members: Vec<_> = view.members.values().copied().collect();
    members.sort_by_key(|member| (Some(member.role) != view.rollout.role, member.unit));
    members.into_iter().filter_map(move |member| {
        let node = member.node?;
        Some((node.architecture, node.snaps.get(name)?))
    })
}

fn channel_of(view: &View<'_>, name: &SnapName) -> Option<Channel> {
    others(view, name).find_map(|(_, snap)| snap.channel.clone())
}

fn revision_of(view: &View<'_>, name: &SnapName) -> Option<Revision> {
    let here = view.rollout.architecture;
    let mut same =
        others(view, name).filter(|(architecture, snap)| *architecture == here && snap.exempt.is_none());
    same.next().map(|(_, snap)| snap.revision)
}
