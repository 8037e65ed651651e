//! Each check by a table.

use super::*;
use crate::databag::node::{Check as Seen, Cluster, NodeHead, NodeSnap};
use crate::databag::target::Wish;
use crate::snap::{Channel, Installed, Notes, Revision, Tracking};

const BUILD: &str = "0.1.0-test";

fn unit(number: u32) -> UnitName {
    format!("lockstep/{number}").parse().unwrap()
}

/// A cluster by the roles and versions of its units, wanted at some channels.
struct Cluster3 {
    app: AppName,
    units: Vec<(UnitName, Role, Node)>,
    changes: Wishes,
    supported: BTreeMap<SnapName, Constraint>,
    followers: Vec<(String, Option<(Minor, Minor)>)>,
}

fn cluster(units: &[(Role, &[(&str, &str)])], changes: &[(&str, &str)]) -> Cluster3 {
    let node = |number: usize, role: Role, snaps: &[(&str, &str)]| {
        let mut node = Node::new(&number.to_string(), Architecture::Amd64, BUILD);
        node.role = Some(role);
        for (name, version) in snaps {
            let minor =
                Minor::of_version(version).map_or_else(|| "latest".to_owned(), |minor| minor.to_string());
            let channel = minor.parse().unwrap();
            let snap = Installed {
                name: name.parse().unwrap(),
                version: Some((*version).to_owned()),
                revision: Revision::Store(100),
                tracking: Some(Tracking { channel, on_branch: false }),
                notes: Notes::default(),
            };
            node.snaps.insert(name.parse().unwrap(), NodeSnap::of(&snap));
        }
        node.health.services = Seen::Ok;
        if role == Role::ControlPlane {
            node.health.api_server = Seen::Ok;
            node.cluster = Some(Cluster { nodes: Seen::Ok, pods: Seen::Ok, ..Cluster::default() });
        }
        node
    };
    let wish = |channel: &str| Wish { channel: channel.parse().unwrap(), revisions: BTreeMap::new() };
    Cluster3 {
        app: "lockstep".parse().unwrap(),
        units: units
            .iter()
            .enumerate()
            .map(|(number, (role, snaps))| {
                (unit(u32::try_from(number).unwrap()), *role, node(number, *role, snaps))
            })
            .collect(),
        changes: changes.iter().map(|(name, channel)| (name.parse().unwrap(), wish(channel))).collect(),
        supported: BTreeMap::new(),
        followers: Vec::new(),
    }
}

impl Cluster3 {
    /// Everything is known, and the store has every wanted channel.
    fn facts(&self) -> Facts<'_> {
        let mut heads = TargetHeads::new();
        for (name, wish) in &self.changes {
            let head = NodeHead { revision: Revision::Store(200), version: "1.32.4".into() };
            let channels = BTreeMap::from([(wish.channel.clone(), head)]);
            heads.entry(name.clone()).or_default().insert(Architecture::Amd64, channels);
        }
        Facts {
            app: &self.app,
            build: BUILD,
            unreported: Ok(Vec::new()),
            units: self
                .units
                .iter()
                .map(|(unit, role, node)| Unit {
                    unit,
                    role: *role,
                    node: Some(node),
                    state: Some(State::Ready),
                })
                .collect(),
            changes: self.changes.clone(),
            supported: self.supported.clone(),
            heads,
            absent: BTreeMap::new(),
            reporters: BTreeMap::from([(Architecture::Amd64, unit(0))]),
            busy: Ok(None),
            followers: self.followers.clone(),
        }
    }
}

/// The verdict and the short reason of one check.
fn found(facts: &Facts<'_>, name: &str) -> (Verdict, String) {
    let checks = run(facts);
    let check = checks.iter().find(|check| check.name == name).unwrap();
    (check.found.verdict, check.found.short.clone())
}

const C: Role = Role::ControlPlane;
const W: Role = Role::Worker;

fn api(version: &str) -> [(&str, &str); 1] {
    [("kube-apiserver", version)]
}

fn kubelet(version: &str) -> [(&str, &str); 1] {
    [("kubelet", version)]
}

