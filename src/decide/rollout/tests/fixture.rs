//! A cluster to write tables about: lockstep/0 leads on the control plane, all are known and fine.

use crate::databag::charm_state::{Given, RolloutMemory, SeenKey};
use crate::databag::granted::Granted;
use crate::databag::node::{Check, Node, NodeSnap, Role};
use crate::databag::progress::{Progress, State};
use crate::databag::target::{Kind, SnapTarget, Target};
use crate::decide::options::RolloutOptions;
use crate::decide::rollout::{Outcome, decide};
use crate::juju::{Level, Timestamp, UnitName};
use crate::observed::Rollout;
use crate::observed::rollout::{AppBag, Goal, Kube, Occasion, Snapd, Store, Told};
use crate::plan::Effect;
use crate::snap::{
    Architecture, Channel, CohortKey, Installed, Notes, Revision, Service, SnapName, SnapdVersion, Tracking,
};
use std::collections::BTreeMap;

pub const NOW: u64 = 1_800_000_000;
pub const BUILD: &str = "0.1.0-test";

pub fn unit(number: u32) -> UnitName {
    format!("lockstep/{number}").parse().unwrap()
}

pub fn name(text: &str) -> SnapName {
    text.parse().unwrap()
}

pub fn key(text: &str) -> CohortKey {
    text.parse().unwrap()
}

pub fn stable() -> Channel {
    "1.32/stable".parse().unwrap()
}

pub fn principal(role: Role, number: u32) -> UnitName {
    let app = if role == Role::ControlPlane { "cp" } else { "wk" };
    format!("{app}/{number}").parse().unwrap()
}

/// A node with one snap, kubelet at revision 100.
pub fn node(number: u32, role: Role) -> Node {
    let mut node = Node::new(&number.to_string(), Architecture::Amd64, BUILD);
    node.role = Some(role);
    node.principal = Some(principal(role, number));
    node.snaps.insert(name("kubelet"), NodeSnap::of(&installed("kubelet", 100, "held,in-cohort")));
    node.health.services = Check::Ok;
    node
}

pub fn installed(snap: &str, revision: u32, notes: &str) -> Installed {
    Installed {
        name: name(snap),
        version: Some("1.32.0".to_owned()),
        revision: Revision::Store(revision),
        tracking: Some(Tracking { channel: stable(), on_branch: false }),
        notes: Notes::parse(notes),
    }
}

/// The target number so many, one key for kubelet.
pub fn target(counter: u64) -> Target {
    let snap = SnapTarget {
        cohort: Some(key(&format!("KEY{counter}"))),
        created: Some(Timestamp(NOW - 1000)),
        ..SnapTarget::default()
    };
    Target::new(counter, Kind::Cohort, Timestamp(NOW - 1000), BTreeMap::from([(name("kubelet"), snap)]))
}

pub fn progress(target: &Target, state: State, serial: u64) -> Progress {
    Progress::new(Some(target.id.clone()), state, serial)
}

/// A cluster as one of its units sees it.
pub struct Case {
    pub rollout: Rollout,
    pub options: RolloutOptions,
}

impl Case {
    /// Units by role; number 0 looks and leads. The target is number 1; everybody is `ready`.
    pub fn new(roles: &[Role]) -> Self {
        let options =
            RolloutOptions { snaps: BTreeMap::from([(name("kubelet"), None)]), ..RolloutOptions::default() };
        let target = target(1);
        let told = |number: usize, role: &Role| Told {
            node: Some(Ok(node(u32::try_from(number).unwrap(), *role))),
            progress: Some(Ok(progress(&target, State::Ready, 0))),
            nodes: None,
        };
        let numbered = || roles.iter().enumerate();
        let mut goal = Goal::default();
        for (number, role) in numbered() {
            let principal = principal(*role, u32::try_from(number).unwrap());
            if *role == Role::ControlPlane { &mut goal.control_plane } else { &mut goal.worker }
                .insert(principal);
        }
        let rollout = Rollout {
            now: Timestamp(NOW),
            occasion: Occasion::Hook,
            committed: true,
            unit: unit(0),
            principal: Some(principal(roles[0], 0)),
            machine: "0".to_owned(),
            architecture: Architecture::Amd64,
            build: BUILD.to_owned(),
            role: Some(roles[0]),
            as_principal: false,
            packed: None,
            foreign_owner: None,
            leader: true,
            related: true,
            own: told(0, &roles[0]),
            peers: numbered()
                .skip(1)
                .map(|(number, role)| (unit(u32::try_from(number).unwrap()), told(number, role)))
                .collect(),
            app: AppBag { fresh: true, target: Ok(Some(target)), ..AppBag::default() },
            goal: Some(Ok(goal)),
            source: None,
            followers: BTreeMap::new(),
            snapd: snapd(vec![installed("kubelet", 100, "held,in-cohort")]),
            kube: Kube::default(),
            store: Store { left: 60, ..Store::default() },
            done: Vec::new(),
            memory: RolloutMemory {
                met: true,
                asked: Some(Timestamp(NOW)),
                keys_read: Some(Timestamp(NOW)),
                holds: [name("kubelet")].into(),
                keys: [(name("kubelet"), seen("OLD", 100))].into(),
                ..RolloutMemory::default()
            },
        };
        Self { rollout, options }
    }

