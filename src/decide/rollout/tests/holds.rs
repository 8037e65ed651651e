//! Holds, missing snaps, removal, health.

use super::fixture::{Case, NOW, installed, key, name, service, snapd, stable};
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::node::{Check, Holder, Node};
use crate::databag::progress::State;
use crate::juju::Timestamp;
use crate::observed::rollout::Occasion;
use crate::plan::Effect;
use crate::snap::{Alteration, Answer, Place, Relocation, SnapdVersion, Trouble, TroubleKind};

fn follower() -> Case {
    let mut case = Case::new(&[W, C]);
    case.rollout.leader = false;
    case.joined();
    case.report(0, State::Completed, 0);
    case
}

fn node(case: &Case) -> Node {
    Node::read(case.decide().unit["node"].as_deref().unwrap()).unwrap()
}

#[test]
fn a_hold_is_remembered_before_it_is_placed() {
    let mut case = follower();
    case.rollout.memory.holds.clear();
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "in-cohort")]);
    let outcome = case.decide();
    assert_eq!((outcome.effect, outcome.follow_up), (None, Some(5)));
    case.rollout.memory = outcome.memory;
    let hold = Alteration::Hold { names: [name("kubelet")].into() };
    assert_eq!(case.decide().effect, Some(Effect::Alter(hold.clone())));
    case.rollout.done.push((hold, Ok(Answer::Done)));
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
    assert_eq!(case.decide().effect, None);
    assert_eq!(node(&case).snaps[&name("kubelet")].held, Some(Holder::Own));
    case.rollout.snapd.version = SnapdVersion::parse("2.57.6");
    case.rollout.done.clear();
    case.rollout.snapd.installed = Ok([(name("kubelet"), installed("kubelet", 101, "in-cohort"))].into());
    assert_eq!(case.decide().effect, None, "snapd cannot");
}

/// F13: before they have met, each of two units on a machine may take it for its own.
#[test]
fn a_hold_of_another_unit_on_the_same_machine_is_not_a_foreign_one() {
    let mut case = follower();
    case.rollout.memory.holds.clear();
    assert_eq!(node(&case).snaps[&name("kubelet")].held, Some(Holder::Other));
    case.node(1).snaps.get_mut(&name("kubelet")).unwrap().held = Some(Holder::Own);
    assert_eq!(node(&case).snaps[&name("kubelet")].held, Some(Holder::Other), "on another machine");
    case.rollout.role = Some(C);
    case.node(1).role = Some(W);
    case.node(1).machine = case.rollout.machine.as_str().into();
    let own = node(&case);
    assert_eq!(
        (own.snaps[&name("kubelet")].held, own.snaps[&name("kubelet")].exempt),
        (Some(Holder::Own), None)
    );
}

/// F13: who does not own the machine waits for no turn.
#[test]
fn of_two_units_on_a_machine_the_other_one_only_names_the_owner() {
    let mut case = follower();
    case.node(1).machine = case.rollout.machine.as_str().into();
    let statuses = case.decide().statuses;
    assert_eq!(
        statuses.iter().map(|status| status.line.as_str()).collect::<Vec<_>>(),
        ["lockstep/1 keeps this machine in step"]
    );
}

#[test]
fn without_the_option_own_holds_are_taken_off_and_no_others() {
    let mut case = follower();
    case.options.hold_snaps = false;
    let unhold = Alteration::Unhold { names: [name("kubelet")].into() };
    assert_eq!(case.decide().effect, Some(Effect::Alter(unhold)));
    case.rollout.memory.holds.clear();
    assert_eq!(case.decide().effect, None);
}

#[test]
fn removal_takes_off_own_holds_and_leaves_joined_cohorts_without_a_move() {
    let mut case = follower();
    case.rollout.occasion = Occasion::Removing;
    let unhold = Alteration::Unhold { names: [name("kubelet")].into() };
    assert_eq!(case.decide().effect, Some(Effect::Alter(unhold.clone())));
    case.rollout.done.push((unhold, Ok(Answer::Done)));
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "in-cohort")]);
    let leave = Alteration::LeaveCohort { name: name("kubelet") };
    assert_eq!(case.decide().effect, Some(Effect::Alter(leave.clone())));
    let busy = Trouble { kind: TroubleKind::Busy, command: String::new(), text: String::new() };
    case.rollout.done.push((leave, Err(busy)));
    assert_eq!(case.decide().effect, None, "once a pass");
    case.rollout.done.clear();
    case.options.restore_on_removal = false;
    assert_eq!(case.decide().effect, None);
}

