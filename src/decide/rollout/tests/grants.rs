//! When anybody may go, who is next, and when a grant ends.

use super::fixture::{BUILD, Case, NOW, node, principal, target, unit};
use crate::databag::node::{Check, Node, Role};
use crate::databag::progress::State;
use crate::databag::skipped::Skip;
use crate::decide::options::{Pause, Windows};
use crate::juju::{Level, Timestamp};
use crate::observed::rollout::{Occasion, Told};
use crate::plan::Effect;
use crate::snap::Architecture;
use Role::{ControlPlane as C, Worker as W};

fn grants(case: &Case) -> Vec<String> {
    case.grants().unwrap_or_default()
}

#[test]
fn control_plane_goes_one_by_one_by_number_the_leader_last_then_workers() {
    let mut case = Case::new(&[C, C, C, W, W]);
    let mut order = Vec::new();
    for _ in 0..5 {
        let given = grants(&case);
        assert_eq!(given.len(), 1, "{given:?}");
        let (number, serial) = given[0].split_once(' ').unwrap();
        let (number, serial): (u32, u64) = (number.parse().unwrap(), serial.parse().unwrap());
        let role = [C, C, C, W, W][usize::try_from(number).unwrap()];
        case.grant(number, role);
        case.granted().last = serial;
        assert_eq!(case.grants(), None, "lockstep/{number} is at work");
        case.report(number, State::Completed, serial);
        case.granted().grants.clear();
        order.push(number);
    }
    assert_eq!(order, [1, 2, 0, 3, 4]);
}

#[test]
fn ending_a_grant_and_giving_the_next_is_one_write() {
    let mut case = Case::new(&[C, C, C]);
    case.grant(1, C);
    case.report(1, State::Completed, 1);
    assert_eq!(grants(&case), ["2 2"]);
}

#[test]
fn after_an_effect_on_the_machine_the_leader_writes_nothing_in_that_pass() {
    let mut case = Case::new(&[C, C]);
    assert_eq!(grants(&case), ["1 1"]);
    let hold = crate::snap::Alteration::Hold { names: [super::fixture::name("kubelet")].into() };
    case.rollout.done.push((hold, Ok(crate::snap::Answer::Done)));
    let outcome = case.decide();
    assert_eq!((outcome.app.len(), outcome.related.len(), outcome.follow_up), (0, 0, Some(5)));
}

#[test]
fn nobody_is_granted_before_the_first_update_status_or_while_leaving() {
    let mut case = Case::new(&[C, C]);
    case.rollout.memory.met = false;
    assert_eq!(case.grants(), None);
    case.rollout.occasion = Occasion::UpdateStatus;
    assert_eq!(grants(&case), ["1 1"]);
    assert!(case.decide().memory.met);
    case.rollout.memory.met = true;
    for leaving in [Occasion::Departing, Occasion::Removing] {
        case.rollout.occasion = leaving;
        assert!(case.decide().app.is_empty());
    }
    case.rollout.occasion = Occasion::Hook;
    case.rollout.memory.leaving = true;
    assert!(case.decide().app.is_empty());
}

#[test]
fn a_grant_ends_by_completed_ready_and_for_an_old_target_by_failed() {
    let other = target(9).id;
    let table = [
        (State::Completed, 5, false, true),
        (State::Ready, 5, false, true),
        (State::Completed, 4, false, false),
        (State::Ready, 4, false, false),
        (State::Upgrading, 5, false, false),
        (State::Failed, 5, false, false),
        (State::Failed, 5, true, true),
        (State::Upgrading, 5, true, false),
    ];
    for (state, serial, old, ends) in table {
        let mut case = Case::new(&[C, C, C]);
        case.granted().last = 4;
        let present = case.target().id;
        case.grant_for(1, C, if old { &other } else { &present });
        case.report(1, state, serial);
        if old {
            let mut told = super::fixture::progress(&case.target(), state, serial);
            told.target = Some(other.clone());
            case.told(1).progress = Some(Ok(told));
        }
        let kept = case.grants().is_none_or(|grants| grants.contains(&"1 5".to_owned()));
        assert_eq!(!kept, ends, "{state} {serial} {old}");
    }
}

#[test]
fn a_failure_stops_everything_until_it_has_a_newer_serial_or_is_skipped() {
    let mut case = Case::new(&[C, C, C]);
    case.grant(1, C);
    case.report(1, State::Failed, 1);
    assert_eq!(case.grants(), None);
    assert!(
        case.lines(Level::Blocked)[0].starts_with("lockstep/1 failed: juju run lockstep/leader retry-unit")
    );
    // Also without the grant: the failure itself counts.
    case.granted().grants.clear();
    assert_eq!(case.grants(), None);
    let skip = Skip::new(Some(case.target().id), None);
    case.rollout.app.skipped.as_mut().unwrap().units.insert(unit(1), skip);
    assert_eq!(grants(&case), ["2 2"]);
}

