//! From a wanted channel to a target: the gate, what passes it over, the ways back.

use super::fixture::{Case, NOW, installed, key, name, principal, snapd, stable, unit};
use crate::databag::node::Role::{ControlPlane as C, Worker as W};
use crate::databag::node::{Check, Cluster, NodeHead, NodeHeads};
use crate::databag::progress::State;
use crate::databag::skipped::Skipped;
use crate::databag::target::{Kind, Pin, SnapTarget, Target};
use crate::decide::options::WantedChannel;
use crate::decide::rollout::{Action, Answer, Outcome, act};
use crate::juju::{Level, Timestamp};
use crate::plan::{Effect, Keys};
use crate::snap::{Architecture, Channel, Head, Heads, Info, PackedSnap, Revision, Tracking};
use std::collections::BTreeMap;

fn channel(text: &str) -> Channel {
    text.parse().unwrap()
}

/// Three and two, settled on 1.32/stable, all known to be well; the store has 1.33/stable too.
fn settled() -> Case {
    let mut case = Case::new(&[C, C, C, W, W]);
    case.joined();
    for number in 0..5 {
        case.report(number, State::Completed, 0);
        let node = case.node(number);
        node.snaps.get_mut(&name("kubelet")).unwrap().revision = Revision::Store(101);
        if number < 3 {
            node.cluster = Some(Cluster { nodes: Check::Ok, pods: Check::Ok, ..Cluster::default() });
        }
    }
    let head =
        |revision, version: &str| NodeHead { revision: Revision::Store(revision), version: version.into() };
    let channels = [(stable(), head(101, "1.32.1")), (channel("1.33"), head(201, "1.33.0"))].into();
    case.node(0).heads.insert(
        name("kubelet"),
        NodeHeads { read: Timestamp(NOW - 10), channels, absent: Default::default() },
    );
    case.rollout.memory.asked_for = ["1.32", "1.33", "1.34", "1.35"].map(channel).into();
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.completed = None;
    let here = BTreeMap::from([(stable(), head(101, "1.32.1"))]);
    target.heads.insert(name("kubelet"), [(Architecture::Amd64, here)].into());
    case
}

fn wants(case: &mut Case, text: &str) {
    case.options.channel = WantedChannel::Channel(channel(text));
}

fn keys(case: &mut Case) {
    let made = [(name("kubelet"), key("NEW"))].into();
    case.rollout.store.created.push(([name("kubelet")].into(), Ok(made)));
}

fn made(outcome: &Outcome) -> Option<Target> {
    Target::read(Some(outcome.app.get("target")?.as_deref()?)).unwrap()
}

fn gate(case: &Case) -> Vec<String> {
    case.decide().upgrade.iter().map(|status| format!("{}: {}", status.level, status.line)).collect()
}

/// The cluster with the upgrade in force, as it was made.
fn begun() -> Case {
    let mut case = settled();
    wants(&mut case, "1.33");
    keys(&mut case);
    let target = made(&case.decide()).unwrap();
    case.rollout.app.target = Ok(Some(target));
    case.rollout.store.created.clear();
    for number in 0..5 {
        case.report(number, State::Ready, 0);
    }
    case
}

fn run(case: &Case, action: &Action) -> Result<(Keys, String), String> {
    match act(&case.rollout, &case.options, action) {
        Answer::Done { app, line, .. } => Ok((app, line)),
        Answer::Refused(why) => Err(why),
        Answer::Need(effect) => panic!("{effect:?}"),
        Answer::Report(report) => panic!("{}", report.text),
    }
}

#[test]
fn another_channel_makes_one_target_with_channel_and_key() {
    let mut case = settled();
    assert!(case.decide().effect.is_none() && !case.decide().app.contains_key("target"), "no wish");
    wants(&mut case, "1.33");
    assert_eq!(case.decide().effect, Some(Effect::CreateCohorts { names: [name("kubelet")].into() }));
    keys(&mut case);
    let target = made(&case.decide()).unwrap();
    assert_eq!((target.kind, target.rollback), (Kind::Upgrade, false));
    let snap = &target.snaps[&name("kubelet")];
    assert_eq!((snap.channel.as_ref(), snap.cohort.as_ref()), (Some(&channel("1.33")), Some(&key("NEW"))));
    assert_eq!(target.minors, Some(("1.32".parse().unwrap(), "1.33".parse().unwrap())));
    assert_eq!(target.before[&C][&Architecture::Amd64][&name("kubelet")].revision, Revision::Store(101));
    assert_eq!(
        target.heads[&name("kubelet")][&Architecture::Amd64][&channel("1.33")].revision,
        Revision::Store(201)
    );
    assert_eq!(target.completed.unwrap().id, case.target().id);
    assert_eq!(target.wanted[&name("kubelet")].channel, channel("1.33"));
}

