//! Holds of our own, missing snaps, and what is undone on removal.
//!
//! A hold is first remembered and placed by a later pass: a hook that was killed in between must not
//! make an own hold look like somebody else's.

use super::machine::Machine;
use super::view::View;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::Role;
use crate::databag::target::Goal;
use crate::observed::Rollout;
use crate::snap::{Alteration, Channel, Place, Relocation, SnapName, TroubleKind};
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
    let (Ok(installed), Some(target), true) =
        (&view.rollout.snapd.installed, view.target, view.options.install_missing)
    else {
        return (None, Vec::new());
    };
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
        let goal = target.snaps.get(&name).map(|snap| snap.goal(role, view.rollout.architecture));
        let (to, channel) = match goal {
            Some(Goal::Cohort { key, channel }) => (Place::Cohort(key.clone()), channel),
            Some(Goal::Revision { revision, channel }) => (Place::Revision(revision), channel),
            Some(Goal::Unsaid) | None => continue,
        };
        let Some(channel) = channel.cloned().or_else(|| channel_of(view, &name)) else {
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

/// The channel of a snap that is not here: as the options say, else as the members of the same role
/// track it, the lowest number first, else any member.
fn channel_of(view: &View<'_>, name: &SnapName) -> Option<Channel> {
    use super::super::options::WantedChannel;
    if let Some(Some(channel)) = view.options.snaps.get(name) {
        return Some(channel.clone());
    }
    if let (WantedChannel::Channel(channel), false) = (&view.options.channel, name.as_str() == "cdk-addons") {
        return Some(channel.clone());
    }
    let mut members: Vec<_> = view.members.values().collect();
    members.sort_by_key(|member| (Some(member.role) != view.rollout.role, member.unit));
    members.into_iter().find_map(|member| member.node?.snaps.get(name)?.channel.clone())
}
