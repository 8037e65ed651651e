//! The values of rollouts: what is written reads back, what a newer charm adds survives, and what is
//! wrong is named with its place.

use super::Unread;
use super::cohorts::{CohortState, Offer, Versions};
use super::granted::Granted;
use super::history::{End, History};
use super::node::{Check, Cluster, Node, NodeHead, NodeHeads, NodeReady, NodeSnap, Nodes, Role};
use super::progress::{Progress, SnapState, State};
use super::skipped::{Skip, Skipped};
use super::target::{Goal, Kind, Pin, SnapTarget, Target, TargetId};
use crate::juju::Timestamp;
use crate::snap::{Architecture, Installed, Notes, Revision, SnapName};
use std::collections::BTreeMap;

fn name(text: &str) -> SnapName {
    text.parse().unwrap()
}

fn target() -> Target {
    let kubelet = SnapTarget {
        cohort: Some("KEYONE==".parse().unwrap()),
        created: Some(Timestamp(7)),
        channel: Some("1.32/stable".parse().unwrap()),
        ..SnapTarget::default()
    };
    let pin = Pin { channel: None, revision: Revision::Store(41) };
    let pins = BTreeMap::from([(Role::Worker, BTreeMap::from([(Architecture::Arm64, pin)]))]);
    let proxy = SnapTarget { pins, ..SnapTarget::default() };
    let snaps = BTreeMap::from([(name("kubelet"), kubelet), (name("kube-proxy"), proxy)]);
    let mut target = Target::new(12, Kind::Upgrade, Timestamp(9), snaps);
    target.completed = Some(target.earlier());
    target.minors = Some(("1.32".parse().unwrap(), "1.31".parse().unwrap()));
    target.overridden.insert("all".into());
    target
        .refused
        .entry(name("kubelet"))
        .or_default()
        .insert(Architecture::Amd64, [Revision::Store(5)].into());
    target
}

#[test]
fn a_target_reads_back_with_what_it_does_not_know() {
    let target = target();
    let text = target.write().replacen('{', "{\"later\":[1],", 1);
    let read = Target::read(Some(&text)).unwrap().unwrap();
    assert_eq!(read.more["later"], serde_json::json!([1]));
    assert_eq!(Target::read(Some(&read.write())).unwrap(), Some(read.clone()));
    assert_eq!((read.id, read.snaps), (target.id.clone(), target.snaps.clone()));
    assert_eq!(target.first_role(), Role::Worker, "it leads to a lower minor version");
    assert_eq!(Target::read(None), Ok(None));
    let goal = |snap, role| target.snaps[&name(snap)].goal(role, Architecture::Arm64);
    assert!(matches!(goal("kubelet", Role::Worker), Goal::Cohort { channel: Some(_), .. }));
    assert!(matches!(goal("kube-proxy", Role::Worker), Goal::Revision { revision: Revision::Store(41), .. }));
    assert_eq!(goal("kube-proxy", Role::ControlPlane), Goal::Unsaid);
}

#[test]
fn an_id_is_a_counter_and_eight_hex_digits_of_the_content() {
    let id = target().id;
    assert_eq!((id.counter(), id.to_string().len()), (12, 11));
    assert_ne!(Target::new(12, Kind::Cohort, Timestamp(9), BTreeMap::new()).id, id);
    for bad in ["12", "12-3fa9c1d", "12-3FA9C1D2", "012-3fa9c1d2", "x-3fa9c1d2", "-3fa9c1d2", "+1-3fa9c1d2"] {
        assert!(bad.parse::<TargetId>().is_err(), "{bad}");
    }
}

