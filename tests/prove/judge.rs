//! S1 to S4, judged from facts and committed data, not by the code under test.

use crate::hook::{progress, target};
use crate::state::{State, UNITS};
use crate::steps::Broken;
use crate::tables::{Tables, name};
use lockstep::databag::node::Role;
use lockstep::databag::progress::State as Progress;
use lockstep::databag::target::{Kind, Target};

impl Tables {
    /// S1 by facts: who is between the begin of a move and its committed report. S4: who says completed
    /// runs what the target says.
    pub fn judge(&mut self, state: &State) -> Result<(), Broken> {
        let of = |role| {
            let moving = state.numbers(|unit| unit.moving != 0);
            moving.filter(|unit| self.role(*unit) == role).map(name).collect::<Vec<_>>()
        };
        let (control_plane, workers) = (of(Role::ControlPlane), of(Role::Worker));
        if control_plane.len() > 1 {
            return Err(format!("S1: control-plane units {control_plane:?} move at once"));
        }
        if workers.len() > self.bounds.parallelism {
            return Err(format!("S1: workers {workers:?} move at once"));
        }
        if !control_plane.is_empty() && !workers.is_empty() {
            return Err(format!("S1: {control_plane:?} and {workers:?} move at once"));
        }
        for unit in state.numbers(|unit| unit.works()) {
            let who = state.unit(unit);
            let key = (state.app, who.bag, who.machine);
            let honest = match self.honest.get(&key) {
                Some(honest) => *honest,
                None => {
                    let honest = self.is_honest(state, unit);
                    self.honest.insert(key, honest);
                    honest
                }
            };
            if !honest {
                return Err(format!("S4: {} counts as completed and runs another revision", name(unit)));
            }
        }
        Ok(())
    }

    fn is_honest(&self, state: &State, unit: u8) -> bool {
        let who = state.unit(unit);
        let Some(target) = target(self.apps.get(state.app)) else { return true };
        let told = progress(self.bags.get(who.bag));
        if !told.is_some_and(|told| told.is(Progress::Completed, &target.id)) {
            return true;
        }
        let machine = self.machines.get(who.machine);
        let wanted = self.wanted(unit, target, machine.snap);
        machine.flight.is_none() && wanted.is_none_or(|(revision, _)| machine.snap.revision == revision)
    }

    /// A move begins. S2: by a committed grant for the target in force, to no channel but its own.
    pub fn judge_move(&mut self, state: &mut State, unit: u8) -> Result<(), Broken> {
        let app = self.apps.get(state.app);
        let granted = app.granted.as_ref().unwrap();
        let Some(grant) = granted.of(&name(unit)) else {
            return Err(format!("S2: {} moves without a grant", name(unit)));
        };
        let told = progress(self.bags.get(state.unit(unit).bag));
        if told.is_some_and(|told| told.has_answered(grant.serial)) {
            return Err(format!("S2: {} moves again by serial {}", name(unit), grant.serial));
        }
        let machine = self.machines.get(state.unit(unit).machine);
        let to = self.destination(state.unit(unit).running, machine.snap);
        let target = target(app);
        let named = target.is_some_and(|target| {
            let snap = &target.snaps[&crate::tables::snap()];
            let pins = snap.pins.values().flat_map(|pins| pins.values());
            pins.filter_map(|pin| pin.channel.as_ref())
                .chain(&snap.channel)
                .any(|channel| *channel == crate::tables::channel(to.newer))
        });
        if to.newer != machine.snap.newer && !named {
            return Err(format!("S2: {} goes to a channel that its target does not name", name(unit)));
        }
        if target.is_none_or(|target| target.id != grant.target) {
            return Err(format!("S2: {} moves by a grant for another target", name(unit)));
        }
        state.unit_mut(unit).moving = u32::try_from(grant.serial).unwrap();
        self.judge(state)
    }

    /// A report was committed. The move is over once it is answered.
    pub fn judge_report(&mut self, state: &mut State, unit: u8, before: u32) -> Result<(), Broken> {
        let who = *state.unit(unit);
        let Some(told) = progress(self.bags.get(who.bag)) else { return Ok(()) };
        let serial = u32::try_from(told.serial).unwrap();
        if progress(self.bags.get(before)).is_some_and(|before| before.serial > told.serial) {
            return Err(format!("the serial of {} goes back", name(unit)));
        }
        if who.moving != 0 && serial >= who.moving && told.state != Progress::Upgrading {
            if self.machines.get(who.machine).flight.is_some() {
                return Err(format!("S1: {} has answered and its change goes on", name(unit)));
            }
            state.unit_mut(unit).moving = 0;
        }
        Ok(())
    }

