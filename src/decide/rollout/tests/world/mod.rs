//! A small world around the real `decide`: an abstract Juju, an abstract snapd and store, faults by
//! seed, and a judge that looks after every step. Hooks of different units interleave: each step is
//! one decision of one unit with the effect that it asks for.

mod judge;
mod juju;
mod machine;
mod run;

use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::Role;
use crate::databag::target::Target;
use crate::decide::options::RolloutOptions;
use crate::decide::rollout::Outcome;
use crate::juju::{Timestamp, UnitName};
use crate::observed::Rollout;
use crate::observed::rollout::{AppBag, Told};
use crate::plan::Keys;
use crate::snap::{Architecture, Channel, CohortKey, SnapName};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub use run::{Plan, run};

/// A random source that repeats by its seed (splitmix64).
#[derive(Debug)]
pub struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `n`.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    /// True in so many of a hundred cases.
    fn percent(&mut self, n: u64) -> bool {
        self.next() % 100 < n
    }
}

/// All of it.
pub struct World {
    pub rng: Rng,
    pub now: u64,
    pub options: RolloutOptions,
    pub units: BTreeMap<u32, Unit>,
    /// How many units there have been.
    pub joined: u32,
    pub leader: Option<u32>,
    pub app: AppBag,
    pub store: StoreWorld,
    /// Every target that was ever committed.
    pub targets: BTreeMap<String, Target>,
    /// Serials that were granted, to see that none comes back.
    pub serials: BTreeSet<u64>,
    /// Whether faults may happen.
    pub faults: bool,
    /// Whether the story is kept.
    pub told: bool,
    pub story: Vec<String>,
}

/// The store: heads, and what keys stand for; the newer channel has the same in other numbers.
pub struct StoreWorld {
    pub up: bool,
    pub heads: BTreeMap<(SnapName, Architecture), u32>,
    pub keys: BTreeMap<CohortKey, BTreeMap<Architecture, u32>>,
}

/// One unit and its machine.
pub struct Unit {
    pub number: u32,
    pub role: Role,
    pub architecture: Architecture,
    pub dead: bool,
    pub leaving: bool,
    pub bag: Told,
    /// The texts of the databag.
    pub written: Keys,
    pub memory: RolloutMemory,
    /// What its agent has cached of the others; those in it are joined.
    pub view: BTreeMap<u32, Told>,
    /// The application databag as it last read it.
    pub seen: AppBag,
    pub queue: VecDeque<Event>,
    pub hook: Option<Hook>,
    pub committed: bool,
    pub snaps: BTreeMap<SnapName, Snap>,
    /// A change that goes on without its client, and what it leads to.
    pub flight: Option<(SnapName, Snap)>,
    /// From the start of a move of lockstep to its committed report.
    pub moving: Option<u64>,
    pub ill: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Snap {
    pub revision: u32,
    pub channel: Channel,
    pub key: Option<CohortKey>,
    pub held: bool,
}

/// What Juju has for a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Joined(u32),
    Changed(u32),
    Departed(u32),
    App,
    Elected,
    UpdateStatus,
    Outside,
    Departing,
    Removing,
}

/// A hook that is running.
pub struct Hook {
    pub event: Event,
    pub rollout: Rollout,
    pub last: Option<Outcome>,
    pub steps: u32,
}

pub fn unit_name(number: u32) -> UnitName {
    format!("lockstep/{number}").parse().unwrap()
}

pub fn principal(role: Role, number: u32) -> UnitName {
    let app = if role == Role::ControlPlane { "cp" } else { "wk" };
    format!("{app}/{number}").parse().unwrap()
}

pub fn snap_name(name: &str) -> SnapName {
    name.parse().unwrap()
}

impl World {
    pub fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.told {
            self.story.push(line());
        }
    }

    pub fn time(&self) -> Timestamp {
        Timestamp(self.now)
    }

    /// Units that run hooks.
    pub fn living(&self) -> Vec<u32> {
        self.units.values().filter(|unit| !unit.dead).map(|unit| unit.number).collect()
    }
}