/// The store did not know the name once; that it was asked long ago leaves no snap behind.
#[test]
fn a_name_that_was_unknown_long_ago_is_asked_for_again() {
    let mut case = settled();
    case.options.snaps.insert(name("kube-proxy"), None);
    for number in 0..5 {
        let node = case.node(number);
        let snap = node.snaps[&name("kubelet")].clone();
        node.snaps.insert(name("kube-proxy"), snap);
    }
    let heads = case.node(0).heads[&name("kubelet")].clone();
    case.node(0).heads.insert(name("kube-proxy"), heads);
    wants(&mut case, "1.33");
    let lately = Timestamp(NOW - 10);
    case.rollout.memory.unknown.insert(name("kube-proxy"), lately);
    assert_eq!(case.decide().effect, Some(Effect::CreateCohorts { names: [name("kubelet")].into() }));
    case.rollout.memory.unknown.insert(name("kube-proxy"), Timestamp(NOW - 100_000));
    let both = [name("kubelet"), name("kube-proxy")].into();
    assert_eq!(case.decide().effect, Some(Effect::CreateCohorts { names: both }));
}

#[test]
fn what_is_tracked_already_begins_nothing_and_is_kept_in_mind() {
    let mut case = settled();
    wants(&mut case, "1.32");
    let target = made(&case.decide()).unwrap();
    assert_eq!((target.kind, &target.id), (Kind::Cohort, &case.target().id), "the same target");
    assert_eq!(target.wanted[&name("kubelet")].channel, stable());
    case.rollout.app.target = Ok(Some(target));
    assert!(!case.decide().app.contains_key("target"));
    // Somebody moves a snap elsewhere: that is no wish of ours.
    case.node(4).snaps.get_mut(&name("kubelet")).unwrap().channel = Some(channel("1.33"));
    keys(&mut case);
    let target = made(&case.decide()).unwrap();
    let channels: Vec<_> = target.snaps.values().map(|snap| snap.channel.clone()).collect();
    assert_eq!((target.kind, channels, gate(&case).len()), (Kind::Cohort, vec![None], 0), "new keys at most");
}

#[test]
fn an_entry_of_snaps_beats_channel_and_cdk_addons_needs_one() {
    let mut case = settled();
    case.options.snaps.insert(name("cdk-addons"), None);
    wants(&mut case, "1.33");
    let wishes = |case: &Case| {
        let wishes = case.options.wishes(None);
        wishes.iter().map(|(name, wish)| format!("{name} {}", wish.channel)).collect::<Vec<_>>()
    };
    assert_eq!(wishes(&case), ["kubelet 1.33/stable"]);
    case.options.snaps.insert(name("kubelet"), Some(stable()));
    case.options.snaps.insert(name("cdk-addons"), Some(channel("1.33/edge")));
    assert_eq!(wishes(&case), ["cdk-addons 1.33/edge", "kubelet 1.32/stable"]);
}

#[test]
fn f1_a_closed_gate_says_which_check_and_the_one_command_and_opens_by_it() {
    let mut case = settled();
    wants(&mut case, "1.33");
    keys(&mut case);
    for number in 0..3 {
        case.node(number).cluster = None;
    }
    let line = "blocked: nodes and pods not seen; juju run lockstep/leader override-checks \
                checks=control-plane-healthy";
    assert_eq!(gate(&case), [line]);
    assert!(!case.decide().app.contains_key("target"), "nobody moves");
    let checks = |checks: &str| Action::OverrideChecks { checks: checks.to_owned() };
    let why = run(&case, &checks("health")).unwrap_err();
    assert!(why.starts_with("\"health\" is no check; known: units-reported, "), "{why}");
    assert!(run(&case, &checks(" , ")).is_err());
    let (app, line) = run(&case, &checks("control-plane-healthy")).unwrap();
    assert!(line.contains("checks overridden: control-plane-healthy"), "{line}");
    case.rollout.app.skipped = Skipped::read(app["skipped"].as_deref());
    let outcome = case.decide();
    let target = made(&outcome).unwrap();
    assert_eq!(
        target.overridden.iter().map(|check| check.as_str()).collect::<Vec<_>>(),
        ["control-plane-healthy"]
    );
    assert_eq!(
        Skipped::read(outcome.app["skipped"].as_deref()).unwrap().overridden,
        None,
        "for this one only"
    );
    case.rollout.app.target = Ok(Some(target));
    let shown =
        gate(&case).into_iter().find(|line| line.contains("checks overridden: control-plane-healthy"));
    assert!(shown.is_some_and(|line| line.starts_with("active")), "until it ends");
    for number in 0..5 {
        case.report(number, State::Completed, 0);
    }
    assert!(!gate(&case).iter().any(|line| line.contains("overridden")));
}