#[test]
fn all_is_well_and_every_check_is_told_in_its_order() {
    let cluster = cluster(
        &[(C, &api("1.31.2")), (W, &kubelet("1.31.5"))],
        &[("kube-apiserver", "1.32/stable"), ("kubelet", "1.32/stable")],
    );
    let checks = run(&cluster.facts());
    let told: Vec<&str> = checks.iter().map(|check| check.name).collect();
    assert_eq!(told, names().take(6).collect::<Vec<_>>(), "no constraint, so nothing to check there");
    assert!(checks.iter().all(|check| check.found.verdict == Verdict::Ok), "{checks:?}");
    let skew = &checks.iter().find(|check| check.name == "version-skew").unwrap().found.long;
    assert_eq!(skew, "1.31 to 1.32; workers run a newer patch, which is fine");
}

#[test]
fn versions_may_differ_as_kubernetes_allows_and_no_further() {
    use Verdict::{Failed, Ok, Unknown};
    type Case<'a> = (&'a [&'a str], &'a [&'a str], &'a [(&'a str, &'a str)], Verdict, &'a str);
    let both = |channel: &'static str| [("kube-apiserver", channel), ("kubelet", channel)];
    let table: [Case<'_>; 17] = [
        (&["1.31.2"], &["1.31.2"], &both("1.32"), Ok, "1.31 to 1.32"),
        (&["1.31.2"], &["1.31.2"], &both("1.31/candidate"), Ok, "1.31 to 1.31"),
        (&["1.31.2"], &["1.31.2"], &both("1.33"), Failed, "1.31 to 1.33: go to 1.32/stable first"),
        (
            &["1.31.2"],
            &["1.31.2"],
            &both("1.35-classic/edge"),
            Failed,
            "1.31 to 1.35: go to 1.32-classic/edge first",
        ),
        (&["1.31.2"], &["1.31.2"], &both("2.0"), Failed, "1.31 to 2.0: go to 1.32/stable first"),
        (&["1.32.2"], &["1.32.2"], &both("1.31"), Failed, "1.32 to 1.31 goes down"),
        (&["1.31.2", "1.32.0"], &["1.31.2"], &both("1.32"), Ok, "1.31 and 1.32 to 1.32"),
        (&["1.31.2", "1.32.0"], &["1.31.2"], &both("1.33"), Failed, "1.31 to 1.33: go to 1.32/stable first"),
        (&["1.31.2"], &["1.29.0"], &both("1.32"), Ok, "1.31 to 1.32"),
        (&["1.31.2"], &["1.28.0"], &both("1.32"), Failed, "lockstep/1 runs 1.28, too old"),
        (&["1.25.2"], &["1.23.0"], &both("1.26"), Failed, "lockstep/1 runs 1.23, too old"),
        (&["1.25.2"], &["1.24.0"], &both("1.26"), Ok, "1.25 to 1.26"),
        (&["1.31.2"], &["1.32.0"], &both("1.32"), Failed, "lockstep/1 runs 1.32, newer"),
        (&["1.31.2"], &["1.31.0"], &[("kubelet", "1.32")], Failed, "kubelet 1.32 beside 1.31"),
        (&["1.31.2"], &["1.30.0"], &[("kubelet", "1.31")], Ok, "1.31 to 1.31"),
        (&["1.31.2"], &["1.31.2"], &both("latest/edge"), Ok, "1.31 to 1.32"),
        (&["20260101"], &["1.31.2"], &both("1.32"), Unknown, "lockstep/0: version not known"),
    ];
    for (control_plane, workers, changes, verdict, short) in table {
        let control_plane: Vec<_> = control_plane.iter().map(|version| api(version)).collect();
        let workers: Vec<_> = workers.iter().map(|version| kubelet(version)).collect();
        let units: Vec<(Role, &[(&str, &str)])> = control_plane
            .iter()
            .map(|snaps| (C, snaps.as_slice()))
            .chain(workers.iter().map(|snaps| (W, snaps.as_slice())))
            .collect();
        let cluster = cluster(&units, changes);
        assert_eq!(found(&cluster.facts(), "version-skew"), (verdict, short.to_owned()), "{changes:?}");
    }
}

#[test]
fn what_is_not_known_of_versions_holds_back_and_other_snaps_do_not() {
    let other = cluster(&[(C, &[("etcd", "3.4")])], &[("etcd", "3.5")]);
    assert_eq!(found(&other.facts(), "version-skew").0, Verdict::Ok);
    let unnamed = cluster(&[(C, &api("1.31.2"))], &[("kube-apiserver", "latest/edge")]);
    let mut facts = unnamed.facts();
    facts.heads.clear();
    assert_eq!(found(&facts, "version-skew").1, "kube-apiserver: which minor is latest/edge?");
    let alone = cluster(&[(W, &kubelet("1.31.2"))], &[("kubelet", "1.32")]);
    assert_eq!(found(&alone.facts(), "version-skew"), (Verdict::Unknown, "no control plane here".to_owned()));
    let mut followed = cluster(&[(C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    let minor = |text: &str| text.parse::<Minor>().unwrap();
    for (versions, verdict) in [
        (None, Verdict::Unknown),
        (Some((minor("1.31"), minor("1.31"))), Verdict::Ok),
        (Some((minor("1.28"), minor("1.31"))), Verdict::Failed),
        (Some((minor("1.31"), minor("1.32"))), Verdict::Failed),
    ] {
        followed.followers = vec![("workers".to_owned(), versions)];
        assert_eq!(found(&followed.facts(), "version-skew").0, verdict, "{versions:?}");
    }
}

#[test]
fn whoever_has_not_reported_is_named() {
    let cluster = cluster(&[(C, &api("1.31.2")), (C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    let mut facts = cluster.facts();
    facts.unreported = Ok(vec!["cp/3".parse().unwrap(), "cp/4".parse().unwrap()]);
    let expected = (Verdict::Failed, "no unit beside cp/3 (+1)".to_owned());
    assert_eq!(found(&facts, "units-reported"), expected);
    facts.unreported = Err("timed out".to_owned());
    assert_eq!(found(&facts, "units-reported").0, Verdict::Unknown);
    facts.unreported = Ok(Vec::new());
    facts.units[1].state = None;
    assert_eq!(found(&facts, "units-reported").1, "lockstep/1 has told nothing");
}

#[test]
fn another_charm_build_is_named_and_waited_for() {
    let mut cluster = cluster(&[(C, &api("1.31.2")), (C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    cluster.units[1].2.build = "0.0.9-old".into();
    let checks = run(&cluster.facts());
    let check = checks.iter().find(|check| check.name == "charm-version").unwrap();
    assert_eq!(check.found.short, "lockstep/1 runs another charm");
    assert!(check.found.long.contains("lockstep/1 0.0.9-old") && check.found.passes);
}

#[test]
fn the_control_plane_must_be_seen_to_be_well() {
    type Alter = fn(&mut Node);
    let table: [(Alter, Verdict, &str); 8] = [
        (|_| {}, Verdict::Ok, ""),
        (
            |node| node.health.services = Seen::Bad("x is down".into()),
            Verdict::Failed,
            "lockstep/1: x is down",
        ),
        (
            |node| node.health.api_server = Seen::Bad("not ready".into()),
            Verdict::Failed,
            "lockstep/1: not ready",
        ),
        (|node| node.health.api_server = Seen::Unknown("?".into()), Verdict::Unknown, "lockstep/1: ?"),
        (|node| node.health.api_server = Seen::None, Verdict::Unknown, "lockstep/1: API server not seen"),
        (|node| node.health.node = Seen::Bad("NotReady".into()), Verdict::Failed, "lockstep/1: NotReady"),
        (
            |node| node.cluster.as_mut().unwrap().pods = Seen::Bad("coredns is Pending".into()),
            Verdict::Failed,
            "lockstep/1: coredns is Pending",
        ),
        // The other one sees the cluster.
        (|node| node.cluster = None, Verdict::Ok, ""),
    ];
    for (alter, verdict, short) in table {
        let mut cluster = cluster(&[(C, &api("1.31.2")), (C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
        alter(&mut cluster.units[1].2);
        let (seen, why) = found(&cluster.facts(), CONTROL_PLANE_HEALTHY);
        assert_eq!(seen, verdict, "{short}");
        assert!(verdict == Verdict::Ok || why == short, "{why}");
    }
    let mut cluster = cluster(&[(C, &api("1.31.2")), (W, &kubelet("1.31.2"))], &[("kube-apiserver", "1.32")]);
    cluster.units[1].2.health.services = Seen::Bad("a worker's trouble".into());
    assert_eq!(found(&cluster.facts(), CONTROL_PLANE_HEALTHY).0, Verdict::Ok);
    cluster.units[0].2.cluster = None;
    assert_eq!(found(&cluster.facts(), CONTROL_PLANE_HEALTHY).1, "nodes and pods not seen");
}

#[test]
fn the_first_three_offenders_are_named() {
    let mut cluster = cluster(&[(C, api("1.31.2").as_slice()); 5], &[("kube-apiserver", "1.32")]);
    for (_, _, node) in &mut cluster.units {
        node.health.services = Seen::Bad("down".into());
    }
    let checks = run(&cluster.facts());
    let check = checks.iter().find(|check| check.name == CONTROL_PLANE_HEALTHY).unwrap();
    let long = "lockstep/0: down, lockstep/1: down, lockstep/2: down and 2 more; mend it first";
    assert_eq!(check.found.long, long);
}

#[test]
fn the_channel_must_be_there_for_every_architecture_in_use() {
    let mut cluster = cluster(&[(C, &api("1.31.2")), (C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    cluster.units[1].2.architecture = Architecture::Arm64;
    let mut facts = cluster.facts();
    facts.reporters.insert(Architecture::Arm64, unit(1));
    let unknown = (Verdict::Unknown, "kube-apiserver 1.32/stable is looked up".to_owned());
    assert_eq!(found(&facts, "channel-exists"), unknown);
    let passes = |facts: &Facts<'_>| run(facts).iter().any(|check| check.found.passes);
    assert!(passes(&facts), "it is only not known yet");
    let channel: Channel = "1.32".parse().unwrap();
    let absent = BTreeMap::from([(Architecture::Arm64, BTreeSet::from([channel]))]);
    facts.absent.insert("kube-apiserver".parse().unwrap(), absent);
    assert!(!passes(&facts));
    let failed = (Verdict::Failed, "no kube-apiserver 1.32/stable on arm64".to_owned());
    assert_eq!(found(&facts, "channel-exists"), failed);
    let name: SnapName = "kube-apiserver".parse().unwrap();
    let amd64 = facts.heads[&name][&Architecture::Amd64].clone();
    facts.heads.get_mut(&name).unwrap().insert(Architecture::Arm64, amd64);
    assert_eq!(found(&facts, "channel-exists").0, Verdict::Ok);
    let branch: Channel = "1.32/edge/fix".parse().unwrap();
    facts.changes.get_mut(&name).unwrap().channel = branch;
    assert_eq!(found(&facts, "channel-exists"), (Verdict::Unknown, "1.32/edge/fix is a branch".to_owned()));
    let wish = facts.changes.get_mut(&name).unwrap();
    wish.revisions = Architecture::ALL.into_iter().map(|one| (one, Revision::Store(7))).collect();
    assert_eq!(found(&facts, "channel-exists").0, Verdict::Ok, "a revision is named");
}

#[test]
fn nobody_may_be_in_the_middle_of_a_move() {
    let cluster = cluster(&[(C, &api("1.31.2")), (C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    let mut facts = cluster.facts();
    facts.busy = Ok(Some("kubelet".parse().unwrap()));
    assert_eq!(found(&facts, "snap-changes"), (Verdict::Failed, "kubelet: snapd is at work".to_owned()));
    facts.busy = Err("no answer".to_owned());
    assert_eq!(found(&facts, "snap-changes").0, Verdict::Unknown);
    facts.units[1].state = Some(State::Upgrading);
    assert_eq!(found(&facts, "snap-changes"), (Verdict::Failed, "lockstep/1 moves".to_owned()));
}

#[test]
fn constraints_of_the_charm_speak_of_what_runs_now() {
    let mut cluster = cluster(&[(C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    let name: SnapName = "kube-apiserver".parse().unwrap();
    for (constraint, version, verdict) in [
        ("^1.31", "1.31.2", Verdict::Ok),
        (">=1.31.3,<1.33", "1.31.2", Verdict::Failed),
        ("*", "16/1.34", Verdict::Unknown),
    ] {
        cluster.supported.insert(name.clone(), constraint.parse().unwrap());
        cluster.units[0].2.snaps.get_mut(&name).unwrap().version = Some(version.into());
        assert_eq!(found(&cluster.facts(), "version-constraints").0, verdict, "{constraint}");
    }
}

#[test]
fn a_panic_in_a_check_is_a_failed_check() {
    let cluster = cluster(&[(C, &api("1.31.2"))], &[("kube-apiserver", "1.32")]);
    let checks: [Check; 2] = [("broken", |_| panic!("boom")), ("charm-version", checks::charm_version)];
    let made = made(&checks, &cluster.facts());
    assert_eq!((made[0].found.verdict, made[1].found.verdict), (Verdict::Failed, Verdict::Ok));
    assert!(
        made[0].holds(|_| false)
            && !made[0].holds(|name| name == "broken")
            && !made[0].holds(|name| name == ALL)
    );
}
