//! Actions: what they change, and what they refuse with which command.

use super::fixture::{Case, key, name, principal, stable, target, unit};
use crate::databag::granted::Granted;
use crate::databag::node::NodeHead;
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::progress::State;
use crate::databag::skipped::{Skip, Skipped};
use crate::databag::target::{Pin, Target};
use crate::decide::options::Pause;
use crate::decide::rollout::{Action, Answer, act};
use crate::plan::{Effect, Keys};
use crate::snap::{Architecture, Head, Heads, Info, Revision};
use std::collections::BTreeMap;

fn done(case: &Case, action: &Action) -> Keys {
    match act(&case.rollout, &case.options, action) {
        Answer::Done { app, .. } => app,
        Answer::Need(effect) => panic!("needs {effect:?}"),
        Answer::Refused(why) => panic!("{why}"),
        Answer::Report(report) => panic!("{}", report.text),
    }
}

fn refused(case: &Case, action: &Action) -> String {
    match act(&case.rollout, &case.options, action) {
        Answer::Refused(why) => why,
        Answer::Done { line, .. } => panic!("{line}"),
        Answer::Need(effect) => panic!("needs {effect:?}"),
        Answer::Report(report) => panic!("{}", report.text),
    }
}

fn grants(keys: &Keys) -> Vec<String> {
    let granted = Granted::read(keys["granted"].as_deref()).unwrap();
    granted.grants.iter().map(|grant| format!("{} {}", grant.unit.number(), grant.serial)).collect()
}

fn retry(number: u32) -> Action {
    Action::RetryUnit { unit: unit(number) }
}

fn skip(number: u32, force: bool) -> Action {
    Action::SkipUnit { unit: unit(number), force }
}

#[test]
fn only_the_leader_acts_and_by_a_fresh_bag() {
    let mut case = Case::new(&[C, C]);
    case.rollout.leader = false;
    let line = "only the leader can do that: juju run lockstep/leader skip-unit unit=lockstep/1 force=true";
    assert_eq!(refused(&case, &skip(1, true)), line);
    case.rollout.leader = true;
    case.rollout.app.fresh = false;
    let answer = act(&case.rollout, &case.options, &Action::Rollback);
    assert_eq!(answer, Answer::Need(Effect::ReadAppBag));
}

#[test]
fn retry_is_a_new_serial_in_the_slot_that_is_held() {
    let mut case = Case::new(&[C, C, C]);
    case.grant(1, C);
    assert!(refused(&case, &retry(1)).starts_with("lockstep/1 has not failed, it is ready"));
    case.report(1, State::Failed, 1);
    assert_eq!(grants(&done(&case, &retry(1))), ["1 2"]);
    let by_principal = Action::RetryUnit { unit: principal(C, 1) };
    assert_eq!(grants(&done(&case, &by_principal)), ["1 2"]);
    assert!(refused(&case, &Action::RetryUnit { unit: "x/1".parse().unwrap() }).contains("is beside x/1"));
}

#[test]
fn a_skipped_unit_tries_again_only_where_a_slot_is_left() {
    let mut case = Case::new(&[C, C, C, W]);
    case.report(1, State::Failed, 1);
    case.granted().last = 1;
    let skip = Skip::new(Some(case.target().id), None);
    case.rollout.app.skipped.as_mut().unwrap().units.insert(unit(1), skip.clone());
    let keys = done(&case, &retry(1));
    assert_eq!(grants(&keys), ["1 2"]);
    assert!(Skipped::read(keys["skipped"].as_deref()).unwrap().units.is_empty());
    case.grant(2, C);
    let line = "lockstep/2 is at work; later: juju run lockstep/leader retry-unit unit=lockstep/1";
    assert_eq!(refused(&case, &retry(1)), line);
    case.granted().grants.clear();
    case.rollout.app.skipped.as_mut().unwrap().units.insert(unit(3), skip);
    assert!(refused(&case, &retry(3)).starts_with("the control-plane units go first"));
}

#[test]
fn skip_needs_the_failure_of_the_held_serial_or_force() {
    let mut case = Case::new(&[C, C, C]);
    let serial = case.grant(1, C);
    case.report(1, State::Failed, serial);
    let keys = done(&case, &skip(1, false));
    assert_eq!(grants(&keys), Vec::<String>::new());
    let skipped = Skipped::read(keys["skipped"].as_deref()).unwrap();
    assert_eq!(skipped.units[&unit(1)].dead, None);
    // The failure that is seen is that of an older serial: it may be moving again.
    case.grant(1, C);
    let why = refused(&case, &skip(1, false));
    assert!(why.ends_with("juju run lockstep/leader skip-unit unit=lockstep/1 force=true"), "{why}");
    let keys = done(&case, &skip(1, true));
    let skipped = Skipped::read(keys["skipped"].as_deref()).unwrap();
    assert!(skipped.units[&unit(1)].dead.is_some());
    assert!(refused(&case, &skip(7, true)).starts_with("there is no unit lockstep/7"));
}