#[test]
fn a_holder_is_gone_only_if_it_was_met_is_not_listed_and_not_expected() {
    for (met, expected, gone) in
        [(true, false, true), (false, false, false), (true, true, false), (false, true, false)]
    {
        let mut case = Case::new(&[C, C, C]);
        case.grant(1, C);
        case.rollout.peers.remove(&unit(1));
        if met {
            case.rollout.memory.joined.insert(unit(1));
        }
        if !expected {
            case.rollout.goal.as_mut().unwrap().as_mut().unwrap().control_plane.remove(&principal(C, 1));
        }
        assert_eq!(grants(&case).contains(&"2 2".to_owned()), gone, "{met} {expected}");
    }
    let mut case = Case::new(&[C, C, C]);
    case.grant(1, C);
    case.rollout.peers.remove(&unit(1));
    case.rollout.occasion = Occasion::UpdateStatus;
    case.rollout.goal = None;
    assert_eq!(case.decide().effect, Some(Effect::ReadGoalState));
    case.rollout.goal = Some(Err("no answer".to_owned()));
    assert_eq!(case.grants(), None);
}

#[test]
fn a_control_plane_unit_waits_for_every_grant_of_any_role_and_target() {
    let mut case = Case::new(&[C, C, W]);
    case.grant_for(2, W, &target(9).id);
    assert_eq!(case.grants(), None);
}

#[test]
fn the_health_of_others_holds_back_a_healthy_unit_and_not_the_ill_one() {
    let mut case = Case::new(&[C, C, C]);
    case.node(2).health.services = Check::Bad("kubelet.daemon is not active".into());
    assert_eq!(grants(&case), ["2 1"], "the unhealthy one goes first");
    case.report(2, State::Completed, 1);
    assert_eq!(case.grants(), None, "and the others wait while it is ill");
    case.node(2).health.services = Check::Unknown("not seen".into());
    assert_eq!(grants(&case), ["1 1"]);
    case.told(2).node = None;
    assert_eq!(case.grants(), None, "who tells nothing counts as ill");
}

#[test]
fn workers_wait_for_all_of_the_control_plane_and_share_their_slots() {
    let mut case = Case::new(&[C, C, W, W, W]);
    case.options.worker_parallelism = 2;
    case.report(0, State::Completed, 1);
    case.report(1, State::Completed, 2);
    case.granted().last = 2;
    assert_eq!(grants(&case), ["2 3", "3 4"]);
    case.grant_for(4, W, &target(9).id);
    assert_eq!(grants(&case), ["4 3", "2 4"], "grants of older targets count");
    case.granted().grants.clear();
    case.report(1, State::Ready, 2);
    assert_eq!(grants(&case), ["1 4"], "one was moved by somebody");
    let skip = Skip::new(Some(case.target().id), None);
    case.rollout.app.skipped.as_mut().unwrap().units.insert(unit(1), skip);
    assert_eq!(grants(&case), ["2 4", "3 5"]);
    case.rollout.peers.insert(unit(9), Told::default());
    assert_eq!(case.grants(), None, "a unit that tells nothing counts as control plane");
}

#[test]
fn a_unit_of_another_build_is_not_granted() {
    let mut case = Case::new(&[C, C, C]);
    case.node(1).build = "0.0.9-old".into();
    assert_eq!(grants(&case), ["2 1"]);
    case.report(2, State::Completed, 1);
    case.report(0, State::Completed, 2);
    assert_eq!(case.grants(), None);
    assert_eq!(
        case.lines(Level::Waiting)[0],
        "lockstep/1 runs another charm build; its charm refresh is waited for"
    );
    assert_ne!(BUILD, "0.0.9-old");
}

#[test]
fn a_closed_window_holds_back_turns_but_no_rollback() {
    let mut case = Case::new(&[C, C]);
    // NOW is a Friday.
    case.options.window = Windows::parse("Sat 02:00-05:00 UTC").unwrap();
    assert_eq!(case.grants(), None);
    let progress = case.decide().progress.unwrap();
    let line = "the next turn waits for the refresh-window; 0 of 2 in step";
    assert_eq!((progress.level, progress.line.as_str()), (Level::Active, line));
    case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().rollback = true;
    assert_eq!(grants(&case), ["1 1"]);
}

