//! This unit: reports, moves, troubles.

use super::fixture::{Case, NOW, installed, key, name, progress, service, snapd, stable, target};
use crate::databag::charm_state::Given;
use crate::databag::node::NodeHead;
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::progress::{SnapState, State};
use crate::databag::target::{Pin, Target};
use crate::juju::{Level, Timestamp};
use crate::observed::rollout::Occasion;
use crate::plan::Effect;
use crate::snap::{
    Alteration, Answer, Architecture, Change, ChangeId, Channel, Info, Local, Place, Relocation, Revision,
    Trouble, TroubleKind,
};

/// A worker that does not lead.
fn worker() -> Case {
    let mut case = Case::new(&[W, C]);
    case.rollout.leader = false;
    case
}

fn refresh() -> Alteration {
    Alteration::Move(Relocation {
        name: name("kubelet"),
        channel: None,
        to: Place::Cohort(key("KEY1")),
        ignore_running: false,
    })
}

fn fly(case: &mut Case) {
    let change = Change { id: ChangeId(1), status: "Doing".to_owned(), ready: false, summary: String::new() };
    case.rollout.snapd.changes = Ok([(name("kubelet"), vec![change])].into());
}

fn trouble(kind: TroubleKind) -> Trouble {
    Trouble { kind, command: "snap refresh".to_owned(), text: "it says so".to_owned() }
}

/// What snapd says of the key after the move.
fn read(case: &mut Case, text: &str, revision: u32) {
    let local = Local {
        revision: Revision::Store(revision),
        tracking: Some(super::fixture::stable()),
        cohort: Some(key(text).digest()),
        hold: None,
    };
    let info = Info { name: name("kubelet"), heads: None, local: Some(local) };
    case.rollout.store.infos.insert(name("kubelet"), Ok(info));
}

fn edit(case: &mut Case, change: impl FnOnce(&mut Target)) {
    change(case.rollout.app.target.as_mut().unwrap().as_mut().unwrap());
}

#[test]
fn without_a_grant_a_unit_waits_and_says_what_will_move() {
    let mut case = worker();
    assert_eq!(case.own().state, State::Ready);
    let waits = |case: &Case| case.lines(Level::Waiting)[0].clone();
    let id = case.target().id;
    assert_eq!(waits(&case), format!("waits for its turn to join target {id}"));
    let head = |revision| NodeHead { revision: Revision::Store(revision), version: "1.32.1".into() };
    let (amd64, kubelet) = (Architecture::Amd64, name("kubelet"));
    let heads = |revision| [(stable(), head(revision))].into();
    edit(&mut case, |target| _ = target.heads.entry(kubelet.clone()).or_default().insert(amd64, heads(100)));
    assert_eq!(waits(&case), format!("waits for its turn to join target {id}"), "the revision is there");
    edit(&mut case, |target| _ = target.heads.entry(kubelet.clone()).or_default().insert(amd64, heads(101)));
    assert_eq!(waits(&case), "waits for its turn: kubelet 1.32.0 (100) to 1.32.1 (101)");
    let next: Channel = "1.33/stable".parse().unwrap();
    edit(&mut case, |target| target.snaps.get_mut(&kubelet).unwrap().channel = Some(next.clone()));
    assert_eq!(waits(&case), "waits for its turn: kubelet 1.32.0 (100) to 1.33/stable");
    let pin = Pin { revision: Revision::Store(99), channel: None };
    edit(&mut case, |target| {
        _ = target.snaps.get_mut(&kubelet).unwrap().pins.entry(W).or_default().insert(amd64, pin.clone())
    });
    assert_eq!(waits(&case), "waits for its turn: kubelet 1.32.0 (100) to revision 99");
}

#[test]
fn a_grant_is_acted_on_only_from_a_bag_read_in_this_hook() {
    let mut case = worker();
    case.grant(0, W);
    assert_eq!(case.decide().effect, Some(Effect::Alter(refresh())));
    assert!(case.decide().during.unwrap().line.starts_with("refreshing kubelet from 100 into its cohort"));
    case.rollout.app.fresh = false;
    assert_eq!(case.decide().effect, Some(Effect::ReadAppBag));
}

#[test]
fn a_serial_that_was_answered_is_never_acted_on() {
    for (state, serial, acts) in [
        (State::Upgrading, 1, true),
        (State::Ready, 0, true),
        (State::Ready, 1, false),
        (State::Completed, 1, false),
        (State::Failed, 1, false),
        (State::Upgrading, 2, false),
    ] {
        let mut case = worker();
        case.grant(0, W);
        case.report(0, state, serial);
        let acted = matches!(case.decide().effect, Some(Effect::Alter(_)));
        assert_eq!(acted, acts, "{state} {serial}");
    }
}

