//! S1 to S4, judged from facts and committed data, not by the code under test.

use super::{World, unit_name};
use crate::databag::node::Role;
use crate::databag::progress::{Progress, SnapState, State};
use crate::databag::target::Target;
use crate::juju::UnitName;
use crate::observed::rollout::{AppBag, Told};
use crate::snap::{Alteration, CohortKey, SnapName};
use std::collections::BTreeMap;

fn progress(told: &Told) -> Option<&Progress> {
    told.progress.as_ref()?.as_ref().ok()
}

impl World {
    /// A command is about to run. S2: a refresh needs a committed grant that was not answered, and
    /// stays on its channel. S1: who else moves.
    pub fn judge_alteration(&mut self, number: u32, alteration: &Alteration) {
        let Alteration::Move(to) = alteration else { return };
        assert!(to.channel.is_none(), "S2: another channel");
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
        let serial = grant.serial;
        self.units.get_mut(&number).unwrap().moving = Some(serial);
        self.judge_moving();
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
                if grant.role == Role::Worker && node.is_none_or(|node| node.role == Some(Role::ControlPlane))
                {
                    let done =
                        progress(told).is_some_and(|progress| progress.is(State::Completed, &target.id));
                    assert!(done, "S1: {} was granted and {unit} has not completed", grant.unit);
                }
            }
        }
        if self.app.target.as_ref().unwrap().as_ref() != Some(target) {
            let id = target.id.to_string();
            assert!(!self.targets.contains_key(&id), "target {id} comes back");
            let same_counter = self.targets.values().any(|known| known.id.counter() == target.id.counter());
            assert!(!same_counter, "the counter of target {id} comes back");
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
        let key = target.snaps.get(name)?.cohort.clone()?;
        let revision = self.store.keys[&key][&self.units[&number].architecture];
        Some(CohortOf { key, revision })
    }
}

pub struct CohortOf {
    pub key: CohortKey,
    pub revision: u32,
}