#[test]
fn an_override_is_for_the_upgrade_that_it_was_given_for() {
    let mut case = settled();
    let all = Action::OverrideChecks { checks: "all".to_owned() };
    assert!(run(&case, &all).unwrap_err().starts_with("no upgrade waits for checks"));
    wants(&mut case, "1.34");
    let (app, _) = run(&case, &all).unwrap();
    case.rollout.app.skipped = Skipped::read(app["skipped"].as_deref());
    assert!(
        matches!(case.decide().effect, Some(Effect::CreateCohorts { .. })),
        "two minors at once, by force"
    );
    wants(&mut case, "1.35");
    assert_eq!(case.decide().effect, None);
    assert!(
        gate(&case)[0].starts_with("blocked: 1.32 to 1.35: go to 1.33/stable first"),
        "{:?}",
        gate(&case)
    );
}

#[test]
fn a_gate_that_opens_by_itself_is_waited_for() {
    let mut case = settled();
    wants(&mut case, "1.33");
    case.node(4).build = "0.0.1-old".into();
    assert!(
        gate(&case)[0].starts_with("waiting: lockstep/4 runs another charm; juju run"),
        "{:?}",
        gate(&case)
    );
    case.rollout.goal = None;
    assert_eq!(case.decide().effect, Some(Effect::ReadGoalState));
}

#[test]
fn a_gate_names_how_many_more_checks_fail_and_never_loses_its_command() {
    let mut case = settled();
    wants(&mut case, "1.36-a-rather-long-track-name-of-somebody/candidate");
    case.node(4).build = "0.0.1-old".into();
    let goal = case.rollout.goal.as_mut().unwrap().as_mut().unwrap();
    goal.worker.insert(principal(W, 77));
    let line = &gate(&case)[0];
    assert!(
        line.len() <= 118
            && line.ends_with("(+3); juju run lockstep/leader override-checks checks=units-reported"),
        "{line}"
    );
}

#[test]
fn the_old_channel_again_is_the_way_back_without_checks() {
    let mut case = begun();
    assert!(case.decide().app.contains_key("granted"), "it goes on");
    case.node(0).cluster = None;
    wants(&mut case, "1.32");
    let outcome = case.decide();
    let back = made(&outcome).unwrap();
    assert_eq!((back.rollback, back.kind), (true, Kind::Upgrade));
    let snap = &back.snaps[&name("kubelet")];
    assert_eq!((snap.channel.as_ref(), snap.cohort.as_ref()), (Some(&stable()), Some(&key("KEY1"))));
    assert_eq!((back.first_role(), back.overridden.len()), (W, 0), "down: workers first");
    assert!(outcome.app["history"].as_deref().unwrap().contains("rolled-back"));
    // It stays there until something else is asked for.
    case.rollout.app.target = Ok(Some(back));
    assert!(!case.decide().app.contains_key("target"));
    wants(&mut case, "1.33");
    keys(&mut case);
    assert!(made(&case.decide()).is_some_and(|target| !target.rollback), "again, by the checks");
}

#[test]
fn after_a_rollback_by_action_the_option_does_not_begin_the_upgrade_again() {
    let mut case = begun();
    let (app, _) = run(&case, &Action::Rollback).unwrap();
    let back = Target::read(app["target"].as_deref()).unwrap().unwrap();
    assert!(back.rollback);
    case.rollout.app.target = Ok(Some(back));
    case.rollout.app.granted.as_mut().unwrap().grants.clear();
    keys(&mut case);
    assert!(!case.decide().app.contains_key("target"));
    // The option follows: that is where it is.
    wants(&mut case, "1.32");
    let target = made(&case.decide()).unwrap();
    assert_eq!(target.id, case.target().id);
    case.grant(1, C);
    case.report(1, State::Failed, 1);
    let why = run(&case, &Action::Rollback).unwrap_err();
    assert!(why.ends_with("juju run lockstep/leader retry-unit unit=lockstep/1, or skip-unit"), "{why}");
}

