//! What this unit tells of itself: the key `node`.

use super::kube;
use super::machine::Machine;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::{Check, Cluster, Health, Holder, Node, NodeSnap, Role};
use crate::observed::Rollout;

/// The own node, without heads. Where the machine cannot be looked at, the snaps that were told stay.
pub fn node(rollout: &Rollout, machine: Option<&Machine<'_>>, memory: &mut RolloutMemory) -> Node {
    let committed = rollout.own.node.as_ref().and_then(|node| node.as_ref().ok());
    let mut node = Node::new(&rollout.machine, rollout.architecture, &rollout.build);
    node.role = rollout.role;
    node.principal.clone_from(&rollout.principal);
    node.host = rollout.kube.host.as_deref().map(Into::into);
    node.address = rollout.kube.address.as_deref().map(Into::into);
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
    tell(rollout, services, committed, &mut node, memory);
    node
}

/// Health and cluster: what is told is what two looks agree on, since a service that restarts is not ill.
/// A part that this pass has not looked at stays as it was told, and as it was last seen.
fn tell(
    rollout: &Rollout,
    services: Check,
    committed: Option<&Node>,
    node: &mut Node,
    memory: &mut RolloutMemory,
) {
    let told = committed.map(|node| &node.health);
    let before = rollout.memory.health.as_ref();
    let mut last = before.cloned().unwrap_or_default();
    // Without a role nobody looks, and without a kubeconfig there is nothing to be seen.
    let blind = kube::question(rollout).is_none();
    let seen = rollout.kube.seen.as_ref().filter(|_| !blind);
    let look = |check: fn(&crate::observed::rollout::Seen) -> Check| match seen {
        Some(seen) => Some(check(seen)),
        None => blind.then_some(Check::None),
    };
    let mut part = |of: fn(&mut Health) -> &mut Check, get: fn(&Health) -> &Check, seen: Option<Check>| {
        *of(&mut node.health) = published(told.map(get), before.map(get), seen.as_ref());
        if let Some(seen) = seen {
            *of(&mut last) = seen;
        }
    };
    part(|health| &mut health.services, |health| &health.services, Some(services));
    part(|health| &mut health.api_server, |health| &health.api_server, look(kube::api_server));
    part(|health| &mut health.node, |health| &health.node, look(kube::own_node));
    memory.health = Some(last);
    let told = committed.and_then(|node| node.cluster.as_ref());
    if blind || rollout.role != Some(Role::ControlPlane) {
        memory.cluster = None;
        return;
    }
    let before = rollout.memory.cluster.as_ref();
    let now = seen.map(kube::cluster);
    let publish =
        |get: fn(&Cluster) -> &Check| published(told.map(get), before.map(get), now.as_ref().map(get));
    let (nodes, pods) = (publish(|cluster| &cluster.nodes), publish(|cluster| &cluster.pods));
    node.cluster = (told.is_some() || now.is_some()).then(|| Cluster { nodes, pods, ..Cluster::default() });
    memory.cluster = now.or_else(|| before.cloned());
}

/// What is told of one part: at first what is seen, also that something new is well; then a change that
/// two looks agree on. Of two looks that agree in all but the reason the last one counts, so that a reason
/// that changes each time hides nothing; a reason alone is told once it is the same twice.
fn published(told: Option<&Check>, before: Option<&Check>, seen: Option<&Check>) -> Check {
    match (told, seen) {
        (told, None) => told.cloned().unwrap_or_default(),
        (None, Some(seen)) => seen.clone(),
        (Some(Check::None), Some(Check::Ok)) => Check::Ok,
        (Some(told), Some(seen)) => {
            let agreed = match told.is_like(seen) {
                true => before == Some(seen),
                false => before.is_some_and(|before| before.is_like(seen)),
            };
            if agreed { seen.clone() } else { told.clone() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_when_two_looks_agree_and_stays_where_nobody_looked() {
        let bad = |why: &str| Check::Bad(why.into());
        let table = [
            (None, None, Some(Check::Ok), Check::Ok),
            (None, None, None, Check::None),
            (Some(Check::None), Some(Check::None), Some(Check::Ok), Check::Ok),
            (Some(Check::None), Some(Check::None), Some(bad("a")), Check::None),
            (Some(Check::Ok), Some(Check::Ok), Some(bad("a")), Check::Ok),
            (Some(Check::Ok), Some(bad("a")), Some(bad("a")), bad("a")),
            (Some(Check::Ok), Some(bad("a")), Some(bad("b")), bad("b")),
            (Some(bad("a")), Some(bad("b")), Some(bad("c")), bad("a")),
            (Some(bad("a")), Some(bad("b")), Some(bad("b")), bad("b")),
            (Some(Check::Ok), Some(bad("a")), None, Check::Ok),
            (Some(Check::Ok), None, Some(bad("a")), Check::Ok),
            (Some(bad("a")), Some(Check::Ok), Some(Check::Unknown("x".into())), bad("a")),
        ];
        for (told, before, seen, expected) in table {
            let said = published(told.as_ref(), before.as_ref(), seen.as_ref());
            assert_eq!(said, expected, "{told:?} {before:?} {seen:?}");
        }
    }
}
