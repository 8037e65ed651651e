//! The cluster as it is seen: when it is asked for, what is told of it, and whom it stops.

use super::fixture::{Case, NOW, unit};
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::node::{Check, Node, NodeReady, Nodes};
use crate::databag::progress::State;
use crate::databag::target::Kind;
use crate::juju::Timestamp;
use crate::kube::{Node as KubeNode, Pods, Trouble, TroubleKind};
use crate::observed::rollout::{Kube, Occasion, Seen};
use crate::plan::Effect;

fn trouble(kind: TroubleKind) -> Trouble {
    Trouble { kind, text: "it says so".to_owned() }
}

fn node(name: &str, ready: bool) -> KubeNode {
    let addresses = vec![format!("10.0.0.{name}")];
    let reason = if ready { "KubeletReady" } else { "KubeletNotReady" }.to_owned();
    KubeNode { name: name.to_owned(), host: None, addresses, ready, reason }
}

/// A control plane that sees its API server and these nodes, its own first.
fn whole(nodes: Vec<KubeNode>) -> Seen {
    let own = Ok(nodes[0].clone());
    Seen { api_server: Some(Ok(())), own, nodes: Ok(nodes), pods: Ok(Pods::default()) }
}

fn with(roles: &[crate::databag::node::Role], seen: Option<Seen>) -> Case {
    let mut case = Case::new(roles);
    case.rollout.leader = false;
    case.rollout.kube = Kube { host: Some("0".to_owned()), address: None, kubeconfig: true, seen };
    case
}

/// A unit that has moved by its grant and has still to say how that went.
fn moved(role: crate::databag::node::Role, seen: Option<Seen>) -> Case {
    let mut case = with(&[role, C], seen);
    case.joined();
    case.grant(0, role);
    case
}

fn own(case: &Case) -> Node {
    let outcome = case.decide();
    assert_eq!(outcome.effect, None);
    Node::read(outcome.unit["node"].as_deref().unwrap()).unwrap()
}

fn only_own(own: Result<KubeNode, Trouble>) -> Seen {
    Seen { own, ..Seen::default() }
}

#[test]
fn the_cluster_is_asked_in_regular_passes_with_a_kubeconfig_and_a_role_and_once() {
    let asks = |case: &Case| matches!(case.decide().effect, Some(Effect::ReadKube { .. }));
    let mut case = with(&[C, W], None);
    for (occasion, expected) in
        [(Occasion::UpdateStatus, true), (Occasion::Outside, true), (Occasion::Hook, false)]
    {
        case.rollout.occasion = occasion;
        assert_eq!(asks(&case), expected, "{occasion:?}");
    }
    case.rollout.occasion = Occasion::UpdateStatus;
    assert_eq!(case.decide().effect, Some(Effect::ReadKube { whole: true }));
    case.rollout.kube.seen = Some(whole(vec![node("0", true)]));
    assert!(!asks(&case), "it was seen in this pass");
    case.rollout.kube.seen = None;
    case.rollout.kube.kubeconfig = false;
    assert!(!asks(&case));
    let mut worker = with(&[W, C], None);
    worker.rollout.occasion = Occasion::UpdateStatus;
    assert_eq!(worker.decide().effect, Some(Effect::ReadKube { whole: false }));
}

#[test]
fn a_change_of_the_cluster_is_told_once_two_looks_agree_and_offenders_are_named() {
    let nodes = ["0", "1", "2", "3", "4"].map(|name| node(name, name == "0"));
    let mut case = with(&[C, W], Some(whole(nodes.to_vec())));
    case.node(0).cluster =
        Some(crate::databag::node::Cluster { nodes: Check::Ok, pods: Check::Ok, ..Default::default() });
    case.node(0).health.api_server = Check::Ok;
    case.node(0).health.node = Check::Ok;
    assert_eq!(own(&case).cluster.unwrap().nodes, Check::Ok, "one look is none");
    case.rollout.memory = case.decide().memory;
    let bad = "4 of 5 nodes are not Ready: 1 (KubeletNotReady), 2 (KubeletNotReady), 3 (KubeletNotReady)";
    assert_eq!(own(&case).cluster.unwrap().nodes, Check::Bad(bad.into()));
    case.rollout.kube.seen = None;
    assert_eq!(own(&case).cluster.unwrap().nodes, Check::Ok, "who did not look agrees with nobody");
}

#[test]
fn without_a_kubeconfig_nothing_of_the_cluster_is_told() {
    let mut case = Case::new(&[C, W]);
    case.rollout.leader = false;
    let own = own(&case);
    assert_eq!((own.cluster, own.health.api_server, own.health.node), (None, Check::None, Check::None));
    case.joined();
    case.grant(0, C);
    assert_eq!(case.own().state, State::Completed, "and nothing waits for it");
}

#[test]
fn who_has_moved_looks_before_it_says_that_it_has_completed() {
    assert_eq!(moved(C, None).decide().effect, Some(Effect::ReadKube { whole: true }));
    assert_eq!(moved(W, None).decide().effect, Some(Effect::ReadKube { whole: false }));
    assert_eq!(moved(W, Some(only_own(Ok(node("0", true))))).own().state, State::Completed);
}