#[test]
fn principals_that_nobody_reports_are_waited_for_once_and_then_passed() {
    let mut case = Case::new(&[C, W]);
    case.report(0, State::Completed, 1);
    case.granted().last = 1;
    case.rollout.goal.as_mut().unwrap().as_mut().unwrap().worker.insert(principal(W, 7));
    assert_eq!(case.grants(), None);
    assert_eq!(case.lines(Level::Waiting)[0], "no unit beside wk/7 yet; workers wait for it");
    // It has come, and is not related to its principal yet.
    let mut come = Node::new("7", Architecture::Amd64, BUILD);
    come.principal = Some(principal(W, 7));
    case.rollout.peers.insert(unit(7), Told { node: Some(Ok(come)), ..Told::default() });
    assert_eq!(case.grants(), None);
    case.rollout.peers.remove(&unit(7));
    case.rollout.memory = case.decide().memory;
    case.rollout.now = Timestamp(NOW + case.options.grant_timeout);
    assert_eq!(grants(&case), ["1 2"]);
    assert!(
        case.lines(Level::Active).contains(&"no unit beside wk/7; the rollout goes on without".to_owned())
    );
    case.rollout.goal = None;
    assert_eq!(case.decide().effect, Some(Effect::ReadGoalState));
}

#[test]
fn a_pause_holds_after_the_first_of_each_role_or_after_every_unit() {
    let mut case = Case::new(&[C, C, C, W, W]);
    case.options.pause = Pause::First;
    assert_eq!(grants(&case), ["1 1"]);
    case.report(1, State::Completed, 1);
    case.granted().last = 1;
    assert_eq!(case.grants(), None);
    assert_eq!(case.lines(Level::Waiting)[0], "paused; go on with: juju run lockstep/leader resume-upgrade");
    case.rollout.app.skipped.as_mut().unwrap().resumed = 1;
    assert_eq!(grants(&case), ["2 2"]);
    case.report(2, State::Completed, 2);
    case.granted().last = 2;
    assert_eq!(grants(&case), ["0 3"], "only the first pauses");
    case.options.pause = Pause::All;
    assert_eq!(case.grants(), None);
    case.rollout.app.skipped.as_mut().unwrap().resumed = 2;
    case.report(0, State::Completed, 3);
    case.granted().last = 3;
    case.options.pause = Pause::First;
    case.options.worker_parallelism = 2;
    assert_eq!(grants(&case), ["3 4"], "the first of the second role goes alone");
}

#[test]
fn a_silent_holder_is_named_and_keeps_its_grant() {
    let mut case = Case::new(&[C, C, C]);
    let serial = case.grant(1, C);
    case.report(1, State::Upgrading, serial);
    case.rollout.memory = case.decide().memory;
    assert_eq!(case.lines(Level::Blocked), Vec::<String>::new());
    case.rollout.now = Timestamp(NOW + case.options.grant_timeout);
    let line = "lockstep/1 does not answer; if it is dead: juju run lockstep/leader skip-unit unit=lockstep/1 force=true";
    assert_eq!(case.lines(Level::Blocked), [line]);
    assert_eq!(case.grants(), None);
    let progress = case.decide().progress.unwrap();
    assert_eq!(progress.level, Level::Blocked, "the application shows it too");
    assert!(progress.line.starts_with(line));
}

#[test]
fn of_two_units_on_one_machine_the_owner_is_a_member() {
    let mut case = Case::new(&[W, W, C]);
    // lockstep/1 and lockstep/2 are on machine 2: the control plane owns it.
    case.node(1).machine = "2".into();
    assert_eq!(grants(&case), ["2 1"]);
    case.report(2, State::Completed, 1);
    case.granted().last = 1;
    assert_eq!(grants(&case), ["0 2"]);
    case.report(0, State::Completed, 2);
    case.granted().last = 2;
    assert_eq!(case.grants(), None);
    assert_eq!(node(1, W).machine.as_str(), "1");
}

#[test]
fn a_dead_unit_stays_skipped_until_it_tells_something_new() {
    let mut case = Case::new(&[C, C, C]);
    let words = format!("{} ready 0", case.target().id);
    let skip = Skip::new(Some(target(9).id), Some(words.as_str().into()));
    case.rollout.app.skipped.as_mut().unwrap().units.insert(unit(1), skip);
    assert_eq!(grants(&case), ["2 1"]);
    case.report(1, State::Ready, 3);
    let outcome = case.decide();
    assert!(!outcome.app["skipped"].as_deref().unwrap().contains("lockstep/1"));
}
