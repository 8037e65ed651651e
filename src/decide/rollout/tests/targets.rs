//! When a new target is made, of what, and what keeps it back.

use super::fixture::{Case, NOW, key, name, principal, progress, stable, target, unit};
use crate::databag::cohorts::{CohortState, Offer};
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::node::{Node, NodeHead, NodeHeads};
use crate::databag::progress::State;
use crate::databag::target::{Kind, Target};
use crate::decide::options::CohortRefresh;
use crate::juju::{Level, Timestamp};
use crate::observed::rollout::{Follower, Source};
use crate::plan::Effect;
use crate::snap::{Architecture, CohortKey, Revision, SnapName, Trouble, TroubleKind};
use std::collections::{BTreeMap, BTreeSet};

const DAY: u64 = 24 * 3600;

fn head(revision: u32) -> NodeHead {
    NodeHead { revision: Revision::Store(revision), version: "1.32.1".into() }
}

fn heads(read: u64, revision: u32) -> NodeHeads {
    NodeHeads { read: Timestamp(read), channels: [(stable(), head(revision))].into(), absent: [].into() }
}

/// A cluster that has completed a target made for head 101, reported as `now` says.
fn settled(reported: u32) -> Case {
    let mut case = Case::new(&[C, C, W]);
    case.joined();
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    let architectures = target.heads.entry(name("kubelet")).or_default();
    architectures.entry(Architecture::Amd64).or_default().insert(stable(), head(101));
    for number in 0..3 {
        case.report(number, State::Completed, 0);
        case.node(number).snaps.get_mut(&name("kubelet")).unwrap().revision = Revision::Store(101);
    }
    case.node(0).heads.insert(name("kubelet"), heads(NOW - 100, reported));
    case
}

fn made(case: &Case) -> Option<Target> {
    let outcome = case.decide();
    let text = outcome.app.get("target")?.clone()?;
    Target::read(Some(&text)).unwrap()
}

/// The names that the next `create-cohort` is for.
fn creates(case: &Case) -> Option<Vec<String>> {
    match case.decide().effect {
        Some(Effect::CreateCohorts { names }) => Some(names.iter().map(ToString::to_string).collect()),
        Some(
            Effect::ReadAppBag
            | Effect::ReadGoalState
            | Effect::ReadInfo { .. }
            | Effect::ReadKube { .. }
            | Effect::Alter(_)
            | Effect::Collect(_),
        )
        | None => None,
    }
}

fn answer(case: &mut Case, names: &[&str], made: Result<(), TroubleKind>) {
    let names: BTreeSet<SnapName> = names.iter().map(|text| name(text)).collect();
    let keys = || -> BTreeMap<SnapName, CohortKey> {
        names.iter().map(|name| (name.clone(), key(&format!("NEW-{name}")))).collect()
    };
    let trouble = |kind| Trouble { kind, command: "snap create-cohort".into(), text: "no".into() };
    let made = made.map(|()| keys()).map_err(trouble);
    case.rollout.store.created.push((names, made));
}

#[test]
fn the_first_target_has_all_names_in_one_command_and_no_channel() {
    let mut case = Case::new(&[C, C]);
    case.rollout.app.target = Ok(None);
    case.options.snaps.insert(name("kube-proxy"), None);
    assert_eq!(creates(&case).unwrap(), ["kube-proxy", "kubelet"], "installed here or not");
    answer(&mut case, &["kube-proxy", "kubelet"], Ok(()));
    let target = made(&case).unwrap();
    assert_eq!((target.kind, target.snaps.len(), target.id.counter()), (Kind::Cohort, 2, 2));
    assert!(target.snaps.values().all(|snap| snap.channel.is_none() && snap.created.is_some()));
    case.rollout.app.fresh = false;
    assert_eq!(case.decide().effect, Some(Effect::ReadAppBag), "before it is written");
}