#[test]
fn a_node_or_an_api_server_that_does_not_work_has_until_the_limit() {
    let refused =
        Seen { api_server: Some(Err(trouble(TroubleKind::Refused))), ..whole(vec![node("0", true)]) };
    for (role, seen, why) in [
        (W, only_own(Ok(node("0", false))), "node 0 is not Ready: KubeletNotReady"),
        (C, refused, "API server: it says so"),
    ] {
        let mut case = moved(role, Some(seen));
        assert_eq!(case.own().state, State::Upgrading);
        assert_eq!(case.decide().follow_up, Some(30));
        case.rollout.memory = case.decide().memory;
        case.rollout.now = Timestamp(NOW + case.options.ready_timeout);
        let own = case.own();
        assert_eq!(own.state, State::Failed);
        assert_eq!(own.cause.unwrap().as_str(), format!("not healthy in time: {why}"));
    }
}

#[test]
fn a_pod_or_another_node_stops_no_move() {
    let mut seen = whole(vec![node("0", true), node("1", false)]);
    seen.pods = Ok(Pods { count: 1, troubled: vec![("dns".to_owned(), "CrashLoopBackOff".to_owned())] });
    assert_eq!(moved(C, Some(seen)).own().state, State::Completed);
}

#[test]
fn what_cannot_be_seen_stops_only_a_move_to_another_channel() {
    for kind in [TroubleKind::NoKubectl, TroubleKind::Forbidden, TroubleKind::NotFound, TroubleKind::NoAnswer]
    {
        let mut case = moved(W, Some(only_own(Err(trouble(kind)))));
        assert_eq!(case.own().state, State::Completed, "{kind:?}");
        case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().kind = Kind::Upgrade;
        assert_eq!(case.own().state, State::Upgrading, "{kind:?}");
        let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
        target.overridden = vec!["control-plane-healthy".into()].into_iter().collect();
        assert_eq!(case.own().state, State::Completed, "{kind:?}, overridden");
        let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
        (target.overridden, target.rollback) = (Default::default(), true);
        assert_eq!(case.own().state, State::Completed, "{kind:?}, on the way back");
    }
}

#[test]
fn a_worker_that_cannot_see_itself_goes_by_what_the_control_plane_tells_for_its_grant() {
    let mut case = moved(W, Some(only_own(Err(trouble(TroubleKind::Forbidden)))));
    case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().kind = Kind::Upgrade;
    for (serial, ready, expected) in
        [(1, true, State::Completed), (1, false, State::Upgrading), (2, true, State::Upgrading)]
    {
        let told = NodeReady { serial, ready, reason: "KubeletNotReady".into() };
        case.told(1).nodes = Some(Ok(Nodes::new([(unit(0), told)].into())));
        assert_eq!(case.own().state, expected, "{serial} {ready}");
    }
}

/// A control plane that sees all nodes; its worker has moved by grant 1 and cannot see itself.
fn teller() -> Case {
    let mut case = with(&[C, W, C], Some(whole(vec![node("0", true), node("1", false), node("2", true)])));
    case.grant(1, W);
    case.report(1, State::Upgrading, 1);
    case.node(1).health.node = Check::Unknown("it may not".into());
    case.node(1).address = Some("10.0.0.1".into());
    case.node(1).host = Some("worker".into());
    case
}

fn tells(case: &Case) -> Option<String> {
    let outcome = case.decide();
    let nodes = Nodes::read(outcome.unit["nodes"].as_deref()?).unwrap();
    let told = nodes
        .nodes
        .iter()
        .map(|(unit, told)| format!("{unit} {} {} {}", told.serial, told.ready, told.reason));
    Some(told.collect::<Vec<_>>().join(", "))
}

#[test]
fn a_worker_is_told_of_only_while_it_has_moved_by_its_grant_and_cannot_see_itself() {
    let case = teller();
    assert_eq!(tells(&case).as_deref(), Some("lockstep/1 1 false KubeletNotReady"));
    assert_eq!(case.decide().follow_up, Some(30), "and looks again");
    let mut sees = teller();
    sees.node(1).health.node = Check::Ok;
    assert_eq!(tells(&sees), None);
    let mut done = teller();
    done.report(1, State::Completed, 1);
    assert_eq!(tells(&done), None);
    let mut none = teller();
    none.granted().grants.clear();
    assert_eq!(tells(&none), None);
    let mut unknown = teller();
    unknown.node(1).address = None;
    assert_eq!(tells(&unknown).as_deref(), Some("lockstep/1 1 false no such node"));
}

#[test]
fn only_the_first_control_plane_member_that_works_and_sees_the_nodes_tells_of_workers() {
    let mut case = teller();
    case.rollout.unit = unit(3);
    let second = case.rollout.peers.remove(&unit(2)).unwrap();
    case.rollout.peers.insert(unit(0), second);
    case.rollout.machine = "0".to_owned();
    case.node(0);
    let first = |case: &mut Case, cluster: Option<Check>| {
        let node = case.rollout.peers.get_mut(&unit(0)).unwrap().node.as_mut().unwrap().as_mut().unwrap();
        node.cluster = cluster.map(|nodes| crate::databag::node::Cluster { nodes, ..Default::default() });
    };
    assert!(tells(&case).is_some(), "the first sees no nodes");
    first(&mut case, Some(Check::Ok));
    assert_eq!(tells(&case), None);
    first(&mut case, Some(Check::Unknown("x".into())));
    assert!(tells(&case).is_some());
}