#[test]
fn resume_lifts_a_pause_up_to_the_last_serial() {
    let mut case = Case::new(&[C, C]);
    assert!(refused(&case, &Action::ResumeUpgrade).starts_with("nothing is paused"));
    case.options.pause = Pause::All;
    case.report(1, State::Completed, 4);
    case.granted().last = 4;
    let keys = done(&case, &Action::ResumeUpgrade);
    assert_eq!(Skipped::read(keys["skipped"].as_deref()).unwrap().resumed, 4);
}

/// A cluster on its way to head 102, before which it ran 101.
fn on_the_way() -> Case {
    let mut case = Case::new(&[C, C]);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    let head = NodeHead { revision: Revision::Store(102), version: "1.32.2".into() };
    let channels = BTreeMap::from([(stable(), head)]);
    target.heads.insert(name("kubelet"), [(Architecture::Amd64, channels)].into());
    let pin = Pin { channel: Some(stable()), revision: Revision::Store(101) };
    let snaps = BTreeMap::from([(name("kubelet"), pin)]);
    target.before.insert(C, [(Architecture::Amd64, snaps)].into());
    case
}

fn target_of(keys: &Keys) -> Target {
    Target::read(keys["target"].as_deref()).unwrap().unwrap()
}

#[test]
fn rollback_leads_to_the_last_completed_target_and_refuses_what_it_leaves() {
    let mut case = on_the_way();
    case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().completed = Some(target(0).earlier());
    case.grant(1, C);
    case.report(1, State::Failed, 1);
    let keys = done(&case, &Action::Rollback);
    let back = target_of(&keys);
    assert_eq!(back.snaps[&name("kubelet")].cohort, Some(key("KEY0")));
    assert!(back.rollback && back.id.counter() == 2);
    let refused_revisions = &back.refused[&name("kubelet")][&Architecture::Amd64];
    assert_eq!(refused_revisions.iter().collect::<Vec<_>>(), [&Revision::Store(102)]);
    assert!(keys["history"].as_deref().unwrap().contains("rolled-back"));
    case.rollout.app.target = Ok(Some(back));
    assert!(refused(&case, &Action::Rollback).contains("leads back already"));
}

#[test]
fn without_a_completed_target_rollback_leads_to_what_members_ran() {
    let case = on_the_way();
    let back = target_of(&done(&case, &Action::Rollback));
    let snap = &back.snaps[&name("kubelet")];
    assert_eq!((snap.cohort.as_ref(), snap.channel.as_ref()), (None, None));
    assert_eq!(snap.pins[&C][&Architecture::Amd64].revision, Revision::Store(101));
    let mut case = Case::new(&[C]);
    assert!(refused(&case, &Action::Rollback).contains("is not known"));
    case.rollout.app.target = Ok(None);
    assert!(refused(&case, &Action::Rollback).starts_with("there is no target"));
}

#[test]
fn a_new_target_voids_skips_but_of_dead_units() {
    let mut case = on_the_way();
    let id = case.target().id;
    case.told(1).progress = None;
    let units = &mut case.rollout.app.skipped.as_mut().unwrap().units;
    units.insert(unit(0), Skip::new(Some(id.clone()), None));
    units.insert(unit(1), Skip::new(Some(id), Some("nothing".into())));
    let keys = done(&case, &Action::Rollback);
    let skipped = Skipped::read(keys["skipped"].as_deref()).unwrap();
    assert_eq!(skipped.units.keys().collect::<Vec<_>>(), [&unit(1)]);
}

#[test]
fn refresh_cohorts_asks_the_store_now_and_says_what_it_found() {
    let mut case = on_the_way();
    let action = Action::RefreshCohorts { force: false };
    let answer = act(&case.rollout, &case.options, &action);
    assert_eq!(answer, Answer::Need(Effect::ReadInfo { names: vec![name("kubelet")] }));
    let mut says = |revision| {
        let head = Head { revision: Revision::Store(revision), version: "1.32.3".to_owned() };
        let heads = Some(Heads([(stable(), Some(head))].into()));
        let info = Info { name: name("kubelet"), heads, local: None };
        case.rollout.store.infos.insert(name("kubelet"), Ok(info));
        act(&case.rollout, &case.options, &action)
    };
    assert!(matches!(says(102), Answer::Done { app, .. } if app.is_empty()));
    let names = [name("kubelet")].into();
    assert_eq!(says(103), Answer::Need(Effect::CreateCohorts { names }));
    let refused_revisions = [(Architecture::Amd64, [Revision::Store(103)].into())].into();
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.refused.insert(name("kubelet"), refused_revisions);
    assert!(refused(&case, &action).ends_with("refresh-cohorts force=true"));
    let force = Action::RefreshCohorts { force: true };
    let answer = act(&case.rollout, &case.options, &force);
    assert!(matches!(answer, Answer::Need(Effect::CreateCohorts { .. })), "{answer:?}");
}
