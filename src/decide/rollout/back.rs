//! The way back from a target: to the last one that all members completed, else to what they ran when
//! it was made. Needs no checks and no store: keys and revisions are those of before.

use super::target;
use super::view::View;
use crate::databag::node::Role;
use crate::databag::target::{Kind, Pin, SnapTarget, Target};
use crate::snap::{Architecture, Channel, Revision, SnapName};
use std::collections::{BTreeMap, BTreeSet};

/// The target that leads back; none where what ran before is not known.
pub fn back(view: &View<'_>, from: &Target) -> Option<Target> {
    let snaps = way_back(view, from);
    if snaps == from.snaps {
        return None;
    }
    let mut target = target::begin(view, from.kind, snaps);
    target.rollback = true;
    target.completed.clone_from(&from.completed);
    target.led.clone_from(&from.led);
    target.heads.clone_from(&from.heads);
    target.minors = from.minors.map(|(from, to)| (to, from));
    left_behind(view, from, &mut target);
    Some(target)
}

/// The channels that a snap follows by a target; empty: those that it tracks.
pub fn channels(snap: &SnapTarget) -> BTreeSet<&Channel> {
    let pins = snap.pins.values().flat_map(BTreeMap::values);
    pins.filter_map(|pin| pin.channel.as_ref()).chain(&snap.channel).collect()
}

/// Where each snap goes back to: what the last completed target said, as long as its key still stands
/// for what it stood for; else what members ran when this target was made.
fn way_back(view: &View<'_>, from: &Target) -> BTreeMap<SnapName, SnapTarget> {
    let mut snaps = BTreeMap::new();
    for (name, present) in &from.snaps {
        let earlier = from.completed.as_ref().and_then(|earlier| earlier.snaps.get(name));
        let kept = earlier.filter(|snap| target::is_young(view.rollout.now, snap));
        // A key holds for all channels; the one to go back to was not the same everywhere, perhaps.
        let channels = tracked_before(from, name);
        let changed = from.kind == Kind::Upgrade && !self::channels(present).is_empty();
        let back = match kept {
            Some(snap) if !changed || !self::channels(snap).is_empty() => snap.clone(),
            Some(snap) if channels.len() == 1 => {
                SnapTarget { channel: channels.into_iter().next().cloned(), ..snap.clone() }
            }
            Some(_) | None => {
                let pins = pins(from, name);
                if pins.is_empty() { present.clone() } else { SnapTarget { pins, ..SnapTarget::default() } }
            }
        };
        snaps.insert(name.clone(), back);
    }
    snaps
}

/// The channels that members tracked when the target was made.
fn tracked_before<'t>(from: &'t Target, name: &SnapName) -> BTreeSet<&'t Channel> {
    let told = from.before.values().flat_map(BTreeMap::values).filter_map(|snaps| snaps.get(name));
    told.filter_map(|pin| pin.channel.as_ref()).collect()
}

fn pins(from: &Target, name: &SnapName) -> BTreeMap<Role, BTreeMap<Architecture, Pin>> {
    let mut pins: BTreeMap<Role, BTreeMap<Architecture, Pin>> = BTreeMap::new();
    for (role, architectures) in &from.before {
        for (architecture, snaps) in architectures {
            if let Some(pin) = snaps.get(name) {
                let channel = pin.channel.clone().filter(|_| from.kind == Kind::Upgrade);
                let pin = Pin { channel, revision: pin.revision };
                pins.entry(*role).or_default().insert(*architecture, pin);
            }
        }
    }
    pins
}

/// The revisions that are refused from now on: the heads that the target was made for and what
/// members got by it, without what is gone back to.
fn left_behind(view: &View<'_>, from: &Target, target: &mut Target) {
    for (name, snap) in &from.snaps {
        if target.snaps.get(name) == Some(snap) {
            continue;
        }
        let mut left: BTreeMap<Architecture, BTreeSet<Revision>> = BTreeMap::new();
        for (architecture, heads) in from.heads.get(name).into_iter().flatten() {
            left.entry(*architecture).or_default().extend(heads.values().map(|head| head.revision));
        }
        for member in view.members.values().filter(|member| member.has_completed(&from.id)) {
            let Some((node, snap)) = member.node.and_then(|node| Some((node, node.snaps.get(name)?))) else {
                continue;
            };
            left.entry(node.architecture).or_default().insert(snap.revision);
        }
        for (architecture, snaps) in from.before.values().flatten() {
            if let (Some(left), Some(pin)) = (left.get_mut(architecture), snaps.get(name)) {
                left.remove(&pin.revision);
            }
        }
        let refused = target.refused.entry(name.clone()).or_default();
        for (architecture, revisions) in left {
            refused.entry(architecture).or_default().extend(revisions);
        }
        refused.retain(|_, revisions| !revisions.is_empty());
    }
    target.refused.retain(|_, architectures| !architectures.is_empty());
}
