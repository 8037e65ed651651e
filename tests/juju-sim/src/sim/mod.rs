//! The simulator: a world, its scratch directory, and everything that can happen.
//!
//! Rust code drives it through [`Sim::step`] or through the direct methods, and reads [`Sim::world`].

mod admin;
mod conclude;
mod event;
mod fault;
mod job;
mod juju_exec;
mod outside;
mod program;
mod record;
mod schedule;
mod serve;
mod snaps;
mod sweep;
mod timers;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;

use crate::agent::files::{self, Paths};
use crate::snapd::Tended;
use crate::tools;
use crate::world::{Model, Version, World};

pub use event::{BagRecord, CallRecord, Event, HookRecord, KeyChange, Outcome, StatusChange, shorten};
pub use fault::{Armed, AtCall, Calls, Fault, KillBy, ToolAnswer};
pub use schedule::{Settle, Settled};

/// How a simulation is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// A directory of its own, for the machines' files.
    pub scratch: PathBuf,
    /// The program that every tool is a link to; none looks for it beside the running program.
    pub tool: Option<PathBuf>,
    /// The seed.
    pub seed: u64,
    /// Version of the agents.
    pub juju: String,
    /// Name and UUID of the model.
    pub model: Model,
    /// Files in a unit's agent directory that are deleted before every hook.
    pub cold_cache: Vec<String>,
    /// Appends `/usr/bin:/bin` to the `PATH` of hooks, for charms that are shell scripts.
    pub host_programs: bool,
    /// Lets hooks of other machines run inside tool calls, where the seed says so.
    pub interleave: bool,
}

impl Options {
    /// Usual values and this scratch directory.
    pub fn new(scratch: impl Into<PathBuf>) -> Self {
        Self {
            scratch: scratch.into(),
            tool: None,
            seed: 1,
            juju: "3.6.9".to_owned(),
            model: Model {
                name: "harbor".to_owned(),
                uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".to_owned(),
            },
            cold_cache: Vec::new(),
            host_programs: false,
            interleave: false,
        }
    }
}

/// A job that runs now, while the ones after it run inside one of its tool calls.
#[derive(Debug, Clone)]
struct Running {
    unit: String,
    machine: String,
    name: String,
    /// Set from inside a tool call: the process is to die.
    kill: Option<fault::KillBy>,
}

type Observer = Box<dyn FnMut(&World, &Event)>;

/// A simulation.
pub struct Sim {
    /// The model; tests may change it as they like.
    pub world: World,
    /// All that happened.
    pub events: Vec<Event>,
    /// What a correct charm never does, with the full argv.
    pub problems: Vec<String>,
    options: Options,
    tool: PathBuf,
    charms: BTreeMap<String, crate::world::Charm>,
    armed: Vec<Armed>,
    running: Vec<Running>,
    pub(crate) marks: BTreeMap<String, usize>,
    pub(crate) mark_times: BTreeMap<String, crate::world::Time>,
    pub(crate) kept: BTreeMap<String, u32>,
    observer: Option<Observer>,
}

impl std::fmt::Debug for Sim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sim")
            .field("options", &self.options)
            .field("clock", &self.world.clock)
            .finish_non_exhaustive()
    }
}

impl Sim {
    /// An empty model in an empty scratch directory.
    pub fn new(options: Options) -> Result<Self> {
        let juju =
            Version::parse(&options.juju).with_context(|| format!("no Juju version: {}", options.juju))?;
        fs::create_dir_all(&options.scratch)?;
        let tool = match &options.tool {
            Some(tool) => tool.clone(),
            None => find_tool()?,
        };
        let tool = fs::canonicalize(tool)?;
        let options = Options { scratch: fs::canonicalize(&options.scratch)?, ..options };
        Ok(Self {
            world: World::new(juju, options.model.clone(), options.seed),
            events: Vec::new(),
            problems: Vec::new(),
            tool,
            options,
            charms: BTreeMap::new(),
            armed: Vec::new(),
            running: Vec::new(),
            marks: BTreeMap::new(),
            mark_times: BTreeMap::new(),
            kept: BTreeMap::new(),
            observer: None,
        })
    }

