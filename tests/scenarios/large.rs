//! Large models and large values: field case F9, and the databag limit of Juju 4.0.12.
//!
//! The peers are scripted, so that one charm process stands for three hundred.

use crate::support::{charm, dir};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juju_sim::scenario::{AddUnit, Scenario, Step};
use juju_sim::sim::{Event, HookRecord, Options, Settle, Sim};
use juju_sim::world::Owner;
use lzma_rust2::{XzOptions, XzWriter};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;

/// Linux refuses a longer argument (`MAX_ARG_STRLEN`), and a longer command line with its environment.
const ARGUMENT: usize = 128 << 10;
/// What a hook tool is told by its arguments: which relation, whose databag.
const PLAIN: usize = 200;
/// What forwarding leaves to others in the unit databag on peers.
const OTHERS: usize = 16 << 10;

/// A model with one leader beside `node/0`, three far sides, and so many scripted peers.
pub struct Large {
    pub sim: Sim,
    _scratch: tempfile::TempDir,
}

impl Large {
    pub fn new(peers: u32, juju: &str) -> Self {
        let scenario = format!(
            r#"
name: a large model
juju: "{juju}"
charms-from: charms.yaml
steps:
  - deploy: {{charm: ledger-db, application: node}}
  - deploy: {{charm: lockstep}}
  - deploy: {{charm: prometheus}}
  - deploy: {{charm: loki}}
  - deploy: {{charm: grafana}}
  - integrate: ["lockstep:send-remote-write", "prometheus:receive-remote-write"]
  - integrate: ["lockstep:logging-consumer", "loki:logging"]
  - integrate: ["lockstep:grafana-dashboards-provider", "grafana:grafana-dashboard"]
  - integrate: ["node:cos-agent", "lockstep:cos-agent"]
  - settle: {{}}
  - deploy: {{charm: ledger-db, application: far, units: {peers}}}
"#
        );
        let scenario = Scenario::parse(&scenario, dir()).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let options = Options::new(scratch.path().join("model"));
        let mut sim = scenario.start(options, &[("lockstep".to_owned(), charm())]).unwrap();
        scenario.run(&mut sim).unwrap();
        let beside = (0..peers).map(|n| format!("far/{n}")).collect();
        let step =
            AddUnit { application: "lockstep".to_owned(), units: peers, to: Vec::new(), beside, arch: None };
        if peers > 0 {
            sim.step(&Step::ScriptedUnits(step)).unwrap();
        }
        Self { sim, _scratch: scratch }
    }

    fn set(&mut self, relation: &[&str], unit: &str, key: &str, value: String) {
        let ends: Vec<String> = relation.iter().map(|end| (*end).to_owned()).collect();
        let id = self.sim.relation_named(&ends).unwrap();
        let changes = BTreeMap::from([(key.to_owned(), value)]);
        self.sim.set_databag(id, &Owner::Unit(unit.to_owned()), &changes).unwrap();
    }

    /// A peer tells of a unit of `app<n>`, with that many bytes of dashboards.
    pub fn peer(&mut self, n: u32, apps: u32, dashboard: &str) {
        let unit = format!("app{}/{}", n % apps, n / apps);
        let (record, key) = (record(&unit, dashboard), format!("config-{unit}"));
        self.set(&["lockstep:peers"], &format!("lockstep/{}", n + 1), &key, record);
    }

    /// The principal beside the real unit says this.
    pub fn principal(&mut self, config: &Value) {
        self.set(&["node:cos-agent", "lockstep:cos-agent"], "node/0", "config", config.to_string());
    }

    pub fn bag(&self, relation: &[&str], owner: &Owner) -> &BTreeMap<String, String> {
        let ends: Vec<String> = relation.iter().map(|end| (*end).to_owned()).collect();
        let id = self.sim.relation_named(&ends).unwrap();
        &self.sim.world.relations[&id].bag(owner).unwrap().values
    }

    /// The last run of a hook of the real unit.
    fn last(&self, hook: &str) -> &HookRecord {
        let found = self.sim.events.iter().rev().find_map(|event| match event {
            Event::Hook(record) if record.name == hook => Some(record.as_ref()),
            Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
        });
        found.unwrap_or_else(|| panic!("{hook} never ran"))
    }