#[test]
fn what_is_wrong_in_a_target_is_named_and_what_is_new_is_waited_out() {
    let text = target().write();
    let table = [
        (r#""kind":"upgrade""#, r#""kind":"dance""#, "$.kind: kind dance is of a newer charm", true),
        (r#""format":1"#, r#""format":2"#, "$.format: format 2 is of a newer charm", true),
        (r#""id":"12-"#, r#""id":"-"#, "$.id: is not the id of a target", false),
        ("KEYONE==", "--KEY", "$.snaps.kubelet.cohort: ", false),
        (r#""channel":"1.32/stable""#, r#""channel":"a b""#, "$.snaps.kubelet.channel: ", false),
        (r#""revision":"41""#, r#""revision":"-1""#, "$.snaps['kube-proxy'].pins: ", false),
    ];
    for (from, to, fault, newer) in table {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text, "{from}");
        let unread = Target::read(Some(&changed)).unwrap_err();
        assert!(unread.to_string().starts_with(fault), "{unread}");
        assert_eq!(matches!(unread, Unread::Newer(_)), newer, "{unread}");
        assert!(!unread.to_string().contains("KEYONE"), "{unread}");
    }
}

#[test]
fn grants_keep_their_counter_and_replace_the_slot_of_a_unit() {
    let mut granted = Granted::default();
    let unit = "lockstep/3".parse().unwrap();
    assert_eq!(granted.grant("lockstep/1".parse().unwrap(), None, Role::Worker, target().id), 1);
    assert_eq!(granted.grant("lockstep/3".parse().unwrap(), None, Role::Worker, target().id), 2);
    assert_eq!(granted.grant("lockstep/3".parse().unwrap(), None, Role::Worker, target().id), 3);
    assert_eq!((granted.grants.len(), granted.of(&unit).unwrap().serial), (2, 3));
    let text = granted.write().replacen("\"serial\":3", "\"serial\":3,\"why\":\"x\"", 1);
    let read = Granted::read(Some(&text)).unwrap();
    assert_eq!(read.write(), text);
    // A counter that was lost does not bring a number back.
    let mut lost = read;
    lost.last = 0;
    assert_eq!(lost.grant("lockstep/9".parse().unwrap(), None, Role::Worker, target().id), 4);
    assert_eq!(Granted::read(None), Ok(Granted::default()));
    let bad = Granted::read(Some(r#"{"format":1,"last":3,"grants":[{"unit":"x"}]}"#)).unwrap_err();
    assert_eq!(bad.fault().path, "$.grants[0].unit");
}

#[test]
fn progress_tells_which_serials_were_answered() {
    let of = |state, serial| Progress::new(Some(target().id), state, serial);
    for (state, serial, asked, answered) in [
        (State::Upgrading, 3, 3, false),
        (State::Upgrading, 3, 2, true),
        (State::Ready, 3, 3, true),
        (State::Completed, 3, 4, false),
        (State::Failed, 3, 3, true),
    ] {
        assert_eq!(of(state, serial).has_answered(asked), answered, "{state} {serial} {asked}");
    }
    let mut progress = of(State::Failed, 3);
    progress.cause = Some("it broke".into());
    progress.snaps.insert(name("kubelet"), SnapState::Open);
    assert_eq!(Progress::read(&progress.write()), Ok(progress));
    let bad = Progress::read(r#"{"format":1,"target":null,"state":"dancing","serial":0}"#).unwrap_err();
    assert_eq!(bad.fault().path, "$.state");
}

#[test]
fn a_node_reads_back() {
    let mut node = Node::new("3/lxd/0", Architecture::Amd64, "0.1.0-00000000");
    node.role = Some(Role::ControlPlane);
    node.principal = Some("k8s/0".parse().unwrap());
    let installed = Installed {
        name: name("kubelet"),
        version: Some("1.32.1".to_owned()),
        revision: Revision::Local(1),
        tracking: None,
        notes: Notes::default(),
    };
    node.snaps.insert(name("kubelet"), NodeSnap::of(&installed));
    node.health.services = Check::Bad("kubelet.daemon is not active".into());
    node.cluster = Some(Cluster { nodes: Check::Unknown("no kubeconfig".into()), ..Cluster::default() });
    let head = NodeHead { revision: Revision::Store(7), version: "1.32.2".into() };
    let channels = [("1.32/stable".parse().unwrap(), head)].into();
    node.heads.insert(name("kubelet"), NodeHeads { read: Timestamp(5), channels, absent: [].into() });
    let text = node.write().replacen('{', "{\"later\":true,", 1);
    let read = Node::read(&text).unwrap();
    assert_eq!(
        (read.snaps.clone(), read.health.clone(), read.heads.clone()),
        (node.snaps, node.health, node.heads)
    );
    assert_eq!(Node::read(&read.write()), Ok(read));
    let bad = text.replacen("\"role\":\"control-plane\"", "\"role\":\"boss\"", 1);
    assert_eq!(Node::read(&bad).unwrap_err().fault().path, "$.role");
    let bad = text.replacen("\"kubelet\":{\"revision\":\"x1\"", "\"--amend\":{\"revision\":\"x1\"", 1);
    assert!(Node::read(&bad).unwrap_err().fault().path.starts_with("$.snaps"));
}

#[test]
fn the_smaller_values_read_back() {
    let mut skipped = Skipped::default();
    skipped.resumed = 4;
    skipped.units.insert("lockstep/1".parse().unwrap(), Skip::new(Some(target().id), Some("nothing".into())));
    assert_eq!(Skipped::read(Some(&skipped.write())), Ok(skipped));
    let mut history = History::default();
    for counter in 1..=12 {
        let id = Target::new(counter, Kind::Cohort, Timestamp(counter), BTreeMap::new()).id;
        history.entry(&id, Kind::Cohort, Timestamp(counter)).unwrap().end = Some(End::Replaced);
        history.entry(&id, Kind::Cohort, Timestamp(counter)).unwrap().completed = true;
    }
    assert_eq!((history.targets.len(), history.targets[0].id.counter()), (10, 3));
    assert_eq!(History::read(Some(&history.write())), Ok(history));
    let mut nodes = Nodes::default();
    let ready = NodeReady { serial: 3, ready: false, reason: "NotReady".into() };
    nodes.nodes.insert("lockstep/4".parse().unwrap(), ready);
    assert_eq!(Nodes::read(&nodes.write()), Ok(nodes));
}

#[test]
fn keys_for_followers_read_back_and_faults_name_the_key_of_the_databag() {
    let keys = [(name("kubelet"), "KEYONE==".parse().unwrap())].into();
    let offer = Offer { keys, state: CohortState::new(target().id, true) };
    let mut bag: BTreeMap<String, String> = offer.write().into_iter().collect();
    assert_eq!(Offer::read(&bag), Ok(Some(offer)));
    bag.insert("cohort-keys".to_owned(), r#"{"kubelet":"-KEYONE"}"#.to_owned());
    let (key, unread) = Offer::read(&bag).unwrap_err();
    assert_eq!((key, unread.fault().path.as_str()), ("cohort-keys", "$.kubelet"));
    bag.insert("cohort-state".to_owned(), r#"{"format":3}"#.to_owned());
    assert!(matches!(Offer::read(&bag), Err(("cohort-state", Unread::Newer(_)))));
    assert_eq!(Offer::read(&BTreeMap::new()), Ok(None));
    let versions = Versions::new(None, Some("1.31.4".into()), Some("1.32.1".into()));
    assert_eq!(Versions::read(&[versions.write()].into()), Ok(Some(versions)));
}