    /// The same simulation at the same point, in another scratch directory; the observer stays behind.
    pub fn fork(&self, scratch: &Path) -> Result<Self> {
        anyhow::ensure!(self.running.is_empty(), "cannot fork while a hook runs");
        files::copy_tree(&self.options.scratch, scratch)?;
        let scratch = fs::canonicalize(scratch)?;
        let moved = |path: &PathBuf| match path.strip_prefix(&self.options.scratch) {
            Ok(below) => scratch.join(below),
            Err(_) => path.clone(),
        };
        let mut world = self.world.clone();
        let mut charms = self.charms.clone();
        let sources = world.applications.values_mut().map(|a| &mut a.charm).chain(charms.values_mut());
        for charm in sources {
            charm.source = charm.source.as_ref().map(moved);
        }
        Ok(Self {
            world,
            events: self.events.clone(),
            problems: self.problems.clone(),
            tool: self.tool.clone(),
            options: Options { scratch, ..self.options.clone() },
            charms,
            armed: self.armed.clone(),
            running: Vec::new(),
            marks: self.marks.clone(),
            mark_times: self.mark_times.clone(),
            kept: self.kept.clone(),
            observer: None,
        })
    }

    /// Is told of everything that happened, with the world as it then is.
    pub fn observe(&mut self, observer: impl FnMut(&World, &Event) + 'static) {
        self.observer = Some(Box::new(observer));
    }

    /// The program that every tool is a link to.
    pub fn tool(&self) -> &Path {
        &self.tool
    }

    /// The files of a machine.
    pub fn paths(&self, machine: &str) -> Paths {
        Paths { root: self.options.scratch.join("machines").join(machine.replace('/', "-")) }
    }

    /// The files of the machine that a unit is on.
    pub fn paths_of(&self, unit: &str) -> Result<Paths> {
        let unit = self.world.units.get(unit).with_context(|| format!("no unit {unit}"))?;
        Ok(self.paths(&unit.machine))
    }

    pub(crate) fn tell(&mut self, event: Event) {
        if let Some(mut observer) = self.observer.take() {
            observer(&self.world, &event);
            self.observer = Some(observer);
        }
        self.events.push(event);
    }

    /// Something that is worth a line of its own.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let time = self.world.clock;
        self.tell(Event::Note { time, text: text.into() });
    }

    /// Moves the clock, and with it the leases and the file that charms read the time from.
    pub(crate) fn move_clock(&mut self, millis: u64) -> Result<()> {
        self.world.clock = self.world.clock.plus(millis);
        self.world.tend_leases();
        for told in self.world.tend_machines() {
            let Tended { machine, change, .. } = told;
            // A hook that waits for it tells of it itself.
            let waits = |running: &Running| change.by.unit.as_ref() == Some(&running.unit);
            if (change.moves.is_empty() && change.error.is_none()) || self.running.iter().any(waits) {
                continue;
            }
            let ends = change.error.as_ref().map_or(String::new(), |_| " FAILED and was undone:".to_owned());
            let (by, what) = (change.by.describe(), change.describe());
            self.note(format!("machine {machine},{ends} {what}; begun {} by {by}", change.spawn));
        }
        self.write_clocks()
    }

    fn write_clocks(&self) -> Result<()> {
        for running in &self.running {
            self.write_clock(&running.machine)?;
        }
        Ok(())
    }

    fn write_clock(&self, machine: &str) -> Result<()> {
        let clock = self.paths(machine).clock();
        if let Some(dir) = clock.parent() {
            fs::create_dir_all(dir)?;
        }
        files::write_atomically(&clock, &format!("{}\n", self.world.clock.unix()))?;
        Ok(())
    }

    /// Text of a charm without the places that only this run has.
    fn without_scratch(&self, machine: &str, text: &str) -> String {
        let root = self.paths(machine).root.display().to_string();
        text.replace(&root, "")
    }

    /// Links for all tools of this version, made anew at every agent start.
    fn link_tools(&self, unit: &str) -> Result<()> {
        let dir = self.paths_of(unit)?.tools(unit);
        if dir.exists() {
            return Ok(());
        }
        fs::create_dir_all(&dir)?;
        for name in tools::names(&self.world.juju) {
            files::link(&self.tool, &dir.join(name))?;
        }
        Ok(())
    }
}

/// The prebuilt tool beside the running program: `target/debug/deps/x` finds `target/debug/juju-sim-tool`.
fn find_tool() -> Result<PathBuf> {
    let here = std::env::current_exe().context("cannot tell where this program is")?;
    let beside = here.ancestors().skip(1).take(3).map(|dir| dir.join("juju-sim-tool"));
    beside.into_iter().find(|path| path.is_file()).with_context(|| {
        format!(
            "no juju-sim-tool beside {}: build the package juju-sim first (cargo build -p juju-sim)",
            here.display()
        )
    })
}