#[test]
fn a_name_that_the_store_does_not_know_is_found_one_by_one_and_left_out() {
    let mut case = Case::new(&[C]);
    case.rollout.app.target = Ok(None);
    case.options.snaps.insert(name("kubelets"), None);
    answer(&mut case, &["kubelet", "kubelets"], Err(TroubleKind::NotFound));
    assert_eq!(creates(&case).unwrap(), ["kubelet"]);
    answer(&mut case, &["kubelet"], Ok(()));
    assert_eq!(creates(&case).unwrap(), ["kubelets"]);
    answer(&mut case, &["kubelets"], Err(TroubleKind::NotFound));
    let target = made(&case).unwrap();
    assert_eq!(target.snaps.keys().map(SnapName::as_str).collect::<Vec<_>>(), ["kubelet"]);
    assert!(case.lines(Level::Blocked)[0].starts_with("the store does not know kubelets"));
    assert!(case.decide().memory.unknown.contains_key(&name("kubelets")));
}

#[test]
fn a_name_that_the_store_does_not_know_is_told_until_it_is_known_or_nobody_wants_it() {
    let mut case = settled(101);
    case.options.snaps.insert(name("kubelets"), None);
    case.rollout.memory.unknown.insert(name("kubelets"), Timestamp(NOW - 100_000));
    let told = |case: &Case| case.lines(Level::Blocked).iter().any(|line| line.contains("know kubelets"));
    assert!(told(&case), "however long ago the store said so");
    let kept = case.decide().memory;
    assert!(kept.unknown.contains_key(&name("kubelets")), "and the next pass tells it too");
    let heads = case.node(0).heads[&name("kubelet")].clone();
    case.node(0).heads.insert(name("kubelets"), heads);
    assert!(!told(&case), "there it is");
    case.node(0).heads.remove(&name("kubelets"));
    assert!(told(&case));
    case.options.snaps.remove(&name("kubelets"));
    assert!(!told(&case) && case.decide().memory.unknown.is_empty(), "nobody wants it");
}

#[test]
fn a_store_that_does_not_answer_changes_nothing() {
    let mut case = settled(102);
    answer(&mut case, &["kubelet"], Err(TroubleKind::StoreUnreachable));
    let outcome = case.decide();
    assert!(outcome.effect.is_none() && !outcome.app.contains_key("target"));
    assert_eq!(case.lines(Level::Waiting)[0], "the store makes no cohort keys now; asked again by itself");
    case.rollout.memory = outcome.memory;
    case.rollout.store.created.clear();
    assert_eq!(creates(&case), None, "not in every pass");
    case.rollout.now = Timestamp(NOW + 300);
    assert!(creates(&case).is_some());
    // No report at all is no news.
    case.node(0).heads.clear();
    assert_eq!(creates(&case), None);
}

#[test]
fn control_plane_units_on_different_channels_make_no_first_target() {
    let mut case = Case::new(&[C, C, W]);
    case.rollout.app.target = Ok(None);
    case.node(1).snaps.get_mut(&name("kubelet")).unwrap().channel = Some("1.31/stable".parse().unwrap());
    assert_eq!(creates(&case), None);
    let line = "control-plane channels of kubelet differ: lockstep/0 1.32/stable, lockstep/1 1.31/stable";
    assert_eq!(case.lines(Level::Blocked)[0], line);
}

#[test]
fn a_new_head_makes_a_target_in_which_only_that_snap_has_another_key() {
    let mut case = settled(101);
    case.options.snaps.insert(name("kube-proxy"), None);
    let proxy = crate::databag::target::SnapTarget { cohort: Some(key("PROXY")), ..Default::default() };
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.snaps.insert(name("kube-proxy"), proxy.clone());
    assert_eq!(creates(&case), None, "the same head");
    case.node(0).heads.insert(name("kubelet"), heads(NOW - 100, 102));
    assert_eq!(creates(&case).unwrap(), ["kubelet"]);
    answer(&mut case, &["kubelet"], Ok(()));
    let new = made(&case).unwrap();
    assert_eq!(new.snaps[&name("kube-proxy")], proxy);
    assert_eq!(new.snaps[&name("kubelet")].cohort, Some(key("NEW-kubelet")));
    assert_eq!(new.heads[&name("kubelet")][&Architecture::Amd64][&stable()], head(102));
    assert_eq!((new.id.counter(), new.completed.unwrap().id), (2, case.target().id));
}