#[test]
fn a_grant_for_another_target_is_answered_by_ready() {
    let mut case = worker();
    let serial = case.grant_for(0, W, &target(9).id);
    let own = case.own();
    assert_eq!((own.state, own.serial, own.target), (State::Ready, serial, Some(case.target().id)));
}

#[test]
fn a_valid_grant_that_is_not_carried_out_is_never_ready() {
    let mut case = worker();
    let serial = case.grant(0, W);
    case.rollout.committed = false;
    case.rollout.occasion = Occasion::Outside;
    let own = case.own();
    assert_eq!((own.state, own.serial), (State::Upgrading, serial));
}

#[test]
fn nothing_is_moved_by_a_unit_that_leaves_or_does_not_own_its_machine() {
    let mut case = worker();
    case.grant(0, W);
    let alters = |case: &Case| matches!(case.decide().effect, Some(Effect::Alter(Alteration::Move(_))));
    assert!(alters(&case));
    for occasion in [Occasion::Departing, Occasion::Removing] {
        case.rollout.occasion = occasion;
        assert!(!alters(&case), "{occasion:?}");
    }
    case.rollout.occasion = Occasion::Hook;
    case.rollout.foreign_owner = Some("other/3".to_owned());
    assert!(!alters(&case));
    case.rollout.foreign_owner = None;
    case.node(1).machine = "0".into();
    assert!(!alters(&case), "a control-plane unit is on this machine");
}

#[test]
fn a_change_in_flight_is_upgrading_with_the_serial_of_its_grant_whatever_the_target() {
    let mut case = worker();
    let old = target(9).id;
    let serial = case.grant_for(0, W, &old);
    fly(&mut case);
    let own = case.own();
    assert_eq!((own.state, own.serial, own.target), (State::Upgrading, serial, Some(old)));
}

#[test]
fn a_change_of_somebody_else_takes_back_no_answer() {
    let mut case = worker();
    case.joined();
    case.report(0, State::Completed, 1);
    case.granted().last = 1;
    fly(&mut case);
    let own = case.own();
    assert_eq!((own.state, own.serial), (State::Ready, 1));
    assert_eq!(case.lines(Level::Waiting)[0], "kubelet: snapd is at work on a change that is not ours");
}

#[test]
fn completed_is_the_key_and_the_revision_that_it_gave() {
    let mut case = worker();
    case.joined();
    assert_eq!(case.own().state, State::Completed, "granted or not");
    case.rollout.memory.given.insert(
        name("kubelet"),
        Given { key: Some(key("KEY1").digest()), revision: Revision::Store(99), channel: None },
    );
    assert_eq!(case.own().state, State::Ready, "it runs another revision than the key gave");
    case.rollout.memory.given.clear();
    assert_eq!(case.own().state, State::Ready, "what the key gave is not known");
    case.joined();
    case.rollout.memory.keys.insert(name("kubelet"), super::fixture::seen("OTHER", 101));
    assert_eq!(case.own().state, State::Ready, "another key");
    case.joined();
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held")]);
    assert_eq!(case.own().state, State::Ready, "it has left the cohort");
}

#[test]
fn a_move_is_believed_once_the_key_was_read() {
    let mut case = worker();
    case.grant(0, W);
    case.rollout.done.push((refresh(), Ok(Answer::NothingToDo)));
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
    assert_eq!(case.decide().effect, Some(Effect::ReadInfo { names: vec![name("kubelet")] }));
    read(&mut case, "KEY1", 101);
    let own = case.own();
    assert_eq!((own.state, own.serial, own.snaps[&name("kubelet")]), (State::Completed, 1, SnapState::Done));
    read(&mut case, "OTHER", 101);
    let own = case.own();
    assert_eq!(own.state, State::Failed);
    let cause = "kubelet: snap refresh went through, and it is not what was asked for";
    assert_eq!(own.cause.unwrap().as_str(), cause);
}

#[test]
fn a_transient_trouble_is_tried_again_later_and_a_permanent_one_is_failed() {
    let mut case = worker();
    case.grant(0, W);
    case.rollout.done.push((refresh(), Err(trouble(TroubleKind::StoreUnreachable))));
    assert_eq!(case.own().state, State::Upgrading);
    assert_eq!(case.decide().follow_up, Some(30));
    case.rollout.memory = case.decide().memory;
    case.rollout.done.clear();
    assert_eq!(case.own().state, State::Upgrading, "not before its time");
    case.rollout.now = Timestamp(NOW + 30);
    assert_eq!(case.decide().effect, Some(Effect::Alter(refresh())));
    case.rollout.done.push((refresh(), Err(trouble(TroubleKind::Busy))));
    assert_eq!(case.decide().follow_up, Some(120), "and later each time");
    case.rollout.done.clear();
    case.rollout.done.push((refresh(), Err(trouble(TroubleKind::ChangeFailed))));
    let own = case.own();
    assert_eq!((own.state, own.cause.unwrap().as_str()), (State::Failed, "kubelet: it says so"));
}

