//! One random run: faults first, then fair hooks until every member has completed.

use super::juju::write_app;
use super::machine::{channel, in_channel, newer};
use super::{Event, Rng, Snap, StoreWorld, Unit, World, snap_name, unit_name};
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::Role;
use crate::databag::progress::State;
use crate::decide::options::{RolloutOptions, WantedChannel};
use crate::decide::rollout::{Action, Answer, act};
use crate::observed::rollout::{AppBag, Told};
use crate::plan::Keys;
use crate::snap::{Architecture, SnapName};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a run is like.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub seed: u64,
    pub steps: u32,
    /// Whether the story is kept.
    pub told: bool,
}

/// Runs one world. Panics where a promise is broken.
pub fn run(plan: Plan, story: &mut Vec<String>) {
    let mut world = World::new(plan);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..plan.steps {
            world.random_step();
            world.judge_moving();
        }
        world.settle();
    }));
    *story = std::mem::take(&mut world.story);
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

fn snaps_of(role: Role) -> Vec<SnapName> {
    match role {
        Role::ControlPlane => vec![snap_name("kube-apiserver"), snap_name("kubelet")],
        Role::Worker => vec![snap_name("kubelet")],
    }
}

impl World {
    fn new(plan: Plan) -> Self {
        let mut rng = Rng(plan.seed.wrapping_mul(0x5851_f42d_4c95_7f2d) + 1);
        let options = RolloutOptions {
            snaps: ["kube-apiserver", "kubelet"].into_iter().map(|name| (snap_name(name), None)).collect(),
            worker_parallelism: 1 + rng.below(2),
            check_interval: 600,
            ready_timeout: 600,
            ..RolloutOptions::default()
        };
        let mut heads = BTreeMap::new();
        for architecture in [Architecture::Amd64, Architecture::Arm64] {
            for name in options.snaps.keys() {
                heads.insert((name.clone(), architecture), 100);
            }
        }
        let mut world = Self {
            rng,
            now: 1_800_000_000,
            options,
            units: BTreeMap::new(),
            joined: 0,
            leader: None,
            app: AppBag::default(),
            store: StoreWorld { up: true, heads, keys: BTreeMap::new() },
            targets: BTreeMap::new(),
            serials: BTreeSet::new(),
            faults: true,
            told: plan.told,
            story: Vec::new(),
        };
        let count = 2 + world.rng.below(4);
        for number in 0..count {
            let role = if number == 0 || world.rng.percent(45) { Role::ControlPlane } else { Role::Worker };
            world.join(role);
        }
        let first = world.living()[0];
        world.elect(Some(first));
        if world.rng.percent(60) {
            // A quiet begin: the first formation, without faults.
            world.faults = false;
            for _ in 0..8 {
                world.round();
            }
            world.faults = true;
        }
        world
    }

    fn join(&mut self, role: Role) {
        // A number is never used again.
        let number = self.joined;
        self.joined += 1;
        let architecture = if self.rng.percent(25) { Architecture::Arm64 } else { Architecture::Amd64 };
        let revision = 98 + u32::try_from(self.rng.below(4)).unwrap();
        // Principals bring a new machine up on the channel that most follow.
        let newer_ones = self.units.values().filter(|unit| unit.snaps.values().all(|s| s.channel == newer()));
        let channel = if newer_ones.count() * 2 > self.units.len() { newer() } else { channel() };
        let revision = in_channel(revision, &channel);
        let snap = Snap { revision, channel, key: None, held: false };
        let others: Vec<u32> =
            self.units.values().filter(|unit| !unit.leaving).map(|unit| unit.number).collect();
        let unit = Unit {
            number,
            role,
            architecture,
            dead: false,
            leaving: false,
            bag: Told::default(),
            written: Keys::new(),
            memory: RolloutMemory::default(),
            view: BTreeMap::new(),
            seen: AppBag::default(),
            queue: others.iter().map(|other| Event::Joined(*other)).collect::<VecDeque<_>>(),
            hook: None,
            committed: true,
            snaps: snaps_of(role).into_iter().map(|name| (name, snap.clone())).collect(),
            flight: None,
            moving: None,
            ill: false,
        };
        self.tell(|| format!("lockstep/{number} joins, {role} {architecture}"));
        self.units.insert(number, unit);
        self.notify(number, Event::Joined(number));
    }