#[test]
fn a_stale_report_or_one_from_before_the_key_is_no_news() {
    for (read, news) in
        [(NOW - 100, true), (NOW - 2 * DAY, false), (NOW - 1001, false), (NOW + 3 * DAY, false)]
    {
        let mut case = settled(101);
        case.node(0).heads.insert(name("kubelet"), heads(read, 102));
        assert_eq!(creates(&case).is_some(), news, "{read}");
    }
}

#[test]
fn each_architecture_is_compared_with_its_own_revisions() {
    let mut case = settled(101);
    let arm = |node: &mut Node, revision| {
        node.architecture = Architecture::Arm64;
        node.snaps.get_mut(&name("kubelet")).unwrap().revision = Revision::Store(revision);
    };
    arm(case.node(2), 7);
    assert_eq!(creates(&case), None, "its head is not known");
    case.node(2).heads.insert(name("kubelet"), heads(NOW - 100, 7));
    assert_eq!(creates(&case), None, "its head is what the key gave");
    case.node(2).heads.insert(name("kubelet"), heads(NOW - 100, 8));
    assert!(creates(&case).is_some());
}

#[test]
fn a_snap_without_a_key_and_an_old_key_make_a_target() {
    let mut case = settled(101);
    case.options.snaps.insert(name("kube-proxy"), None);
    assert_eq!(creates(&case), None, "nobody has it installed");
    let snap = case.node(2).snaps[&name("kubelet")].clone();
    case.node(2).snaps.insert(name("kube-proxy"), snap);
    assert_eq!(creates(&case).unwrap(), ["kube-proxy"]);
    let mut case = settled(101);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.snaps.get_mut(&name("kubelet")).unwrap().created = Some(Timestamp(NOW - 59 * DAY));
    assert_eq!(creates(&case), None);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.snaps.get_mut(&name("kubelet")).unwrap().created = Some(Timestamp(NOW - 60 * DAY));
    assert_eq!(creates(&case).unwrap(), ["kubelet"]);
}

#[test]
fn no_target_while_one_has_failed_or_an_upgrade_is_unfinished() {
    let mut case = settled(102);
    case.grant(1, C);
    case.report(1, State::Failed, 1);
    assert_eq!(creates(&case), None);
    let mut case = settled(102);
    case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().kind = Kind::Upgrade;
    assert!(creates(&case).is_some(), "the upgrade is completed");
    case.report(1, State::Ready, 0);
    assert_eq!(creates(&case), None);
}

#[test]
fn manual_announces_and_off_is_silent() {
    let mut case = settled(102);
    case.options.cohort_refresh = CohortRefresh::Manual;
    assert_eq!(creates(&case), None);
    let line = "new: kubelet 1.32.1 (102) on amd64; juju run lockstep/leader refresh-cohorts";
    assert_eq!(case.lines(Level::Active)[0], line);
    case.options.cohort_refresh = CohortRefresh::Off;
    assert_eq!(creates(&case), None);
    assert!(!case.lines(Level::Active).iter().any(|line| line.starts_with("new:")));
}

#[test]
fn a_refused_revision_is_not_taken_again_and_the_next_one_is() {
    let mut case = settled(102);
    let refused = BTreeMap::from([(Architecture::Amd64, BTreeSet::from([Revision::Store(102)]))]);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.refused.insert(name("kubelet"), refused);
    assert_eq!(creates(&case), None);
    let line = "kubelet: the channel's head was rolled back from and is not taken";
    assert!(case.lines(Level::Active).contains(&line.to_owned()));
    case.node(0).heads.insert(name("kubelet"), heads(NOW - 100, 103));
    assert!(creates(&case).is_some());
}

