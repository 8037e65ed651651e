//! S1 to S4, judged from facts and committed data, not by the code under test.

use super::machine::in_channel;
use super::{World, unit_name};
use crate::databag::node::Role;
use crate::databag::progress::{Progress, SnapState, State};
use crate::databag::target::{Kind, Target};
use crate::juju::UnitName;
use crate::observed::rollout::{AppBag, Told};
use crate::snap::{Alteration, CohortKey, SnapName};
use std::collections::{BTreeMap, BTreeSet};

fn progress(told: &Told) -> Option<&Progress> {
    told.progress.as_ref()?.as_ref().ok()
}

impl World {
    /// A command is about to run. S2: a refresh needs a committed grant that was not answered, and
    /// leads to no channel but its target's. S1: who else moves.
    pub fn judge_alteration(&mut self, number: u32, alteration: &Alteration) {
        let Alteration::Move(to) = alteration else { return };
        let granted = self.app.granted.as_ref().unwrap();
        let grant =
            granted.of(&unit_name(number)).unwrap_or_else(|| panic!("S2: lockstep/{number} has no grant"));
        let told = progress(&self.units[&number].bag);
        assert!(
            !told.is_some_and(|told| told.serial > grant.serial
                || (told.serial == grant.serial && told.state != State::Upgrading)),
            "S2: serial {} was answered",
            grant.serial
        );
        if let Some(channel) = &to.channel {
            // Which targets name a channel at all is judged where they are made.
            let target = &self.targets[&grant.target.to_string()];
            let snap = &target.snaps[&to.name];
            let pins = snap.pins.values().flat_map(BTreeMap::values).filter_map(|pin| pin.channel.as_ref());
            assert!(pins.chain(&snap.channel).any(|named| named == channel), "S2: another channel");
        }
        let serial = grant.serial;
        self.units.get_mut(&number).unwrap().moving = Some(serial);
        self.judge_moving();
    }

    /// S2: a target that names a channel was asked for by an admin, who has overridden what cannot be
    /// seen in this world; or it leads back.
    fn judge_target(&self, target: &Target) {
        let pins = target.snaps.values().flat_map(|snap| snap.pins.values().flat_map(BTreeMap::values));
        let pinned = pins.filter_map(|pin| pin.channel.as_ref());
        let named: BTreeSet<_> =
            target.snaps.values().filter_map(|snap| snap.channel.as_ref()).chain(pinned).collect();
        let overridden = |check: &str| {
            target.overridden.iter().any(|name| matches!(name.as_str(), "all") || name.as_str() == check)
        };
        if target.kind == Kind::Cohort {
            assert!(named.is_empty(), "S2: new revisions lead to another channel");
        } else if !target.rollback {
            assert!(overridden("control-plane-healthy"), "S2: an upgrade by a closed gate");
            let down = target.minors.is_some_and(|(from, to)| to < from);
            assert!(!down || overridden("version-skew"), "S2: down by a closed gate");
        }
    }

    /// S1 by facts: who is between the start of a move and its committed report.
    pub fn judge_moving(&self) {
        let of = |role| {
            let moving = self.units.values().filter(|unit| unit.moving.is_some() && !unit.dead);
            moving.filter(|unit| unit.role == role).map(|unit| unit.number).collect::<Vec<_>>()
        };
        let (control_plane, workers) = (of(Role::ControlPlane), of(Role::Worker));
        assert!(control_plane.len() <= 1, "S1: control-plane units {control_plane:?} move");
        assert!(workers.len() <= self.options.worker_parallelism, "S1: workers {workers:?} move");
        assert!(control_plane.is_empty() || workers.is_empty(), "S1: {control_plane:?} and {workers:?} move");
    }