    /// One thing happens.
    fn random_step(&mut self) {
        let living = self.living();
        self.now += 1 + self.rng.next() % 90;
        if living.is_empty() {
            return self.join(Role::ControlPlane);
        }
        let number = living[self.rng.below(living.len())];
        match self.rng.below(100) {
            0..=1 => self.publish(),
            2..=3 => self.store.up = !self.store.up || self.rng.percent(40),
            4..=6 => {
                let who = living[self.rng.below(living.len())];
                self.elect(Some(who));
            }
            7 if self.units.len() < 6 => {
                let role = if self.rng.percent(40) { Role::ControlPlane } else { Role::Worker };
                self.join(role);
            }
            8 if self.rng.percent(40) => self.leave(number),
            9 if self.rng.percent(30) => self.die(number),
            10..=12 => self.land(number),
            13 if self.rng.percent(40) => self.meddle(number),
            14 if self.rng.percent(50) => {
                let unit = self.units.get_mut(&number).unwrap();
                unit.ill = !unit.ill;
            }
            15 => self.now += self.rng.next() % 1500,
            16..=17 => self.admin_at_random(),
            18 => self.wish(),
            _ => self.advance(number),
        }
    }

    /// A unit runs on, or begins its next hook.
    fn advance(&mut self, number: u32) {
        if self.units[&number].hook.is_none() {
            let outside = self.rng.percent(8);
            self.begin(number, outside);
        }
        // Mostly a hook runs through; sometimes the others come in between.
        for _ in 0..80 {
            if self.units.get(&number).is_none_or(|unit| unit.hook.is_none()) {
                return;
            }
            self.step(number);
            if self.faults && self.rng.percent(8) {
                return;
            }
        }
    }

    fn leave(&mut self, number: u32) {
        let unit = self.units.get_mut(&number).unwrap();
        if unit.leaving || unit.hook.is_some() {
            return;
        }
        unit.leaving = true;
        unit.moving = None;
        unit.queue = VecDeque::from([Event::Departing, Event::Removing]);
        self.tell(|| format!("lockstep/{number} leaves"));
    }

    /// A machine stops. Its unit stays in the model until somebody removes it by force.
    fn die(&mut self, number: u32) {
        if self.living().len() < 2 {
            return;
        }
        let unit = self.units.get_mut(&number).unwrap();
        unit.dead = true;
        unit.hook = None;
        unit.moving = None;
        self.tell(|| format!("lockstep/{number} dies"));
    }

    fn remove_dead(&mut self) {
        let dead: Vec<u32> = self.units.values().filter(|unit| unit.dead).map(|unit| unit.number).collect();
        for number in dead {
            self.units.remove(&number);
            self.notify(number, Event::Departed(number));
            self.tell(|| format!("lockstep/{number} is removed"));
        }
    }

    /// Every unit gets all its hooks, then an update-status.
    fn round(&mut self) {
        self.now += 300;
        for number in self.living() {
            self.land(number);
            for _ in 0..200 {
                let Some(unit) = self.units.get(&number) else { break };
                if unit.queue.is_empty() && unit.hook.is_none() {
                    break;
                }
                self.advance_fairly(number);
            }
            if self.units.contains_key(&number) {
                self.advance_fairly(number);
            }
        }
    }

    fn advance_fairly(&mut self, number: u32) {
        if self.units[&number].hook.is_none() {
            self.begin(number, false);
        }
        while self.units.get(&number).is_some_and(|unit| unit.hook.is_some()) {
            self.step(number);
            self.judge_moving();
        }
    }

    /// No faults any more: L1. An admin removes the dead and lets failed units try again.
    fn settle(&mut self) {
        self.tell(|| "no more faults".to_owned());
        self.faults = false;
        self.store.up = true;
        self.remove_dead();
        if self.living().is_empty() {
            return;
        }
        for _ in 0..90 {
            if self.leader.is_none_or(|leader| self.units.get(&leader).is_none_or(|unit| unit.leaving)) {
                let next = self.units.values().find(|unit| !unit.leaving).map(|unit| unit.number);
                self.elect(next);
            }
            self.heal();
            self.admin(&Action::OverrideChecks { checks: "all".to_owned() });
            self.round();
            self.retry();
            if self.is_settled() {
                return;
            }
        }
        panic!("L1: {}", self.show());
    }