#[test]
fn what_the_option_no_longer_says_may_be_asked_for_anew() {
    let mut case = begun();
    let (app, _) = run(&case, &Action::Rollback).unwrap();
    case.rollout.app.target = Target::read(app["target"].as_deref());
    case.rollout.app.granted.as_mut().unwrap().grants.clear();
    keys(&mut case);
    assert!(!case.target().wanted.is_empty());
    case.options.channel = WantedChannel::Charm;
    assert_eq!(made(&case.decide()), None, "a file that is not there takes nothing back");
    case.options.channel = WantedChannel::Tracked;
    let forgotten = made(&case.decide()).unwrap();
    assert_eq!((&forgotten.id, forgotten.wanted.len()), (&case.target().id, 0));
    case.rollout.app.target = Ok(Some(forgotten));
    assert_eq!(made(&case.decide()), None);
    wants(&mut case, "1.33");
    assert!(made(&case.decide()).is_some_and(|target| !target.rollback), "again, by the checks");
}

#[test]
fn different_channels_before_go_back_by_revisions() {
    let mut case = begun();
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    let pin = Pin { channel: Some(channel("1.31")), revision: Revision::Store(90) };
    target.before.entry(W).or_default().insert(Architecture::Amd64, [(name("kubelet"), pin.clone())].into());
    let (app, _) = run(&case, &Action::Rollback).unwrap();
    let back = Target::read(app["target"].as_deref()).unwrap().unwrap();
    let snap = &back.snaps[&name("kubelet")];
    assert_eq!((snap.cohort.as_ref(), &snap.pins[&W][&Architecture::Amd64]), (None, &pin));
    assert_eq!(snap.pins[&C][&Architecture::Amd64].channel, Some(stable()));
}

#[test]
fn an_upgrade_waits_for_known_health_unless_that_was_overridden_or_it_goes_back() {
    let mut case = begun();
    for number in 0..3 {
        case.node(number).health.api_server = Check::Ok;
    }
    assert_eq!(case.grants().unwrap(), ["1 1"]);
    case.node(2).health.api_server = Check::Unknown("no answer".into());
    // The unhealthy one may be mended by its move; nobody else goes.
    assert_eq!(case.grants().unwrap(), ["2 1"]);
    let target = case.rollout.app.target.as_mut().unwrap().as_mut().unwrap();
    target.overridden.insert("all".into());
    assert_eq!(case.grants().unwrap(), ["1 1"]);
}

#[test]
fn a_snap_that_somebody_took_to_another_channel_is_left_to_him_and_told() {
    let mut case = begun();
    case.node(1).snaps.get_mut(&name("kubelet")).unwrap().channel = Some(channel("1.34"));
    assert_eq!(case.grants().unwrap(), ["2 1"], "the others go on");
    for number in [0, 2] {
        case.report(number, State::Completed, 1);
    }
    let line = "blocked: lockstep/1: kubelet tracks 1.34/stable, not 1.33/stable; juju config lockstep channel=1.34/stable";
    assert_eq!((case.grants(), gate(&case)[0].as_str()), (None, line));
    // The unit itself, with a grant from before: it fails and moves nothing.
    let mut case = begun();
    let mut snap = installed("kubelet", 300, "held,in-cohort");
    snap.tracking = Some(Tracking { channel: channel("1.34"), on_branch: false });
    case.rollout.snapd = snapd(vec![snap]);
    case.grant(0, C);
    let told = case.own();
    assert_eq!(told.state, State::Failed);
    assert_eq!(told.cause.unwrap().as_str(), "kubelet tracks 1.34/stable, not 1.33/stable");
}

#[test]
fn a_granted_unit_moves_by_channel_and_key_in_one_command() {
    let mut case = begun();
    case.rollout.memory.keys.insert(name("kubelet"), super::fixture::seen("KEY1", 101));
    case.grant(0, C);
    let outcome = case.decide();
    let Some(Effect::Alter(crate::snap::Alteration::Move(to))) = outcome.effect else {
        panic!("{outcome:?}")
    };
    assert_eq!((to.channel, to.to), (Some(channel("1.33")), crate::snap::Place::Cohort(key("NEW"))));
    assert_eq!(outcome.during.unwrap().line, "refreshing kubelet from 101 into its cohort on 1.33/stable");
}