#[test]
fn a_missing_snap_is_installed_in_its_cohort_without_a_grant_if_asked_for() {
    let mut case = follower();
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
    case.options.snaps.insert(name("kube-proxy"), None);
    case.options.snaps.insert(name("kube-apiserver"), None);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    for snap in ["kube-proxy", "kube-apiserver"] {
        let to = crate::databag::target::SnapTarget { cohort: Some(key("PROXY")), ..Default::default() };
        target.snaps.insert(name(snap), to);
    }
    assert_eq!(case.decide().effect, None);
    case.options.install_missing = true;
    assert_eq!(case.decide().effect, None, "nobody says from which channel");
    assert!(case.lines(crate::juju::Level::Blocked)[0].starts_with("kube-proxy is missing"));
    case.options.snaps.insert(name("kube-proxy"), Some(stable()));
    let install = |classic| Alteration::Install {
        to: Relocation {
            name: name("kube-proxy"),
            channel: Some(stable()),
            to: Place::Cohort(key("PROXY")),
            ignore_running: false,
        },
        classic,
    };
    assert_eq!(case.decide().effect, Some(Effect::Alter(install(false))), "and no API server on a worker");
    let trouble = |kind| Trouble { kind, command: String::new(), text: "no".to_owned() };
    case.rollout.done.push((install(false), Err(trouble(TroubleKind::NeedsClassic))));
    assert_eq!(case.decide().effect, Some(Effect::Alter(install(true))));
    case.rollout.done.push((install(true), Err(trouble(TroubleKind::StoreUnreachable))));
    let outcome = case.decide();
    assert_eq!(outcome.effect, None);
    case.rollout.memory = outcome.memory;
    case.rollout.done.clear();
    assert_eq!(case.decide().effect, None, "not in every pass");
}

#[test]
fn a_change_of_health_is_published_when_two_passes_agree() {
    let mut case = follower();
    case.rollout.snapd.services = Ok([(name("kubelet"), vec![service(&name("kubelet"), false)])].into());
    assert_eq!(node(&case).health.services, Check::Ok);
    case.rollout.memory = case.decide().memory;
    assert_eq!(node(&case).health.services, Check::Bad("kubelet.daemon is not active".into()));
    assert_eq!(case.own().state, State::Completed, "what was completed stays so");
}

#[test]
fn stored_keys_are_read_again_from_time_to_time() {
    let mut case = follower();
    assert_eq!(case.decide().effect, None);
    case.rollout.now = Timestamp(NOW + 6 * 3600);
    assert_eq!(case.decide().effect, Some(Effect::ReadInfo { names: vec![name("kubelet")] }));
    case.rollout.store.left = 0;
    assert_eq!(case.decide().effect, None);
}

#[test]
fn a_unit_without_a_role_remarks_what_it_sees() {
    let mut case = follower();
    case.rollout.role = None;
    let line = "not kept in step: kubelet; juju integrate PRINCIPAL:juju-info lockstep:ROLE";
    assert_eq!(case.lines(crate::juju::Level::Active), [line]);
    assert_eq!(case.decide().effect, None);
    assert_eq!(node(&case).role, None);
}

#[test]
fn the_same_observation_decides_the_same_and_a_settled_unit_wants_nothing() {
    let mut case = follower();
    case.rollout.memory = case.decide().memory;
    let outcome = case.decide();
    assert_eq!(outcome, case.decide());
    let progress = case.rollout.own.progress.clone().unwrap().unwrap();
    let read =
        crate::databag::progress::Progress::read(outcome.unit["progress"].as_deref().unwrap()).unwrap();
    assert_eq!((read.state, read.serial), (progress.state, progress.serial));
    assert_eq!((outcome.effect, outcome.follow_up, outcome.app.len()), (None, None, 0));
    assert_eq!(outcome.memory, case.rollout.memory);
}