    /// Who is ill is mended by its move; who has none before it, by itself.
    fn heal(&mut self) {
        for unit in self.units.values_mut() {
            let waits = matches!(&unit.bag.progress, Some(Ok(told)) if told.state == State::Ready);
            unit.ill &= waits && unit.snaps.values().any(|snap| snap.key.is_none());
        }
    }

    /// An admin lets a failed unit try again.
    fn retry(&mut self) {
        let failed = self
            .units
            .values()
            .find(|unit| matches!(&unit.bag.progress, Some(Ok(progress)) if progress.state == State::Failed));
        if let Some(unit) = failed.map(|unit| unit_name(unit.number)) {
            self.admin(&Action::RetryUnit { unit });
        }
    }

    /// An admin asks for another channel, or for what is there.
    fn wish(&mut self) {
        let channel = if self.rng.percent(60) { newer() } else { channel() };
        self.tell(|| format!("option channel={channel}"));
        self.options.channel = WantedChannel::Channel(channel);
    }

    /// An admin tries something: nothing of it lets two units move where one may.
    fn admin_at_random(&mut self) {
        let numbers: Vec<u32> = self.units.keys().copied().collect();
        let unit = unit_name(numbers[self.rng.below(numbers.len())]);
        let action = if self.rng.percent(40) {
            let checks = if self.rng.percent(50) { "all" } else { "control-plane-healthy" };
            Action::OverrideChecks { checks: checks.to_owned() }
        } else if self.rng.percent(50) {
            Action::RetryUnit { unit }
        } else {
            Action::SkipUnit { unit, force: false }
        };
        self.admin(&action);
    }

    /// Runs an action on the leader, which commits at once.
    fn admin(&mut self, action: &Action) {
        let able = |unit: &Unit| unit.hook.is_none() && !unit.leaving && !unit.dead;
        let leader = self.leader.filter(|leader| self.units.get(leader).is_some_and(able));
        let Some(leader) = leader else { return };
        self.begin(leader, true);
        let mut hook = self.units.get_mut(&leader).unwrap().hook.take().unwrap();
        hook.rollout.app = self.snapshot(leader);
        match act(&hook.rollout, &self.options, action) {
            Answer::Done { app, line, .. } => {
                self.tell(|| format!("admin: {line}"));
                let before = self.app.granted.as_ref().unwrap().last;
                write_app(&mut self.app, &app);
                let granted = self.app.granted.as_ref().unwrap();
                let new = granted.grants.iter().map(|grant| grant.serial).filter(|serial| *serial > before);
                for serial in new.collect::<Vec<_>>() {
                    assert!(self.serials.insert(serial), "serial {serial} comes back");
                }
                self.notify(leader, Event::App);
            }
            Answer::Refused(why) => self.tell(|| format!("admin: {why}")),
            Answer::Need(effect) => panic!("{effect:?}"),
            Answer::Report(report) => panic!("{}", report.text),
        }
    }

    /// Every unit has completed the target, whose keys give what the store has.
    fn is_settled(&self) -> bool {
        let Ok(Some(target)) = &self.app.target else { return false };
        self.units.values().filter(|unit| !unit.leaving).all(|unit| {
            let completed =
                matches!(&unit.bag.progress, Some(Ok(progress)) if progress.is(State::Completed, &target.id));
            let exempt = |name: &SnapName| unit.memory.moved_back.contains(name);
            completed
                && unit.snaps.iter().all(|(name, snap)| {
                    // The way back may be by revisions; then no key is joined before the next head.
                    let pinned = target.snaps.get(name).is_some_and(|to| !to.pins.is_empty());
                    exempt(name)
                        || pinned && snap.held
                        || self.wanted(unit.number, target, name).is_some_and(|wanted| {
                            let head = self.store.heads[&(name.clone(), unit.architecture)];
                            let head = in_channel(head, &snap.channel);
                            snap.key == Some(wanted.key) && snap.revision == head && snap.held
                        })
                })
        })
    }

    fn show(&self) -> String {
        let units: Vec<String> = self
            .units
            .values()
            .map(|unit| {
                let (number, progress) = (unit.number, &unit.bag.progress);
                format!("{number} {:?} {progress:?} sees {:?} {:?}", unit.role, unit.view.keys(), unit.snaps)
            })
            .collect();
        let target = self.app.target.as_ref().unwrap().as_ref().map(|target| target.id.to_string());
        let granted = &self.app.granted.as_ref().unwrap().grants;
        format!("leader {:?}\n{granted:?}\n{target:?}\n{}", self.leader, units.join("\n"))
    }
}