#[test]
fn f3_on_the_way_back_a_unit_moves_by_a_grant_read_in_this_hook_only() {
    let mut case = begun();
    let (app, _) = run(&case, &Action::Rollback).unwrap();
    case.rollout.app.target = Target::read(app["target"].as_deref());
    let mut seen = super::fixture::seen("NEW", 201);
    seen.channel = Some(channel("1.33"));
    case.rollout.memory.keys.insert(name("kubelet"), seen);
    case.rollout.leader = false;
    let mut snap = installed("kubelet", 201, "held,in-cohort");
    snap.tracking = Some(Tracking { channel: channel("1.33"), on_branch: false });
    case.rollout.snapd = snapd(vec![snap]);
    case.grant(0, C);
    case.rollout.app.fresh = false;
    assert_eq!(case.decide().effect, Some(Effect::ReadAppBag), "the grant may be an old one");
    case.rollout.app.fresh = true;
    assert!(matches!(case.decide().effect, Some(Effect::Alter(_))));
    // The newer view: the turn is another's.
    case.granted().grants.clear();
    case.grant(2, C);
    assert_eq!(case.decide().effect, None);
}

#[test]
fn a_rollout_tells_the_concern_of_its_target() {
    let mut case = begun();
    case.grant(1, C);
    case.report(1, State::Failed, 1);
    let (upgrade, coherence) = (gate(&case), case.lines(Level::Blocked));
    assert!(
        upgrade.iter().any(|line| line.starts_with("blocked: lockstep/1 failed: juju run")),
        "{upgrade:?}"
    );
    assert_eq!(coherence, Vec::<String>::new());
    assert!(case.decide().progress.unwrap().line.starts_with("lockstep/1 failed: juju run lockstep/leader"));
}

#[test]
fn f2_one_unit_alone_is_upgraded_and_waits_for_nobody() {
    let mut case = settled();
    case.rollout.peers.clear();
    case.rollout.goal.as_mut().unwrap().as_mut().unwrap().worker.clear();
    case.rollout.goal.as_mut().unwrap().as_mut().unwrap().control_plane.retain(|unit| unit.number() == 0);
    wants(&mut case, "1.33");
    keys(&mut case);
    let target = made(&case.decide()).unwrap();
    case.rollout.app.target = Ok(Some(target));
    assert_eq!(case.grants().unwrap(), ["0 1"]);
    let told: Vec<String> = case.decide().upgrade.into_iter().map(|status| status.line).collect();
    assert!(!told.iter().any(|line| line.contains("lockstep/")), "{told:?}");
}

#[test]
fn a_revision_of_the_packed_file_is_pinned_and_no_new_head_moves_it() {
    let mut case = settled();
    let packed = |revision| {
        let revisions = [(Architecture::Amd64, Revision::Store(revision))].into();
        let snap = PackedSnap { channel: channel("1.33"), revisions, supported: None };
        Some(Ok([(name("kubelet"), snap)].into()))
    };
    case.options.channel = WantedChannel::Charm;
    assert!(gate(&case)[0].starts_with("blocked: channel=charm, and this charm has no snaps.yaml"));
    case.rollout.packed = Some(Err("snaps.kubelet.channel: x".to_owned()));
    assert_eq!(gate(&case), ["blocked: snaps.yaml of this charm, snaps.kubelet.channel: x"]);
    case.rollout.packed = packed(177);
    let target = made(&case.decide()).unwrap();
    let snap = &target.snaps[&name("kubelet")];
    assert_eq!(snap.pins[&W][&Architecture::Amd64].revision, Revision::Store(177));
    assert_eq!(snap.cohort, None, "no key is needed");
    case.rollout.app.target = Ok(Some(target));
    assert_eq!(case.target().kind, Kind::Upgrade);
    for number in 0..5 {
        case.report(number, State::Completed, 0);
        let snap = case.node(number).snaps.get_mut(&name("kubelet")).unwrap();
        (snap.revision, snap.channel) = (Revision::Store(177), Some(channel("1.33")));
    }
    assert_eq!((case.decide().effect, made(&case.decide())), (None, None));
    // Another revision in the same channel is an upgrade too.
    case.rollout.packed = packed(178);
    assert_eq!(
        made(&case.decide()).unwrap().snaps[&name("kubelet")].pins[&C][&Architecture::Amd64].revision,
        Revision::Store(178)
    );
}

