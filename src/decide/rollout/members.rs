//! Who takes part, and who is well.
//!
//! A member has a role, at least one managed snap, and owns its machine: of several units on one
//! machine the one with the control-plane role, else the lowest number; the machine has the highest
//! of their roles. A listed unit that tells nothing that can be read counts as an unfinished,
//! unhealthy control-plane unit: what is not known must not let anybody else move.

use super::super::upgrade::{ALL, CONTROL_PLANE_HEALTHY};
use crate::databag::node::{Check, Node, Role};
use crate::databag::progress::{Progress, State};
use crate::databag::target::{Kind, Target, TargetId};
use crate::databag::{Line, Unread};
use crate::juju::UnitName;
use crate::observed::Rollout;
use crate::observed::rollout::Told;
use std::collections::BTreeMap;

/// One unit that takes part.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Its name.
    pub unit: &'a UnitName,
    /// Whether it is this unit.
    pub itself: bool,
    /// What it tells of its machine; none where that is absent or cannot be read.
    pub node: Option<&'a Node>,
    /// How far it is; likewise.
    pub progress: Option<&'a Progress>,
    /// Whether it tells something that cannot be read.
    pub garbled: bool,
    /// The role that it counts with.
    pub role: Role,
}

impl Member<'_> {
    /// Whether it has completed that target.
    pub fn has_completed(&self, target: &TargetId) -> bool {
        self.progress.is_some_and(|progress| progress.is(State::Completed, target))
    }

    /// Its failure for that target.
    pub fn failure(&self, target: &TargetId) -> Option<&Progress> {
        self.progress.filter(|progress| progress.is(State::Failed, target))
    }

    /// Whether it is well enough that others may move: for new revisions and on the way back not bad;
    /// for an upgrade known to be well, unless that check was overridden.
    pub fn is_healthy(&self, target: &Target) -> bool {
        let Some(node) = self.node.filter(|_| !self.garbled) else {
            return false;
        };
        let strict = is_strict(target);
        node.health.parts().into_iter().all(|check| match check {
            Check::Ok | Check::None => true,
            Check::Unknown(_) => !strict,
            Check::Bad(_) => false,
        })
    }
}

/// Whether what cannot be seen of a unit's health speaks against it: for another channel, but not on the
/// way back, nor where an admin has overridden that check.
pub fn is_strict(target: &Target) -> bool {
    let overridden = |line: &Line| matches!(line.as_str(), CONTROL_PLANE_HEALTHY | ALL);
    target.kind == Kind::Upgrade && !target.rollback && !target.overridden.iter().any(overridden)
}

/// All members, this unit as it was committed when the pass began.
pub fn members(rollout: &Rollout) -> BTreeMap<&UnitName, Member<'_>> {
    let told = || std::iter::once((&rollout.unit, &rollout.own)).chain(&rollout.peers);
    let machines = machines(told());
    told()
        .filter_map(|(unit, told)| {
            let node = told.node.as_ref().and_then(|node| node.as_ref().ok());
            let role = match node {
                None => Role::ControlPlane,
                Some(node) if !takes_part(node) => return None,
                Some(node) => match machines.get(node.machine.as_str()) {
                    Some((owner, role)) if *owner == unit => *role,
                    Some(_) | None => return None,
                },
            };
            let progress = told.progress.as_ref().and_then(|progress| progress.as_ref().ok());
            let garbled = matches!(told.node, Some(Err(_))) || matches!(told.progress, Some(Err(_)));
            let itself = *unit == rollout.unit;
            Some((unit, Member { unit, itself, node, progress, garbled, role }))
        })
        .collect()
}

/// The unit that owns the machine of this unit, where it is another one.
pub fn owner_of(rollout: &Rollout) -> Option<&UnitName> {
    let here = rollout.peers.iter().filter(|(_, told)| {
        let node = told.node.as_ref().and_then(|node| node.as_ref().ok());
        node.is_some_and(|node| node.machine.as_str() == rollout.machine && takes_part(node))
    });
    let (owner, (role, _)) = here
        .filter_map(|(unit, told)| Some((unit, (told.node.as_ref()?.as_ref().ok()?.role?, unit.number()))))
        .min_by_key(|(_, rank)| *rank)?;
    let own = (rollout.role?, rollout.unit.number());
    ((role, owner.number()) < own && !rollout.machine.is_empty()).then_some(owner)
}

/// What cannot be read of the others, by unit and key.
pub fn unread(rollout: &Rollout) -> Vec<(&UnitName, &'static str, &Unread)> {
    let mut found = Vec::new();
    for (unit, told) in &rollout.peers {
        if let Some(Err(unread)) = &told.node {
            found.push((unit, crate::databag::node::NODE, unread));
        }
        if let Some(Err(unread)) = &told.progress {
            found.push((unit, crate::databag::progress::PROGRESS, unread));
        }
    }
    found
}

fn takes_part(node: &Node) -> bool {
    node.role.is_some() && !node.snaps.is_empty()
}

/// The owner and the role of each machine.
fn machines<'a>(
    told: impl Iterator<Item = (&'a UnitName, &'a Told)>,
) -> BTreeMap<&'a str, (&'a UnitName, Role)> {
    let mut machines: BTreeMap<&str, (&UnitName, Role)> = BTreeMap::new();
    for (unit, told) in told {
        let Some(Ok(node)) = &told.node else { continue };
        let Some(role) = node.role.filter(|_| takes_part(node)) else { continue };
        let owner = machines.entry(node.machine.as_str()).or_insert((unit, role));
        if (role, unit.number()) < (owner.1, owner.0.number()) {
            *owner = (unit, role);
        }
    }
    machines
}
