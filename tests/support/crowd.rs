//! One unit of lockstep among scripted peers: one charm process stands for three hundred.

#![allow(dead_code, reason = "each test target takes what it needs")]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use juju_sim::scenario::{AddUnit, Scenario, Step};
use juju_sim::sim::{Event, HookRecord, Options, Sim};
use juju_sim::world::Owner;
use lzma_rust2::{XzOptions, XzWriter};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

/// A model with one leader beside `node/0`, three far sides, and so many scripted peers.
pub struct Crowd {
    pub sim: Sim,
    _scratch: tempfile::TempDir,
}

impl Crowd {
    pub fn new(peers: u32, juju: &str, charm: &Path) -> Self {
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
        let scenario =
            Scenario::parse(&scenario, &Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios"))
                .unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let options = Options::new(scratch.path().join("model"));
        let mut sim = scenario.start(options, &[("lockstep".to_owned(), charm.to_owned())]).unwrap();
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
    pub fn last(&self, hook: &str) -> &HookRecord {
        let found = self.sim.events.iter().rev().find_map(|event| match event {
            Event::Hook(record) if record.name == hook => Some(record.as_ref()),
            Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
        });
        found.unwrap_or_else(|| panic!("{hook} never ran"))
    }

    /// The agent has met every peer, as after all `-joined` and `-changed`.
    pub fn meet(&mut self) {
        let peers = self.sim.relation_named(&["lockstep:peers".to_owned()]).unwrap();
        let there = self.sim.world.counterparts(peers, "lockstep/0");
        let unit = self.sim.world.units.get_mut("lockstep/0").unwrap();
        let state = unit.uniter.relations.get_mut(&peers).unwrap();
        state.members = there;
        state.changed_pending = None;
    }

    /// The unit loses what it keeps on disk.
    pub fn forget(&self) {
        let place = self.sim.paths_of("lockstep/0").unwrap().agent("lockstep/0").join("lockstep");
        std::fs::remove_dir_all(place).unwrap();
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

/// How often a hook called which tool.
pub fn tools(record: &HookRecord) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for call in &record.calls {
        *counts.entry(call.tool.as_str()).or_default() += 1;
    }
    counts
}