    pub fn target(&self) -> Target {
        self.rollout.app.target.clone().unwrap().unwrap()
    }

    pub fn granted(&mut self) -> &mut Granted {
        self.rollout.app.granted.as_mut().unwrap()
    }

    /// Grants a unit the present target.
    pub fn grant(&mut self, number: u32, role: Role) -> u64 {
        let target = self.target().id;
        self.grant_for(number, role, &target)
    }

    pub fn grant_for(&mut self, number: u32, role: Role, target: &crate::databag::target::TargetId) -> u64 {
        self.granted().grant(unit(number), Some(principal(role, number)), role, target.clone())
    }

    pub fn told(&mut self, number: u32) -> &mut Told {
        if number == 0 { &mut self.rollout.own } else { self.rollout.peers.get_mut(&unit(number)).unwrap() }
    }

    pub fn node(&mut self, number: u32) -> &mut Node {
        self.told(number).node.as_mut().unwrap().as_mut().unwrap()
    }

    /// A unit reports about the present target.
    pub fn report(&mut self, number: u32, state: State, serial: u64) {
        let progress = progress(&self.target(), state, serial);
        self.told(number).progress = Some(Ok(progress));
    }

    pub fn decide(&self) -> Outcome {
        decide(&self.rollout, &self.options)
    }

    /// The grants that this decision writes, as `unit serial`; none: it writes none.
    pub fn grants(&self) -> Option<Vec<String>> {
        let outcome = self.decide();
        assert_eq!(outcome.effect.filter(|effect| !matches!(effect, Effect::Alter(_))), None, "reads first");
        let text = outcome.app.get("granted")?.clone().unwrap();
        let granted = Granted::read(Some(&text)).unwrap();
        Some(granted.grants.iter().map(|grant| format!("{} {}", grant.unit.number(), grant.serial)).collect())
    }

    /// What this decision reports of the own unit.
    pub fn own(&self) -> Progress {
        let outcome = self.decide();
        assert_eq!(outcome.effect, None);
        Progress::read(outcome.unit["progress"].as_deref().unwrap()).unwrap()
    }

    /// Every status at that level.
    pub fn lines(&self, level: Level) -> Vec<String> {
        let statuses = self.decide().statuses.into_iter();
        statuses.filter(|status| status.level == level).map(|status| status.line).collect()
    }

    /// The unit has joined the key of the present target and got revision 101.
    pub fn joined(&mut self) {
        let key = key("KEY1").digest();
        self.rollout.snapd = snapd(vec![installed("kubelet", 101, "held,in-cohort")]);
        self.rollout.memory.keys.insert(name("kubelet"), seen("KEY1", 101));
        let given = Given { key: Some(key), revision: Revision::Store(101), channel: Some(stable()) };
        self.rollout.memory.given.insert(name("kubelet"), given);
    }
}

pub fn seen(text: &str, revision: u32) -> SeenKey {
    SeenKey { digest: Some(key(text).digest()), revision: Revision::Store(revision), channel: Some(stable()) }
}

pub fn snapd(snaps: Vec<Installed>) -> Snapd {
    let services = snaps.iter().map(|snap| (snap.name.clone(), vec![service(&snap.name, true)])).collect();
    Snapd {
        installed: Ok(snaps.into_iter().map(|snap| (snap.name.clone(), snap)).collect()),
        changes: Ok(BTreeMap::new()),
        services: Ok(services),
        version: SnapdVersion::parse("2.68"),
    }
}

pub fn service(snap: &SnapName, active: bool) -> Service {
    Service { snap: snap.clone(), app: "daemon".to_owned(), enabled: true, active, on_demand: false }
}
