//! Data that states name by number: databags, charm states, machines, hooks in the middle of a move.
//! And what a pass came to, so that the same question is not decided twice.

use crate::quick_hash::Map;
use crate::state::Bounds;
use lockstep::databag::charm_state::RolloutMemory;
use lockstep::databag::node::Role;
use lockstep::decide::options::{RolloutOptions, WantedChannel};
use lockstep::juju::UnitName;
use lockstep::observed::Rollout;
use lockstep::observed::rollout::{AppBag, Told};
use lockstep::plan::Keys;
use lockstep::snap::{Alteration, Channel, SnapName};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

/// The time never moves: a timer is set now, or was set long ago.
pub const NOW: u64 = 1_800_000_000;

/// Values by number, from 1 on.
#[derive(Debug)]
pub struct Table<T> {
    values: Vec<T>,
    numbers: HashMap<String, u32>,
}

impl<T: Debug> Table<T> {
    fn new() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }

    pub fn number(&mut self, value: T) -> u32 {
        let values = &mut self.values;
        *self.numbers.entry(format!("{value:?}")).or_insert_with(|| {
            values.push(value);
            u32::try_from(values.len()).unwrap()
        })
    }

    pub fn get(&self, number: u32) -> &T {
        &self.values[number as usize - 1]
    }
}

/// The one managed snap of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Installed {
    pub revision: u32,
    pub newer: bool,
    pub key: Option<Key>,
}

/// A cohort key: the target before it, and what was the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    pub after: u32,
    pub head: u8,
}

/// A machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Machine {
    pub snap: Installed,
    /// What a change that goes on leads to.
    pub flight: Option<Installed>,
    /// Whether services are down.
    pub ill: bool,
}

/// A hook in the middle of a move.
#[derive(Debug, Clone)]
pub struct Running {
    pub rollout: Rollout,
    pub alteration: Alteration,
}

/// What a pass comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Its last word: the own databag, the charm state, and what is written into the application databag
    /// (0: nothing).
    Says { bag: u32, memory: u32, app: u32 },
    /// It begins a move.
    Moves(u32),
}

/// Everything that states name, for one search.
pub struct Tables {
    pub bounds: Bounds,
    pub bags: Table<Told>,
    pub apps: Table<AppBag>,
    pub memories: Table<RolloutMemory>,
    pub machines: Table<Machine>,
    pub running: Table<Running>,
    pub keys: Table<Keys>,
    pub passes: Map<[u32; 17], Pass>,
    pub acts: HashMap<Vec<u32>, (u32, String)>,
    pub merged: Map<(u32, u32), u32>,
    pub honest: Map<(u32, u32, u32), bool>,
    pub waited: Map<u32, u32>,
    pub altered: Map<Machine, u32>,
    pub options: [RolloutOptions; 2],
    /// How often `decide` was called.
    pub decided: u64,
}

impl Tables {
    pub fn new(bounds: Bounds) -> Self {
        let base = RolloutOptions {
            snaps: BTreeMap::from([(snap(), None)]),
            worker_parallelism: bounds.parallelism,
            check_interval: 0,
            ready_timeout: 0,
            hold_snaps: false,
            restore_on_removal: false,
            ..RolloutOptions::default()
        };
        let newer = RolloutOptions { channel: WantedChannel::Channel(channel(true)), ..base.clone() };
        Self {
            bounds,
            bags: Table::new(),
            apps: Table::new(),
            memories: Table::new(),
            machines: Table::new(),
            running: Table::new(),
            keys: Table::new(),
            passes: Map::default(),
            acts: HashMap::new(),
            merged: Map::default(),
            honest: Map::default(),
            waited: Map::default(),
            altered: Map::default(),
            options: [base, newer],
            decided: 0,
        }
    }

    pub fn role(&self, unit: u8) -> Role {
        self.bounds.roles[usize::from(unit)]
    }

    pub fn principal(&self, unit: u8) -> UnitName {
        let app = if self.role(unit) == Role::ControlPlane { "cp" } else { "wk" };
        format!("{app}/{unit}").parse().unwrap()
    }
}

pub fn name(unit: u8) -> UnitName {
    format!("lockstep/{unit}").parse().unwrap()
}

pub fn snap() -> SnapName {
    "kubelet".parse().unwrap()
}

pub fn channel(newer: bool) -> Channel {
    if newer { "1.33/stable" } else { "1.32/stable" }.parse().unwrap()
}

/// The revision that a head is in a channel.
pub fn revision(head: u8, newer: bool) -> u32 {
    100 + u32::from(head) + if newer { 1000 } else { 0 }
}
