//! The golden cases of `tests/cos_agent/`, through the packed executable in a simulated model.
//!
//! The local unit and its far sides are set up as a case has them, numbers of units and relations
//! included, and come to rest before anybody has said anything. Then everything is said at once, and
//! the case's hooks run. What the unit wrote is compared on meaning.

#[path = "../support/meaning.rs"]
pub mod meaning;

use crate::support::{charm, dir};
use juju_sim::controller::Deploy;
use juju_sim::scenario::{AddUnit, Scenario, Step};
use juju_sim::sim::{Event, Options, Outcome, Settle, Sim};
use juju_sim::world::{HookInfo, HookKind, Model, Owner, World};
use meaning::{Bag, Written, differences};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A model in which nobody has said anything yet.
struct Quiet {
    sim: Sim,
    case: Value,
    scratch: tempfile::TempDir,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The application and the number of a unit.
fn parts(unit: &str) -> (&str, u32) {
    let (app, number) = unit.rsplit_once('/').unwrap();
    (app, number.parse().unwrap())
}

fn bag(value: &Value) -> BTreeMap<String, String> {
    value.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), text(v).to_owned())).collect()
}

impl Quiet {
    fn new(case: Value) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let mut options = Options::new(scratch.path().join("model"));
        let model = &case["model"];
        options.model = Model { name: text(&model["name"]).into(), uuid: text(&model["uuid"]).into() };
        let charms = Scenario::parse("name: a golden case\ncharms-from: charms.yaml\nsteps: []", dir());
        let sim = charms.unwrap().start(options, &[("lockstep".to_owned(), charm())]).unwrap();
        let mut quiet = Self { sim, case, scratch };
        quiet.set_up();
        quiet
    }

    fn local(&self) -> String {
        text(&self.case["local_unit"]).to_owned()
    }

    fn deploy(&mut self, charm: &str, application: &str, units: u32) {
        let charm = self.sim.charm(charm).unwrap();
        let application = application.to_owned();
        let deploy = Deploy { charm, application, units, to: Vec::new(), config: BTreeMap::new() };
        self.sim.deploy(deploy).unwrap();
    }

    /// The next unit of that application gets that number.
    fn number(&mut self, unit: &str) {
        let (app, number) = parts(unit);
        self.sim.world.applications.get_mut(app).unwrap().next_unit = number;
    }

    fn integrate(&mut self, id: u32, one: &str, two: &str) {
        self.sim.world.next_relation = id;
        assert_eq!(self.sim.integrate(one, two).unwrap(), id);
        self.sim.world.next_relation = 1000 + id;
    }

    fn scripted_beside(&mut self, unit: &str, principal: &str) {
        self.number(unit);
        let application = parts(unit).0.to_owned();
        let beside = vec![principal.to_owned()];
        let step = AddUnit { application, units: 1, to: Vec::new(), beside, arch: None };
        self.sim.step(&Step::ScriptedUnits(step)).unwrap();
    }

    /// The first principal is the unit that lockstep stands beside; others are subordinates as well.
    fn set_up(&mut self) {
        let case = self.case.clone();
        let local = self.local();
        let app = parts(&local).0;
        self.sim.world.next_relation = number(&case["peer_relation_id"]);
        self.deploy("lockstep", app, 0);
        self.sim.configure(app, &BTreeMap::from([("forward-host-health".to_owned(), json!("on"))])).unwrap();
        let mut principals = list(&case["principals"]);
        let mut host = "host/0";
        match principals.split_first() {
            Some((first, rest)) => {
                host = text(&first["unit"]);
                principals = rest;
                self.deploy("kubernetes-worker", parts(host).0, 0);
                self.number(host);
                self.sim.add_units(parts(host).0, 1, &[]).unwrap();
                self.number(&local);
                let ends = (format!("{}:cos-agent", parts(host).0), format!("{app}:cos-agent"));
                self.integrate(number(&first["relation_id"]), &ends.0, &ends.1);
            }
            None => {
                self.deploy("kubernetes-worker", "host", 1);
                self.number(&local);
                self.integrate(600, "host:juju-info", &format!("{app}:worker"));
            }
        }
        for (n, other) in principals.iter().chain(list(&case["departed"])).enumerate() {
            let unit = text(&other["unit"]);
            let name = parts(unit).0;
            self.deploy("sidecar", name, 0);
            self.scripted_beside(unit, host);
            let n = u32::try_from(n).unwrap();
            self.integrate(700 + n, &format!("{}:juju-info", parts(host).0), &format!("{name}:host"));
            let ends = (format!("{name}:cos-agent"), format!("{app}:cos-agent"));
            self.integrate(number(&other["relation_id"]), &ends.0, &ends.1);
        }
        let peers: Vec<&String> = case["peers"].as_object().unwrap().keys().collect();
        self.deploy("kubernetes-worker", "far", u32::try_from(peers.len()).unwrap());
        for (n, peer) in peers.iter().enumerate() {
            self.scripted_beside(peer, &format!("far/{n}"));
        }
        self.integrate(800, "far:juju-info", &format!("{app}:worker"));
        for (charm, far, near) in [
            ("prometheus", "prometheus:receive-remote-write", "send-remote-write"),
            ("loki", "loki:logging", "logging-consumer"),
            ("grafana", "grafana:grafana-dashboard", "grafana-dashboards-provider"),
        ] {
            self.deploy(charm, charm, 1);
            self.integrate(number(&case["outgoing_relations"][near]), &format!("{app}:{near}"), far);
        }
        let leader = if case["leader"] == json!(true) { &local } else { peers[0] };
        if *leader != local {
            self.sim.lead(leader).unwrap();
        }
        self.sim.settle(Settle::default()).unwrap();
        assert!(self.sim.world.is_leader(leader));
        for departed in list(&case["departed"]) {
            self.says(departed);
        }
        self.sim.settle(Settle::default()).unwrap();
    }

    fn says(&mut self, principal: &Value) {
        let owner = Owner::Unit(text(&principal["unit"]).to_owned());
        let id = number(&principal["relation_id"]);
        self.sim.set_databag(id, &owner, &bag(&principal["databag"])).unwrap();
    }

    /// All databags become as the case has them, and departed principals go: no hook has run for it yet.
    fn tell(&mut self) {
        let case = self.case.clone();
        let local = self.local();
        let peers = number(&case["peer_relation_id"]);
        for principal in list(&case["principals"]) {
            self.says(principal);
        }
        for (peer, data) in case["peers"].as_object().unwrap() {
            self.sim.set_databag(peers, &Owner::Unit(peer.clone()), &bag(data)).unwrap();
        }
        let before = bag(&case["own_peer_databag_before"]);
        if !before.is_empty() {
            let relation = self.sim.world.relations.get_mut(&peers).unwrap();
            World::write_bag(relation.bag_mut(&Owner::Unit(local)).unwrap(), &before);
            self.forget();
        }
        for departed in list(&case["departed"]) {
            self.sim.remove_relation(number(&departed["relation_id"]), false).unwrap();
        }
    }

    /// The unit loses what it keeps on disk, and its agent what it has read.
    fn forget(&mut self) {
        let local = self.local();
        let place = self.sim.paths_of(&local).unwrap().agent(&local).join("lockstep");
        if place.exists() {
            std::fs::remove_dir_all(place).unwrap();
        }
        self.sim.restart_agent(&local);
    }

    fn copy(&self, name: &str) -> Self {
        let sim = self.sim.fork(&self.scratch.path().join(name)).unwrap();
        Self { sim, case: self.case.clone(), scratch: tempfile::tempdir().unwrap() }
    }

    /// Runs one hook of the case, whatever the agent would run next.
    fn run(&mut self, hook: HookInfo) {
        let local = self.local();
        assert_eq!(self.sim.run_hook(&local, hook).unwrap(), Outcome::Done);
        assert_eq!(self.sim.problems, [""; 0]);
    }

    /// Compares what was written with the case.
    fn judge(&self, how: &str) {
        let case = &self.case;
        let local = self.local();
        let bag = |id: &Value, owner: Owner| -> Bag {
            self.sim.world.relations[&number(id)].bag(&owner).unwrap().values.clone()
        };
        let app = |endpoint: &str| {
            let owner = Owner::App(parts(&local).0.to_owned());
            bag(&case["outgoing_relations"][endpoint], owner)
        };
        let written = Written {
            peers: bag(&case["peer_relation_id"], Owner::Unit(local.clone())),
            remote_write: app("send-remote-write"),
            loki: app("logging-consumer"),
            dashboards: app("grafana-dashboards-provider"),
        };
        let found = differences(case, &written);
        assert!(found.is_empty(), "{} {how}:\n{}", case["name"], found.join("\n"));
    }
}