#[test]
fn an_id_never_comes_back() {
    let mut case = Case::new(&[C, C]);
    case.rollout.app.target = Ok(None);
    case.told(1).progress = Some(Ok(progress(&target(41), State::Completed, 3)));
    answer(&mut case, &["kubelet"], Ok(()));
    assert_eq!(made(&case).unwrap().id.counter(), 42);
}

#[test]
fn the_lowest_number_of_an_architecture_asks_for_all_names_the_installed_first() {
    let mut case = settled(101);
    case.options.snaps.insert(name("a-worker-only"), None);
    case.rollout.memory.asked = Some(Timestamp(NOW - 3600));
    let names = vec![name("kubelet"), name("a-worker-only")];
    assert_eq!(case.decide().effect, Some(Effect::ReadInfo { names: names.clone() }));
    case.rollout.unit = unit(5);
    case.rollout.peers.insert(unit(0), case.rollout.own.clone());
    assert_eq!(case.decide().effect, None);
    case.rollout.architecture = Architecture::Arm64;
    assert_eq!(case.decide().effect, Some(Effect::ReadInfo { names }));
}

fn offer(text: &str, counter: u64, completed: bool) -> Offer {
    let state = CohortState::new(target(counter).id, completed);
    Offer { keys: [(name("kubelet"), key(text))].into(), state }
}

#[test]
fn a_follower_takes_the_keys_once_the_source_has_completed() {
    let mut case = settled(102);
    let source = |offer| Source {
        relation: "follow-cohorts:7".parse().unwrap(),
        app: Some("remote-x".parse().unwrap()),
        offer,
    };
    case.rollout.source = Some(source(None));
    case.report(1, State::Ready, 0);
    assert_eq!(case.decide().app.get("granted"), None, "nobody runs ahead");
    case.rollout.source = Some(source(Some(Ok(offer("THEIRS", 70, false)))));
    assert!(made(&case).is_none());
    case.rollout.source = Some(source(Some(Ok(offer("THEIRS", 70, true)))));
    let new = made(&case).unwrap();
    assert_eq!(new.snaps[&name("kubelet")].cohort, Some(key("THEIRS")));
    assert_eq!((new.follows.as_ref(), new.snaps[&name("kubelet")].followed), (Some(&target(70).id), true));
    // The own store has nothing to say about it any more.
    case.rollout.app.target = Ok(Some(new));
    assert_eq!((made(&case), creates(&case)), (None, None));
    // Gone back from it: this very offer is not taken again, the next one is.
    case.rollout.app.target.as_mut().unwrap().as_mut().unwrap().snaps = target(1).snaps;
    assert_eq!(made(&case), None);
    case.rollout.source = Some(source(Some(Ok(offer("THEIRS", 71, true)))));
    assert!(made(&case).is_some());
    assert_eq!(principal(C, 0).to_string(), "cp/0");
}

/// Juju relates no application to itself, but to an offer of its own: every target would be news.
#[test]
fn an_application_that_is_offered_its_own_target_follows_nobody() {
    let mut case = settled(101);
    case.rollout.followers.insert("cohorts:4".parse().unwrap(), Follower { app: None, versions: None });
    let mut offered = |offer: &Offer| {
        let (relation, app) = ("follow-cohorts:5".parse().unwrap(), Some("own-offer".parse().unwrap()));
        case.rollout.source = Some(Source { relation, app, offer: Some(Ok(offer.clone())) });
        (made(&case), case.lines(Level::Blocked))
    };
    let line = "lockstep follows itself: juju remove-relation lockstep:follow-cohorts own-offer";
    assert_eq!(offered(&offer("KEY1", 1, true)), (None, vec![line.to_owned()]));
    let (new, lines) = offered(&offer("THEIRS", 70, true));
    assert_eq!((new.unwrap().follows, lines), (Some(target(70).id), Vec::new()));
}

