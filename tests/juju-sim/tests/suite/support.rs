//! Charms made of shell scripts, and a simulator for them.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "only tests call this")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use juju_sim::controller::Deploy;
use juju_sim::scenario::Scenario;
use juju_sim::sim::{Event, HookRecord, Options, Settle, Sim};
use tempfile::TempDir;

pub const PRINCIPAL: &str = "name: app\nsummary: s\ndescription: d\nprovides:\n  web: {interface: http}\nrequires:\n  db: {interface: sql}\npeers:\n  peers: {interface: app_peers}\n";
pub const SUBORDINATE: &str = "name: keep\nsummary: s\ndescription: d\nsubordinate: true\nrequires:\n  cos-agent: {interface: cos_agent, scope: container}\n  node: {interface: juju-info, scope: container}\npeers:\n  peers: {interface: keep_peers}\n";

/// A scripted database and a scripted principal.
pub const SCRIPTED: &str = "charms:\n  db: {scripted: true, metadata: {name: db, provides: {sql: {interface: sql}}}}\n  k8s: {scripted: true, metadata: {name: k8s, provides: {cos-agent: {interface: cos_agent}}}}\n";

pub struct Bed {
    pub sim: Sim,
    pub dir: TempDir,
}

/// A charm whose hooks are shell scripts.
pub struct Script<'a> {
    pub metadata: &'a str,
    /// Path in the charm and body.
    pub files: &'a [(&'a str, &'a str)],
}

impl Script<'_> {
    pub fn write(&self, dir: &Path) -> PathBuf {
        std::fs::create_dir_all(dir.join("hooks")).unwrap();
        std::fs::write(dir.join("metadata.yaml"), self.metadata).unwrap();
        std::fs::write(
            dir.join("manifest.yaml"),
            "bases: [{name: ubuntu, channel: '22.04', architectures: [amd64]}]",
        )
        .unwrap();
        // Juju takes no charm without any hook.
        script(&dir.join("hooks/collect-metrics"), "exit 0");
        for (path, body) in self.files {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.extension().is_some_and(|e| e == "yaml") {
                std::fs::write(path, body).unwrap();
            } else {
                script(&path, body);
            }
        }
        dir.to_owned()
    }
}

fn script(path: &Path, body: &str) {
    std::fs::write(path, format!("#!/bin/sh\nset -e\n{body}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

impl Bed {
    pub fn new(juju: &str) -> Self {
        Self::seeded(juju, 1)
    }

    pub fn seeded(juju: &str, seed: u64) -> Self {
        Self::with(juju, seed, false)
    }

    /// Hooks of other machines may run inside tool calls.
    pub fn interleaved(seed: u64) -> Self {
        Self::with("3.6.9", seed, true)
    }

    fn with(juju: &str, seed: u64, interleave: bool) -> Self {
        let dir = TempDir::new().unwrap();
        let mut options = Options::new(dir.path().join("scratch"));
        options.tool = Some(PathBuf::from(env!("CARGO_BIN_EXE_juju-sim-tool")));
        options.juju = juju.to_owned();
        options.seed = seed;
        options.host_programs = true;
        options.interleave = interleave;
        let mut sim = Sim::new(options).unwrap();
        let text = format!("name: n\n{SCRIPTED}steps: []\n");
        let scenario = Scenario::parse(&text, dir.path()).unwrap();
        for (name, spec) in &scenario.charms {
            sim.add_scripted_charm(name, spec.metadata.as_ref().unwrap().charm().unwrap());
        }
        Self { sim, dir }
    }

    /// Makes a charm known and deploys it; units only of a principal.
    pub fn deploy(&mut self, metadata: &str, files: &[(&str, &str)], units: u32) -> &mut Self {
        let name = metadata.lines().next().unwrap().trim_start_matches("name: ").to_owned();
        let path = Script { metadata, files }.write(&self.dir.path().join(&name));
        self.sim.add_charm(&name, &path).unwrap();
        self.deploy_known(&name, units)
    }

    pub fn deploy_known(&mut self, name: &str, units: u32) -> &mut Self {
        let charm = self.sim.charm(name).unwrap();
        let deploy =
            Deploy { charm, application: name.to_owned(), units, to: Vec::new(), config: BTreeMap::new() };
        self.sim.deploy(deploy).unwrap();
        self
    }

    /// Runs YAML steps.
    #[track_caller]
    pub fn steps(&mut self, yaml: &str) -> &mut Self {
        if let Err(e) = self.try_steps(yaml) {
            panic!("{e:#}");
        }
        self
    }

    pub fn try_steps(&mut self, yaml: &str) -> anyhow::Result<()> {
        let scenario = Scenario::parse(&format!("name: n\nsteps:\n{yaml}\n"), self.dir.path()).unwrap();
        scenario.steps.iter().try_for_each(|step| self.sim.step(step))
    }

    #[track_caller]
    pub fn settle(&mut self) -> &mut Self {
        if let Err(e) = self.sim.settle(Settle::default()) {
            panic!("{e:#}");
        }
        self
    }

    pub fn records(&self) -> impl Iterator<Item = &HookRecord> {
        self.sim.events.iter().filter_map(|event| match event {
            Event::Hook(record) => Some(record.as_ref()),
            Event::Step { .. } | Event::Note { .. } => None,
        })
    }

    /// `name` or `name REMOTE` of all hooks of a unit.
    pub fn hooks(&self, unit: &str) -> Vec<String> {
        let of = self.records().filter(|r| r.unit == unit && r.kind == "hook");
        of.map(|r| format!("{} {}", r.name, r.remote.as_deref().unwrap_or("")).trim_end().to_owned())
            .collect()
    }

    /// What a unit's hooks printed.
    pub fn printed(&self, unit: &str) -> Vec<String> {
        self.sim
            .world
            .log
            .iter()
            .filter(|l| l.unit == unit && l.module != "juju-log")
            .map(|l| l.text.clone())
            .collect()
    }

    pub fn bag(&self, relation: u32, unit: &str) -> BTreeMap<String, String> {
        self.sim.world.relations[&relation].units[unit].bag.values.clone()
    }
}