/// A hook of a case as the simulator has it.
fn hook(event: &Value) -> HookInfo {
    let (endpoint, kind) = text(&event["hook"]).split_once("-relation-").unwrap();
    let (kind, departing) = match kind {
        "changed" => (HookKind::RelationChanged, None),
        "departed" => (HookKind::RelationDeparted, Some(text(&event["unit"]).to_owned())),
        other => panic!("no case has {other} so far"),
    };
    let hook = HookInfo::of_relation(kind, number(&event["relation_id"]), endpoint, None);
    HookInfo { departing, ..hook.unit(text(&event["unit"])) }
}

fn cases() -> Vec<Value> {
    let folder = dir().join("../cos_agent");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "json")).collect();
    files.sort();
    assert_eq!(files.len(), 11);
    files.iter().map(|path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// All orders of so many things.
fn orders(of: usize) -> Vec<Vec<usize>> {
    if of == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(of - 1);
    shorter
        .iter()
        .flat_map(|order| {
            (0..of).map(|place| {
                let mut longer = order.clone();
                longer.insert(place, of - 1);
                longer
            })
        })
        .collect()
}

#[test]
fn every_golden_case_comes_out_in_every_order_of_its_hooks() {
    for case in cases() {
        let quiet = Quiet::new(case);
        let events = list(&quiet.case["events"]);
        for order in orders(events.len()) {
            let mut told = quiet.copy(&format!("{order:?}"));
            told.tell();
            for place in &order {
                told.run(hook(&events[*place]));
            }
            told.sim.settle(Settle::default()).unwrap();
            told.judge(&format!("in the order {order:?}"));
            let before = told.sim.events.len();
            told.run(HookInfo::plain(HookKind::UpdateStatus));
            let set = told.sim.events[before..].iter().any(|event| match event {
                Event::Hook(record) => record.calls.iter().any(|call| call.tool == "relation-set"),
                Event::Step { .. } | Event::Note { .. } => false,
            });
            assert!(!set, "{} {order:?}: something is written again", quiet.case["name"]);
        }
    }
}

#[test]
fn every_golden_case_comes_out_with_any_one_hook_where_nothing_is_remembered() {
    let plain = [HookKind::UpdateStatus, HookKind::ConfigChanged, HookKind::Start, HookKind::UpgradeCharm];
    for case in cases() {
        let mut told = Quiet::new(case);
        told.tell();
        let local = told.local();
        for departed in list(&told.case["departed"].clone()) {
            // The hook is skipped, as with `resolved --no-retry`: the agent counts it as done.
            let event = json!({
                "hook": "cos-agent-relation-departed",
                "relation_id": departed["relation_id"],
                "unit": departed["unit"],
            });
            told.sim.world.hook_done(&local, &hook(&event));
        }
        told.forget();
        let events = list(&told.case["events"]).iter().map(hook);
        for (n, hook) in events.chain(plain.map(HookInfo::plain)).enumerate() {
            let name = hook.name();
            let mut alone = told.copy(&n.to_string());
            alone.run(hook);
            alone.judge(&format!("with {name} alone"));
        }
    }
}