#[test]
fn the_pre_check_asks_the_store_itself_and_says_what_would_happen() {
    let mut case = settled();
    case.rollout.leader = false;
    case.rollout.app.leader = Some(unit(1));
    let check = |text: &str| Action::PreUpgradeCheck { channel: Some(channel(text)) };
    assert!(
        run(&case, &Action::PreUpgradeCheck { channel: None })
            .unwrap_err()
            .starts_with("no upgrade is asked for")
    );
    assert!(
        run(&case, &check("1.32")).unwrap_err().starts_with("the managed snaps follow 1.32/stable already")
    );
    let answer = act(&case.rollout, &case.options, &check("1.33"));
    assert_eq!(answer, Answer::Need(Effect::ReadInfo { names: vec![name("kubelet")] }));
    let head = |revision| Some(Head { revision: Revision::Store(revision), version: "1.33.9".to_owned() });
    let heads = Some(Heads([(channel("1.33"), head(209))].into()));
    case.rollout.store.infos.insert(name("kubelet"), Ok(Info { name: name("kubelet"), heads, local: None }));
    let Answer::Report(report) = act(&case.rollout, &case.options, &check("1.33")) else { panic!() };
    assert_eq!(report.held_by, Vec::<&str>::new(), "{}", report.text);
    for line in [
        "  version-skew           ok       1.32 to 1.33",
        "  channel-exists         ok       kubelet 1.33.9 (209) on amd64",
        "  kubelet: 1.32/stable to 1.33/stable",
        "  control-plane, 1 at a time: lockstep/0, lockstep/2, lockstep/1",
        "  worker, 1 at a time: lockstep/3, lockstep/4",
        "  juju config cp channel=1.33/stable (if it has that option)",
        "  juju config lockstep channel=1.33/stable",
        "  workers are not drained; to drain each by hand: pause-after-unit-refresh=all",
        "  juju run lockstep/leader rollback",
        "ready: nothing holds the upgrade back",
    ] {
        assert!(report.text.lines().any(|told| told == line), "{line}\n{}", report.text);
    }
    assert_eq!(report.results["checks.version-skew.verdict"], "ok");
    let Answer::Report(report) = act(&case.rollout, &case.options, &check("1.34")) else { panic!() };
    assert_eq!(report.held_by, ["version-skew", "channel-exists"]);
    assert_eq!(report.results["ready"], "false");
}

#[test]
fn an_upgrade_may_be_the_first_target() {
    let mut case = settled();
    case.rollout.app.target = Ok(None);
    wants(&mut case, "1.33");
    keys(&mut case);
    let target = made(&case.decide()).unwrap();
    assert_eq!((target.kind, target.completed), (Kind::Upgrade, None));
    let there = SnapTarget::default();
    assert_ne!(target.snaps[&name("kubelet")], there);
}

/// Whether the way back goes by a key or by the revisions that ran, and whatever the charm names for
/// architectures that nobody has.
#[test]
fn the_charm_before_asks_for_nothing_once_its_revisions_were_rolled_back_to() {
    let packed = |text: &str, amd64, arm64| {
        let revisions =
            [(Architecture::Amd64, Revision::Store(amd64)), (Architecture::Arm64, Revision::Store(arm64))];
        let snap = PackedSnap { channel: channel(text), revisions: revisions.into(), supported: None };
        Some(Ok([(name("kubelet"), snap)].into()))
    };
    let runs = |case: &mut Case, text: &str, revision| {
        for number in 0..5 {
            case.report(number, State::Completed, 0);
            let snap = case.node(number).snaps.get_mut(&name("kubelet")).unwrap();
            (snap.revision, snap.channel) = (Revision::Store(revision), Some(channel(text)));
        }
    };
    for by_key in [true, false] {
        let mut case = settled();
        case.options.channel = WantedChannel::Charm;
        case.rollout.packed = packed("1.33", 177, 178);
        let mut target = made(&case.decide()).unwrap();
        target.completed = target.completed.filter(|_| by_key);
        case.rollout.app.target = Ok(Some(target));
        runs(&mut case, "1.33", 177);
        let (keys, _) = run(&case, &Action::Rollback).unwrap();
        case.rollout.app.target = Target::read(keys["target"].as_deref());
        assert!(case.target().rollback);
        runs(&mut case, "1.32", 101);
        case.rollout.packed = packed("1.32", 101, 102);
        let outcome = case.decide();
        assert!(outcome.upgrade.is_empty(), "{:?}", outcome.upgrade);
        assert_eq!(made(&outcome).map(|target| target.id), Some(case.target().id.clone()), "{by_key}");
    }
}
