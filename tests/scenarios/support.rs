//! Runs scenarios on the packed charm.

use crate::invariants;
use juju_sim::scenario::Scenario;
use juju_sim::sim::{Event, Options, Settle, Sim};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Whether the charm's cache is there when a hook begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// As the charm left it.
    Kept,
    /// Deleted before each hook.
    DeletedBeforeEachHook,
}

/// Where scenarios are.
pub fn dir() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scenarios"))
}

/// The packed charm of this machine's architecture.
pub fn charm() -> PathBuf {
    packed("lockstep")
}

fn packed(name: &str) -> PathBuf {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let charm = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/charm/{name}_{arch}.charm"));
    assert!(charm.exists(), "{} is missing: run `make charm`", charm.display());
    charm
}

/// A simulation that has come to its end, with its files.
pub struct Ended {
    pub sim: Sim,
    _scratch: tempfile::TempDir,
}

/// Runs a scenario; panics with what happened last if it fails.
pub fn run(name: &str, cache: Cache) -> Ended {
    run_with(name, cache, |_| {})
}

/// As [`run`], after `prepare` has seen the simulation.
pub fn run_with(name: &str, cache: Cache, prepare: impl FnOnce(&mut Sim)) -> Ended {
    let scenario = Scenario::read(&dir().join(name).with_extension("yaml")).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut options = Options::new(scratch.path().join("model"));
    options.seed = scenario.seed.unwrap_or(1);
    if cache == Cache::DeletedBeforeEachHook {
        options.cold_cache = vec!["lockstep/cache".to_owned(), "lockstep/values/*".to_owned()];
    }
    let charms = ["lockstep", "example-control-plane"].map(|name| (name.to_owned(), packed(name)));
    let mut sim = scenario.start(options, &charms).unwrap();
    invariants::watch(name, &mut sim);
    prepare(&mut sim);
    if let Err(error) = scenario.run(&mut sim) {
        panic!("{name} ({cache:?}): {error:#}");
    }
    invariants::judge_end(&sim);
    Ended { sim, _scratch: scratch }
}

/// Something long that is about to begin, and is harmed at its steps, each time in a copy of everything.
pub struct Begun {
    sim: Sim,
    /// How many hooks it takes.
    pub steps: usize,
    done: usize,
    scratch: tempfile::TempDir,
}

impl Begun {
    /// The end of a scenario; what comes after it runs once, in a copy, to be counted.
    pub fn new(text: &str, seed: u64) -> Self {
        let scenario = Scenario::parse(text, dir()).unwrap();
        let scratch = tempfile::tempdir().unwrap();
        let options = Options { seed, ..Options::new(scratch.path().join("model")) };
        let mut sim = scenario.start(options, &[("lockstep".to_owned(), charm())]).unwrap();
        scenario.run(&mut sim).unwrap();
        let mut whole = sim.fork(&scratch.path().join("whole")).unwrap();
        let hooks = |sim: &Sim| sim.events.iter().filter(|event| matches!(event, Event::Hook(_))).count();
        let before = hooks(&whole);
        whole.settle(Settle::default()).unwrap();
        Self { sim, steps: hooks(&whole) - before, done: 0, scratch }
    }

    /// Goes on to a step, not before the last one that was asked for, and lets a copy be harmed there; it
    /// is judged after every event.
    pub fn copy_at(&mut self, step: usize, harm: impl FnOnce(&mut Sim)) {
        // Zero hooks would be no bound.
        if step > self.done {
            let hooks = u32::try_from(step - self.done).unwrap();
            self.sim.settle(Settle { hooks: Some(hooks), ..Settle::default() }).unwrap();
            self.done = step;
        }
        let place = self.scratch.path().join("copy");
        let mut copy = self.sim.fork(&place).unwrap();
        invariants::watch(&format!("a copy at step {step}"), &mut copy);
        harm(&mut copy);
        invariants::judge_end(&copy);
        std::fs::remove_dir_all(&place).unwrap();
    }
}

/// What a scenario comes down to: databags, statuses and versions, without times.
pub fn end(sim: &Sim) -> Value {
    let world = &sim.world;
    let bags = world.relations.iter().map(|(id, relation)| {
        let units = relation.units.iter().map(|(name, unit)| (name.clone(), json!(unit.bag.values)));
        let apps = relation.apps.iter().map(|(name, bag)| (name.clone(), json!(bag.values)));
        (id.to_string(), units.chain(apps).collect::<Value>())
    });
    let statuses =
        world.units.values().map(|unit| (unit.name.clone(), json!(unit.shown_status().to_string())));
    let apps =
        world.applications.keys().map(|name| (name.clone(), json!(world.app_status(name).to_string())));
    json!({
        "databags": bags.collect::<Value>(),
        "units": statuses.collect::<Value>(),
        "applications": apps.collect::<Value>(),
    })
}

/// Panics with the first place where two ends differ.
pub fn assert_same(one: &Ended, two: &Ended) {
    let (one, two) = (end(&one.sim), end(&two.sim));
    if let Some(place) = difference("", &one, &two) {
        panic!("the ends differ at {place}");
    }
}

fn difference(at: &str, one: &Value, two: &Value) -> Option<String> {
    match (one, two) {
        (Value::Object(a), Value::Object(b)) => a.keys().chain(b.keys()).find_map(|key| {
            let none = Value::Null;
            difference(&format!("{at}/{key}"), a.get(key).unwrap_or(&none), b.get(key).unwrap_or(&none))
        }),
        _ if one == two => None,
        _ => Some(format!("{at}:\n  {one}\n  {two}")),
    }
}
