//! The Kubernetes cluster: when it is looked at, what that says, and what control-plane members tell of
//! workers that cannot see themselves.
//!
//! It is looked at in an update-status and in passes outside hooks, by a unit that has just moved, and by
//! the one that tells of workers: never in each hook that some other unit's databag causes.

use super::members::{Member, is_strict};
use super::view::View;
use crate::databag::granted::Grant;
use crate::databag::node::{Check, Cluster, NODES, Node, NodeReady, Nodes, Role};
use crate::databag::progress::{SnapState, State};
use crate::databag::target::Target;
use crate::juju::UnitName;
use crate::kube::{self, Trouble, TroubleKind};
use crate::observed::Rollout;
use crate::observed::rollout::{Occasion, Seen};
use crate::plan::{Effect, Keys};
use std::collections::BTreeMap;

/// So many offenders are named.
const NAMED: usize = 3;

/// The question to the API server that this unit may ask; none without a role or a kubeconfig.
pub fn question(rollout: &Rollout) -> Option<Effect> {
    let role = rollout.role.filter(|_| rollout.kube.kubeconfig)?;
    Some(Effect::ReadKube { whole: role == Role::ControlPlane })
}

/// Whether this pass asks it whatever it is going to do. Once it has altered the machine, only who waits
/// for the outcome asks.
pub fn wanted(view: &View<'_>, node: &Node) -> Option<Effect> {
    let rollout = view.rollout;
    let regular = match rollout.occasion {
        Occasion::UpdateStatus | Occasion::Outside => true,
        Occasion::Hook => rollout.own.node.is_none() || is_teller(view, node) && !blind(view).is_empty(),
        Occasion::Departing | Occasion::Removing => false,
    };
    let open = rollout.related && rollout.done.is_empty() && rollout.kube.seen.is_none();
    question(rollout).filter(|_| regular && open)
}

/// Whether the own API server is ready.
pub fn api_server(seen: &Seen) -> Check {
    match &seen.api_server {
        None => Check::None,
        Some(Ok(())) => Check::Ok,
        Some(Err(trouble)) => match trouble.kind {
            TroubleKind::Refused | TroubleKind::NotReady => Check::Bad(line("API server", trouble)),
            TroubleKind::NoKubectl
            | TroubleKind::Forbidden
            | TroubleKind::NotFound
            | TroubleKind::Unauthorized
            | TroubleKind::NoAnswer
            | TroubleKind::NotUnderstood
            | TroubleKind::Other => Check::Unknown(line("API server", trouble)),
        },
    }
}

/// Whether the own node is Ready.
pub fn own_node(seen: &Seen) -> Check {
    match &seen.own {
        Ok(node) if node.ready => Check::Ok,
        Ok(node) => Check::Bad(format!("node {} is not Ready: {}", node.name, node.reason).into()),
        Err(trouble) => Check::Unknown(line("own node", trouble)),
    }
}

/// Whether the cluster works.
pub fn cluster(seen: &Seen) -> Cluster {
    let nodes = match &seen.nodes {
        Err(trouble) => Check::Unknown(line("nodes", trouble)),
        Ok(nodes) => {
            let bad = nodes.iter().filter(|node| !node.ready);
            judged("nodes", nodes.len(), bad.map(|node| (node.name.as_str(), node.reason.as_str())))
        }
    };
    let pods = match &seen.pods {
        Err(trouble) => Check::Unknown(line("pods of kube-system", trouble)),
        Ok(pods) => {
            let bad = pods.troubled.iter().map(|(name, why)| (name.as_str(), why.as_str()));
            judged("pods of kube-system", pods.count, bad)
        }
    };
    Cluster { nodes, pods, ..Cluster::default() }
}

fn line(what: &str, trouble: &Trouble) -> crate::databag::Line {
    format!("{what}: {trouble}").into()
}

/// `2 of 30 nodes are not Ready: a (KubeletNotReady), b (NodeStatusUnknown)`; the first few are named.
fn judged<'a>(what: &str, count: usize, bad: impl Iterator<Item = (&'a str, &'a str)>) -> Check {
    let bad: Vec<String> = bad.map(|(name, why)| format!("{name} ({why})")).collect();
    if bad.is_empty() {
        return Check::Ok;
    }
    let named: Vec<&str> = bad.iter().take(NAMED).map(String::as_str).collect();
    Check::Bad(format!("{} of {count} {what} are not Ready: {}", bad.len(), named.join(", ")).into())
}

/// What a unit that has moved sees of itself.
pub enum AfterMove {
    /// It has to look first.
    Look(Effect),
    /// That.
    Is(Check),
}