    /// No value travelled on a command line, and no hook failed.
    fn checked(&self) {
        for event in &self.sim.events {
            let Event::Hook(record) = event else { continue };
            assert!(
                matches!(record.outcome, juju_sim::sim::Outcome::Done),
                "{}: {:?}",
                record.name,
                record.outcome
            );
            for call in &record.calls {
                let longest = call.args.iter().map(String::len).max().unwrap_or(0);
                assert!(
                    longest < PLAIN && PLAIN < ARGUMENT,
                    "{} has an argument of {longest} bytes",
                    call.tool
                );
            }
        }
    }
}

/// What a unit of lockstep tells the others of a principal.
pub fn record(unit: &str, dashboard: &str) -> String {
    let rule = json!({"alert": "Gone", "expr": "up < 1"});
    let groups = json!({"groups": [{"name": "g", "rules": [rule]}]});
    json!({
        "unit_name": unit, "relation_id": "7", "relation_name": "cos-agent",
        "metrics_alert_rules": groups, "log_alert_rules": groups, "dashboards": [dashboard],
    })
    .to_string()
}

/// A dashboard that takes at most so many bytes once compressed and encoded, and not much less.
pub fn dashboard(title: &str, bytes: usize) -> String {
    // Four bits a digit, six bits a letter of base64, and what the codec adds.
    let digits = bytes * 3 / 2 * 87 / 100;
    let encoded = with_noise(title, digits);
    if encoded.len() <= bytes { encoded } else { with_noise(title, digits * bytes / encoded.len() - 100) }
}

fn with_noise(title: &str, digits: usize) -> String {
    let mix = |seed: u64, byte: u8| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let mut seed = title.bytes().fold(0x9E37_79B9_7F4A_7C15, mix);
    let mut digit = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        char::from_digit((seed % 16) as u32, 16).unwrap()
    };
    let noise: String = (0..digits).map(|_| digit()).collect();
    let uid = format!("{:0>40}", title.bytes().map(|b| format!("{b:02x}")).collect::<String>());
    let json = json!({"title": title, "uid": uid, "tags": ["charm: app"], "version": 1, "noise": noise});
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0)).unwrap();
    writer.write_all(json.to_string().as_bytes()).unwrap();
    STANDARD.encode(writer.finish().unwrap())
}

fn tools(record: &HookRecord) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for call in &record.calls {
        *counts.entry(call.tool.as_str()).or_default() += 1;
    }
    counts
}

const GRAFANA: [&str; 2] = ["lockstep:grafana-dashboards-provider", "grafana:grafana-dashboard"];

/// F9 (canonical/operator 801, 805): data on the command line of `relation-set` exceed the system's limit.
#[test]
fn f9_three_hundred_peers_with_large_dashboards_pass_whole_and_are_read_once() {
    let mut large = Large::new(300, "3.6.9");
    let dashboards: Vec<String> = (0..40).map(|n| dashboard(&format!("App{n}"), 200 << 10)).collect();
    for n in 0..300 {
        large.peer(n, 40, &dashboards[n as usize % 40]);
    }
    // A lost cache is the worst case: all three hundred databags in one hook.
    let unit = "lockstep/0".to_owned();
    meet(&mut large.sim);
    let place = large.sim.paths_of(&unit).unwrap().agent(&unit).join("lockstep");
    std::fs::remove_dir_all(place).unwrap();
    large.sim.update_status(std::slice::from_ref(&unit)).unwrap();
    large.sim.settle(Settle::default()).unwrap();
    let all = large.last("update-status");
    let read =
        all.calls.iter().filter_map(|call| call.args.last()).filter(|arg| arg.starts_with("lockstep/"));
    let read: Vec<&String> = read.collect();
    let once: std::collections::BTreeSet<&String> = read.iter().copied().collect();
    assert_eq!((read.len(), once.len()), (301, 301), "each unit's databag is read once, the own one too");
    large.checked();
    let bag = large.bag(&GRAFANA, &Owner::App("lockstep".to_owned()));
    let written: Value = serde_json::from_str(&bag["dashboards"]).unwrap();
    assert_eq!(written["templates"].as_object().unwrap().len(), 40);
    for dashboard in &dashboards {
        assert!(bag["dashboards"].contains(dashboard.as_str()));
    }
    // One changed peer costs one read, whatever the number of the others.
    large.peer(7, 40, &dashboard("Changed", 200 << 10));
    large.sim.settle(Settle::default()).unwrap();
    let changed = large.last("peers-relation-changed");
    assert_eq!(changed.remote.as_deref(), Some("lockstep/8"));
    assert_eq!(
        tools(changed),
        BTreeMap::from([
            ("state-get", 1),
            ("is-leader", 1),
            ("relation-get", 1),
            ("relation-set", 1),
            ("state-set", 1)
        ])
    );
    large.checked();
}