#[test]
fn running_apps_are_named_and_snaps_without_services_do_not_mind_them() {
    let mut case = worker();
    case.grant(0, W);
    let pids = vec![41, 42];
    case.rollout.done.push((refresh(), Err(trouble(TroubleKind::RunningApps { pids }))));
    assert_eq!(case.lines(Level::Waiting)[0], "kubelet: has running apps, pids 41 42; tried again by itself");
    case.rollout.done.clear();
    case.rollout.snapd.services = Ok([].into());
    let Some(Effect::Alter(Alteration::Move(to))) = case.decide().effect else { panic!() };
    assert!(to.ignore_running);
}

#[test]
fn a_unit_that_is_not_healthy_in_time_has_failed() {
    let mut case = worker();
    case.joined();
    case.grant(0, W);
    case.rollout.snapd.services = Ok([(name("kubelet"), vec![service(&name("kubelet"), false)])].into());
    assert_eq!(case.own().state, State::Upgrading);
    case.rollout.memory = case.decide().memory;
    case.rollout.now = Timestamp(NOW + case.options.ready_timeout);
    let own = case.own();
    assert_eq!(own.state, State::Failed);
    assert_eq!(own.cause.unwrap().as_str(), "not healthy in time: kubelet.daemon is not active");
}

#[test]
fn failed_stays_until_a_new_serial_or_target() {
    let mut case = worker();
    case.grant(0, W);
    case.joined();
    let mut failed = progress(&case.target(), State::Failed, 1);
    failed.cause = Some("it broke".into());
    case.told(0).progress = Some(Ok(failed));
    assert_eq!(case.own().state, State::Failed, "although all is well by now");
    case.granted().last = 1;
    case.grant(0, W);
    let own = case.own();
    assert_eq!((own.state, own.serial), (State::Completed, 2));
    case.report(0, State::Failed, 1);
    case.granted().grants.clear();
    case.rollout.app.target = Ok(Some(target(2)));
    assert_eq!(case.own().state, State::Ready, "the target is another");
}

#[test]
fn snaps_that_others_own_are_exempt_and_named() {
    let table = [
        (installed("kubelet", 100, "held"), false, "kubelet is held by somebody else and not moved"),
        (
            crate::snap::Installed { revision: Revision::Local(1), ..installed("kubelet", 100, "-") },
            true,
            "kubelet is a local build (x1) and not kept in step",
        ),
    ];
    for (snap, own_hold, line) in table {
        let mut case = worker();
        case.rollout.snapd = snapd(vec![snap]);
        if !own_hold {
            case.rollout.memory.holds.clear();
        }
        let own = case.own();
        assert_eq!((own.state, own.snaps[&name("kubelet")]), (State::Completed, SnapState::Exempt));
        assert!(case.lines(Level::Active)[0].starts_with(line), "{:?}", case.lines(Level::Active));
    }
}

#[test]
fn a_move_back_within_three_passes_shows_that_somebody_else_owns_the_snap() {
    let mut case = worker();
    case.grant(0, W);
    case.rollout.done.push((refresh(), Ok(Answer::Done)));
    case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
    read(&mut case, "KEY1", 101);
    let memory = case.decide().memory;
    case.rollout.done.clear();
    case.rollout.store.infos.clear();
    case.granted().grants.clear();
    for (after, exempt) in [(1, true), (2, true), (4, false)] {
        case.rollout.memory = memory.clone();
        case.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
        for _ in 1..after {
            case.rollout.memory = case.decide().memory;
        }
        case.rollout.snapd = snapd(vec![installed("kubelet", 100, "held")]);
        let memory = case.decide().memory;
        assert_eq!(memory.moved_back.contains(&name("kubelet")), exempt, "{after}");
    }
}

#[test]
fn what_cannot_be_read_moves_nothing_and_takes_nothing_back() {
    for (text, level) in [("{\"format\":2}", Level::Waiting), ("{\"format\":1}", Level::Blocked)] {
        let mut case = worker();
        case.grant(0, W);
        case.rollout.app.target = crate::databag::target::Target::read(Some(text));
        let outcome = case.decide();
        assert_eq!(
            (outcome.effect, outcome.app.len(), outcome.unit.contains_key("progress")),
            (None, 0, false)
        );
        assert_eq!(outcome.statuses[0].level, level);
    }
}
