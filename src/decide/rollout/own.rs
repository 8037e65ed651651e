//! What this unit tells of itself: the key `node`.

use super::machine::Machine;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::{Check, Health, Holder, Node, NodeSnap};
use crate::observed::Rollout;

/// The own node, without heads. Where the machine cannot be looked at, the snaps that were told stay.
pub fn node(rollout: &Rollout, machine: Option<&Machine<'_>>, memory: &mut RolloutMemory) -> Node {
    let committed = rollout.own.node.as_ref().and_then(|node| node.as_ref().ok());
    let mut node = Node::new(&rollout.machine, rollout.architecture, &rollout.build);
    node.role = rollout.role;
    node.principal.clone_from(&rollout.principal);
    match machine {
        Some(machine) => {
            for (name, managed) in &machine.snaps {
                let mut snap = NodeSnap::of(managed.installed);
                let own = memory.holds.contains(*name);
                let holder = if own { Holder::Own } else { Holder::Other };
                snap.held = managed.installed.notes.held().then_some(holder);
                snap.exempt = managed.exempt;
                node.snaps.insert((*name).clone(), snap);
            }
        }
        None => node.snaps = committed.map(|node| node.snaps.clone()).unwrap_or_default(),
    }
    let services = machine.map_or_else(
        || Check::Unknown("snap list cannot be read".into()),
        |machine| machine.services(rollout),
    );
    let seen = Health { services, ..Health::default() };
    node.health = published(committed.map(|node| &node.health), rollout.memory.health.as_ref(), &seen);
    memory.health = Some(seen);
    node
}

/// A change of health is published only when two passes agree: a service that restarts is not ill.
fn published(told: Option<&Health>, before: Option<&Health>, seen: &Health) -> Health {
    match told {
        Some(told) if before != Some(seen) => told.clone(),
        Some(_) | None => seen.clone(),
    }
}