/// F9, the far end: what a hook tool refuses on a command line really is refused here.
#[test]
fn f9_the_system_of_the_test_refuses_long_arguments_too() {
    let long = "x".repeat(ARGUMENT);
    let mut large = Large::new(0, "3.6.9");
    let outcome = large.sim.exec("lockstep/0", &["$CHARM/lockstep".to_owned(), long]);
    assert!(outcome.is_err(), "{outcome:?}");
}

/// From 4.0.12 on Juju refuses a databag above a limit: a record that fills it to the last byte beside
/// the keys that Juju itself keeps there must not cost the hook.
#[test]
fn a_full_databag_on_juju_4_0_12_fails_no_hook_and_names_what_is_left_out() {
    let mut large = Large::new(0, "4.0.12");
    let limit = large.sim.world.limits.bag;
    let dashboards: Vec<String> =
        ["A", "B"].iter().map(|title| dashboard(title, limit / 2 - OTHERS)).collect();
    let config = |pad: usize| {
        let rule = json!({"alert": "Gone", "expr": "up < 1", "annotations": {"pad": "x".repeat(pad)}});
        let groups = json!({"groups": [{"name": "g", "rules": [rule]}]});
        json!({"metrics_alert_rules": groups, "log_alert_rules": {}, "dashboards": dashboards})
    };
    let records = |large: &Large| {
        let bag = large.bag(&["lockstep:peers"], &Owner::Unit("lockstep/0".to_owned()));
        bag.iter().filter(|(key, _)| key.starts_with("config")).map(|(k, v)| k.len() + v.len()).sum::<usize>()
    };
    large.principal(&config(0));
    large.sim.settle(Settle::default()).unwrap();
    large.checked();
    let bare = records(&large);
    for (size, fits) in [
        (limit - OTHERS, true),
        (limit - OTHERS + 1, false),
        (limit - 60, false),
        (limit, false),
        (limit + 1, false),
    ] {
        large.principal(&config(size - bare));
        large.sim.settle(Settle::default()).unwrap();
        large.checked();
        let status = large.sim.world.units["lockstep/0"].shown_status().to_string();
        assert_eq!(fits, !status.contains("left out"), "{size}: {status}");
        assert_eq!(fits, records(&large) == size, "{size}: {}", records(&large));
    }
}

/// The same limit at an outgoing databag: what does not fit of forty applications is left out and named.
#[test]
fn an_outgoing_databag_on_juju_4_0_12_keeps_within_its_limit() {
    let mut large = Large::new(40, "4.0.12");
    for n in 0..40 {
        large.peer(n, 40, &dashboard(&format!("App{n}"), 20 << 10));
    }
    large.sim.settle(Settle::default()).unwrap();
    large.checked();
    let bag = large.bag(&GRAFANA, &Owner::App("lockstep".to_owned()));
    let size: usize = bag.iter().map(|(key, value)| key.len() + value.len()).sum();
    assert!(size <= large.sim.world.limits.bag && size > 480 << 10, "{size}");
    let status = large.sim.world.units["lockstep/0"].shown_status().to_string();
    assert!(status.starts_with("blocked") && status.contains("left out: more than 512 KiB"), "{status}");
}

/// The agent has met every peer, as after all `-joined` and `-changed`.
fn meet(sim: &mut Sim) {
    let peers = sim.relation_named(&["lockstep:peers".to_owned()]).unwrap();
    let there = sim.world.counterparts(peers, "lockstep/0");
    let state = sim.world.units.get_mut("lockstep/0").unwrap().uniter.relations.get_mut(&peers).unwrap();
    state.members = there;
    state.changed_pending = None;
}