/// Whether the API server and the node of a unit that has moved work, for a grant that is valid.
///
/// What cannot be seen counts only where the target is strict about it; a worker that cannot see itself
/// goes by what the control plane tells of it.
pub fn after_move(view: &View<'_>, target: &Target, grant: &Grant) -> AfterMove {
    let rollout = view.rollout;
    let Some(seen) = &rollout.kube.seen else {
        return question(rollout).map_or(AfterMove::Is(Check::None), AfterMove::Look);
    };
    let mut node = own_node(seen);
    if let (Check::Unknown(_), Some(ready)) = (&node, told_of(view, grant.serial)) {
        node = match ready.ready {
            true => Check::Ok,
            false => Check::Bad(format!("own node is not Ready: {}", ready.reason).into()),
        };
    }
    let strict = is_strict(target);
    let stops = |check: &Check| match check {
        Check::Bad(_) => true,
        Check::Unknown(_) => strict,
        Check::Ok | Check::None => false,
    };
    AfterMove::Is([api_server(seen), node].into_iter().find(stops).unwrap_or(Check::Ok))
}

/// What the lowest-numbered healthy control-plane member that tells it says of this unit's node.
fn told_of<'a>(view: &View<'a>, serial: u64) -> Option<&'a NodeReady> {
    tellers(view).find_map(|member| {
        let nodes = view.told(member.unit)?.nodes.as_ref()?.as_ref().ok()?;
        nodes.nodes.get(&view.rollout.unit).filter(|ready| ready.serial == serial)
    })
}

/// Control-plane members that work, in the order of their numbers.
fn tellers<'a>(view: &View<'a>) -> impl Iterator<Item = Member<'a>> {
    let well =
        |member: &&Member<'a>| member.node.is_some_and(|node| node.health.bad().is_none()) && !member.garbled;
    let mut members: Vec<Member<'a>> = view
        .members
        .values()
        .filter(|member| member.role == Role::ControlPlane)
        .filter(well)
        .copied()
        .collect();
    members.sort_by_key(|member| member.unit.number());
    members.into_iter()
}

/// Whether this unit is the one that tells of workers: the first that works and sees the nodes.
fn is_teller(view: &View<'_>, node: &Node) -> bool {
    let sees = |node: &Node| {
        node.cluster.as_ref().is_some_and(|cluster| matches!(cluster.nodes, Check::Ok | Check::Bad(_)))
    };
    let own = &view.rollout.unit;
    let well = node.role == Some(Role::ControlPlane) && node.health.bad().is_none();
    let before = || {
        tellers(view).any(|member| {
            !member.itself && member.unit.number() < own.number() && member.node.is_some_and(sees)
        })
    };
    well && sees(node) && !before()
}

/// Granted workers that have told that they cannot see their own node and that every snap of theirs is
/// where it should be: with the serial of the grant.
fn blind<'a>(view: &View<'a>) -> Vec<(&'a UnitName, u64, &'a Node)> {
    let workers = view.granted.grants.iter().filter(|grant| grant.role == Role::Worker);
    workers
        .filter_map(|grant| {
            let member = view.members.get(&grant.unit)?;
            let node = member.node.filter(|node| matches!(node.health.node, Check::Unknown(_)))?;
            let progress = member.progress?;
            let moved = progress.state == State::Upgrading
                && progress.serial == grant.serial
                && progress.snaps.values().all(|snap| *snap != SnapState::Open);
            moved.then_some((member.unit, grant.serial, node))
        })
        .collect()
}

/// What this unit tells of workers that cannot see themselves, and whether it has to look again soon.
/// The key is there only as long as there are such workers.
pub fn tell(view: &View<'_>, node: &Node, keys: &mut Keys) -> bool {
    let blind = if is_teller(view, node) { blind(view) } else { Vec::new() };
    if blind.is_empty() {
        keys.insert(NODES.to_owned(), None);
        return false;
    }
    let Some(Ok(seen)) = view.rollout.kube.seen.as_ref().map(|seen| seen.nodes.as_ref()) else {
        // What was told of them stays.
        return true;
    };
    let nodes: BTreeMap<UnitName, NodeReady> =
        blind.iter().map(|(unit, serial, node)| ((*unit).clone(), readiness(seen, node, *serial))).collect();
    let again = nodes.values().any(|ready| !ready.ready);
    keys.insert(NODES.to_owned(), Some(Nodes::new(nodes).write()));
    again
}

fn readiness(seen: &[kube::Node], node: &Node, serial: u64) -> NodeReady {
    let host = node.host.as_ref().map(|host| host.as_str());
    let address = node.address.as_ref().map(|address| address.as_str());
    match kube::find(seen, host, address) {
        Some(found) if found.ready => NodeReady { serial, ready: true, reason: "".into() },
        Some(found) => NodeReady { serial, ready: false, reason: found.reason.as_str().into() },
        None => NodeReady { serial, ready: false, reason: "no such node".into() },
    }
}