#[test]
fn followers_get_what_the_control_plane_has_completed() {
    let mut case = settled(101);
    let relation = "cohorts:4".parse().unwrap();
    case.rollout.followers.insert(relation, Follower { app: None, versions: None });
    let keys = |case: &Case| case.decide().related.remove(&relation);
    let state = |case: &Case| keys(case).unwrap()["cohort-state"].clone().unwrap();
    assert_eq!(keys(&case).unwrap()["cohort-keys"].as_deref(), Some("{\"kubelet\":\"KEY1\"}"));
    assert!(state(&case).contains("\"completed\":true"));
    case.report(2, State::Ready, 0);
    assert!(state(&case).contains("\"completed\":true"), "a worker does not count");
    case.report(1, State::Ready, 0);
    assert_eq!(keys(&case), None, "no control plane has ever completed it");
    let mut newer = target(2);
    newer.led = Some(case.target().earlier());
    case.rollout.app.target = Ok(Some(newer));
    assert!(state(&case).contains("\"completed\":false"));
    assert_eq!(keys(&case).unwrap()["cohort-keys"].as_deref(), Some("{\"kubelet\":\"KEY1\"}"));
}

/// F4 across applications: only the followers have that snap.
#[test]
fn a_new_head_of_a_snap_that_only_followers_have_is_news() {
    let mut case = settled(101);
    case.options.snaps.insert(name("kube-proxy"), None);
    let proxy = crate::databag::target::SnapTarget { cohort: Some(key("PROXY")), ..Default::default() };
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.snaps.insert(name("kube-proxy"), proxy);
    target.heads.insert(name("kube-proxy"), [(Architecture::Amd64, [(stable(), head(7))].into())].into());
    case.node(0).heads.insert(name("kube-proxy"), heads(NOW - 100, 8));
    assert_eq!(creates(&case), None, "nobody has it");
    let follower = Follower { app: None, versions: None };
    case.rollout.followers.insert("cohorts:4".parse().unwrap(), follower);
    assert_eq!(creates(&case).unwrap(), ["kube-proxy"]);
    case.node(0).heads.insert(name("kube-proxy"), heads(NOW - 100, 7));
    assert_eq!(creates(&case), None, "the same head");
}

#[test]
fn a_store_that_tells_no_heads_is_named_until_it_answers() {
    let mut case = settled(101);
    case.rollout.memory.asked = None;
    let info = |heads| crate::snap::Info { name: name("kubelet"), heads, local: None };
    case.rollout.store.infos.insert(name("kubelet"), Ok(info(None)));
    let silent = "the store does not answer: new revisions are not seen; asked again by itself";
    assert_eq!(case.lines(Level::Waiting), [silent]);
    case.rollout.memory = case.decide().memory;
    case.rollout.store.infos.clear();
    assert_eq!(case.lines(Level::Waiting), [silent], "until it is asked again");
    case.rollout.store.infos.insert(name("kubelet"), Ok(info(Some(crate::snap::Heads::default()))));
    assert_eq!(case.lines(Level::Waiting), Vec::<String>::new());
}

#[test]
fn two_that_completed_one_target_and_differ_are_named() {
    let mut case = settled(101);
    case.node(1).snaps.get_mut(&name("kubelet")).unwrap().revision = Revision::Store(105);
    let line = "kubelet differs in one target: lockstep/0 has 101, lockstep/1 has 105";
    assert_eq!(case.lines(Level::Blocked)[0], line);
    case.node(1).architecture = Architecture::Arm64;
    assert_eq!(case.lines(Level::Blocked), Vec::<String>::new());
}