    /// The leader has written. S1: the second role waits for the first. S3: nothing after a failure.
    pub fn judge_grants(&mut self, leader: u32, view: &BTreeMap<UnitName, Told>, own: &Told, new: &AppBag) {
        let (old, new_grants) = (self.app.granted.as_ref().unwrap(), new.granted.as_ref().unwrap());
        let target = new.target.as_ref().unwrap().as_ref().unwrap();
        let added: Vec<_> = new_grants.grants.iter().filter(|grant| !old.grants.contains(grant)).collect();
        let own_name = unit_name(leader);
        let known = || view.iter().chain([(&own_name, own)]);
        for grant in &added {
            assert!(self.serials.insert(grant.serial), "serial {} comes back", grant.serial);
            assert_eq!(grant.target, target.id, "a grant for another target");
            let passed = &new.skipped.as_ref().unwrap().units;
            for (unit, told) in known().filter(|(unit, _)| !passed.contains_key(*unit)) {
                let failed = progress(told).is_some_and(|progress| progress.is(State::Failed, &target.id));
                assert!(!failed, "S3: {} was granted after {unit} had failed", grant.unit);
                let node = told.node.as_ref().and_then(|node| node.as_ref().ok());
                let first = target.first_role();
                // Who tells nothing counts as a control-plane unit.
                let role = node.map_or(Role::ControlPlane, |node| node.role.unwrap());
                if grant.role != first && role == first {
                    let done =
                        progress(told).is_some_and(|progress| progress.is(State::Completed, &target.id));
                    assert!(done, "S1: {} was granted and {unit} has not completed", grant.unit);
                }
            }
        }
        let old = self.app.target.as_ref().unwrap().as_ref();
        if let Some(old) = old.filter(|old| old.id == target.id) {
            // Under one id only what the options asked for may be noted.
            let mut same = old.clone();
            same.wanted.clone_from(&target.wanted);
            assert!(same == *target, "another target under the id {}", target.id);
        } else if old != Some(target) {
            let id = target.id.to_string();
            assert!(!self.targets.contains_key(&id), "target {id} comes back");
            let same_counter = self.targets.values().any(|known| known.id.counter() == target.id.counter());
            assert!(!same_counter, "the counter of target {id} comes back");
            self.judge_target(target);
            self.targets.insert(id, target.clone());
        }
    }

    /// A unit's report was committed. S4: who says completed runs what the target says.
    pub fn judge_report(&mut self, number: u32, before: &Told) {
        let told = progress(&self.units[&number].bag).cloned();
        let Some(told) = told else { return };
        if let Some(before) = progress(before) {
            assert!(told.serial >= before.serial, "a serial goes back");
        }
        let unit = self.units.get_mut(&number).unwrap();
        if unit.moving.is_some_and(|serial| told.serial >= serial && told.state != State::Upgrading) {
            assert!(unit.flight.is_none(), "reported while the change goes on");
            unit.moving = None;
        }
        if told.state == State::Completed && progress(before) != Some(&told) {
            let target = &self.targets[&told.target.as_ref().unwrap().to_string()];
            self.judge_completed(number, &target.clone(), &told);
        }
    }

    fn judge_completed(&self, number: u32, target: &Target, told: &Progress) {
        let unit = &self.units[&number];
        let exempt = |name: &SnapName| told.snaps.get(name) == Some(&SnapState::Exempt);
        for (name, snap) in unit.snaps.iter().filter(|(name, _)| !exempt(name)) {
            // Which key somebody else stored beside the same revision is found out later.
            if let Some(CohortOf { revision, .. }) = self.wanted(number, target, name) {
                assert_eq!(snap.revision, revision, "S4: lockstep/{number} {name} runs another revision");
            }
        }
    }

    pub fn wanted(&self, number: u32, target: &Target, name: &SnapName) -> Option<CohortOf> {
        let to = target.snaps.get(name)?;
        let key = to.cohort.clone().filter(|_| to.pins.is_empty())?;
        let unit = &self.units[&number];
        let channel = to.channel.as_ref().unwrap_or(&unit.snaps[name].channel);
        let revision = in_channel(self.store.keys[&key][&unit.architecture], channel);
        Some(CohortOf { key, revision })
    }
}

pub struct CohortOf {
    pub key: CohortKey,
    pub revision: u32,
}