    /// A leader has read the others. S3 binds every later one.
    pub fn read_failures(&self, state: &mut State, leader: u8) {
        let app = self.apps.get(state.app);
        let Some(target) = target(app) else { return };
        let (granted, skipped) = (app.granted.as_ref().unwrap(), app.skipped.as_ref().unwrap());
        let who = state.unit(leader);
        let told = (0..UNITS as u8)
            .map(|unit| (unit, if unit == leader { who.bag } else { who.view[usize::from(unit)] }));
        let mut there = told.filter(|(unit, bag)| *bag != 0 && state.unit(*unit).exists());
        let failed = there.any(|(unit, bag)| {
            let open = |serial| granted.of(&name(unit)).is_none_or(|held| held.serial <= serial);
            let failure = progress(self.bags.get(bag)).filter(|told| told.is(Progress::Failed, &target.id));
            failure.is_some_and(|told| open(told.serial)) && !skipped.units.contains_key(&name(unit))
        });
        if failed {
            state.failed = u32::try_from(target.id.counter()).unwrap();
        }
    }

    /// The leader writes. S1: the second role waits for the first, as far as the leader knows it. S3:
    /// nothing is granted after a failure. No serial and no target comes back.
    pub fn judge_write(
        &mut self,
        state: &mut State,
        leader: u8,
        new: u32,
        admin: bool,
    ) -> Result<(), Broken> {
        let (old, new) = (self.apps.get(state.app), self.apps.get(new));
        let Some(target) = target(new) else { return Ok(()) };
        let (before, after) = (old.granted.as_ref().unwrap(), new.granted.as_ref().unwrap());
        let passed = &new.skipped.as_ref().unwrap().units;
        let who = *state.unit(leader);
        let known = |unit: &u8| match (*unit == leader, who.view[usize::from(*unit)]) {
            (true, _) => Some((*unit, self.bags.get(who.bag))),
            (false, 0) => None,
            (false, seen) => Some((*unit, self.bags.get(seen))),
        };
        let units: Vec<u8> = (0..UNITS as u8).collect();
        for grant in after.grants.iter().filter(|grant| !before.grants.contains(grant)) {
            if grant.serial <= u64::from(state.serial) {
                return Err(format!("serial {} comes back", grant.serial));
            }
            if grant.target != target.id {
                return Err(format!("{} is granted another target", grant.unit));
            }
            if admin {
                continue;
            }
            if u64::from(state.failed) == target.id.counter() {
                return Err(format!("S3: {} is granted after a leader has read a failure", grant.unit));
            }
            for (unit, told) in
                units.iter().filter_map(known).filter(|(unit, _)| !passed.contains_key(&name(*unit)))
            {
                let told_progress = progress(told);
                let again = |serial| after.of(&name(unit)).is_some_and(|held| held.serial > serial);
                if told_progress
                    .is_some_and(|told| told.is(Progress::Failed, &target.id) && !again(told.serial))
                {
                    return Err(format!("S3: {} is granted after {} has failed", grant.unit, name(unit)));
                }
                let first = target.first_role();
                // Who tells nothing counts as a control-plane unit.
                let role = told.node.as_ref().map_or(Role::ControlPlane, |_| self.role(unit));
                let done = told_progress.is_some_and(|told| told.is(Progress::Completed, &target.id));
                if grant.role != first && role == first && !done {
                    return Err(format!("S1: {} is granted before {} has completed", grant.unit, name(unit)));
                }
            }
        }
        state.serial = state.serial.max(u32::try_from(after.last).unwrap());
        let same = crate::hook::target(old).is_some_and(|old| old.id == target.id);
        if !same {
            let counter = u32::try_from(target.id.counter()).unwrap();
            if counter <= state.counter {
                return Err(format!("the counter of target {} comes back", target.id));
            }
            state.counter = counter;
            judge_target(target)?;
        }
        Ok(())
    }
}

/// S2: a target that names a channel has passed the checks, which an admin has to override in this world,
/// or it leads back.
fn judge_target(target: &Target) -> Result<(), Broken> {
    let snap = target.snaps.get(&crate::tables::snap());
    let pins = snap.into_iter().flat_map(|snap| snap.pins.values().flat_map(|pins| pins.values()));
    let named =
        pins.filter_map(|pin| pin.channel.as_ref()).chain(snap.and_then(|snap| snap.channel.as_ref()));
    let named = named.count() > 0;
    let overridden = target.overridden.iter().any(|name| name.as_str() == "all");
    match target.kind {
        Kind::Cohort if named && !target.rollback => {
            Err("S2: new revisions lead to another channel".to_owned())
        }
        Kind::Upgrade if !target.rollback && !overridden => Err("S2: an upgrade by a closed gate".to_owned()),
        Kind::Cohort | Kind::Upgrade => Ok(()),
    }
}
