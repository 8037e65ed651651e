//! Juju and the machines: what can happen next, and what it leads to.
//!
//! A hook that begins no move is one step: what it reads of the others is cached, and what it writes
//! reaches them as late as their next hooks. The application databag cannot change under a leader whose
//! commit is not refused: Juju promises the lease for longer than lockstep goes by it.

use crate::hook::{progress, trouble};
use crate::state::{Admin, Bounds, End, Event, Life, NOBODY, State, Step, UNITS};
use crate::tables::{Machine, NOW, Pass, Tables, name};
use lockstep::databag::progress::State as Progress;
use lockstep::juju::Timestamp;
use lockstep::snap::{Answer, TroubleKind};

/// What a broken promise is told by.
pub type Broken = String;

impl Tables {
    /// Every step that may be taken.
    pub fn steps(&mut self, state: &State) -> Vec<Step> {
        let mut steps = Vec::new();
        for unit in state.numbers(|unit| unit.works()) {
            self.steps_of(state, unit, &mut steps);
        }
        self.steps_beside(state, &mut steps);
        steps
    }

    fn steps_of(&mut self, state: &State, unit: u8, steps: &mut Vec<Step>) {
        let who = state.unit(unit);
        let Bounds { faults, outside, .. } = self.bounds;
        let fault = state.left.faults > 0;
        let machine = self.machines.get(who.machine);
        if machine.flight.is_some() {
            steps.push(Step::Land { unit });
        }
        if who.running != 0 {
            steps.push(Step::End { unit, end: End::Done, lost: false });
            if fault && faults.lost {
                steps.push(Step::End { unit, end: End::Done, lost: true });
            }
            if fault && faults.moves {
                let ends = [End::Failed, End::Ill, End::Later];
                steps.extend(ends.map(|end| Step::End { unit, end, lost: false }));
            }
            if fault && faults.orphans {
                steps.push(Step::End { unit, end: End::Orphan, lost: false });
                steps.push(Step::End { unit, end: End::Orphan, lost: true });
            }
            return;
        }
        let memory = self.memories.get(who.memory);
        if memory.attempt.as_ref().is_some_and(|attempt| attempt.again.is_some_and(|again| again.0 > NOW)) {
            steps.push(Step::Wait { unit });
        }
        let mut events = Vec::new();
        match (who.retry, who.life) {
            (Some(event), _) => events.push(event),
            (None, Life::Departed) => events.push(Event::Removing),
            (None, _) => {
                let hears = self.bounds.followers_hear || state.leader == unit;
                for other in (0..UNITS as u8).filter(|other| hears && *other != unit) {
                    let (known, there) = (who.view[usize::from(other)], state.unit(other));
                    match (known, there.life) {
                        (0, Life::Alive) => events.push(Event::Joined(other)),
                        (1.., Life::Alive | Life::Dead) if known != there.bag => {
                            events.push(Event::Changed(other));
                        }
                        (1.., Life::Leaving | Life::Departed | Life::Gone) => {
                            events.push(Event::DepartedPeer(other));
                        }
                        _ => {}
                    }
                }
                events.push(Event::Other);
                if has_met(self, state, unit) {
                    events.push(Event::UpdateStatus);
                }
                if who.life == Life::Leaving {
                    events.push(Event::Departing);
                }
            }
        }
        if outside && who.life == Life::Alive {
            events.push(Event::Outside);
        }
        for event in events {
            steps.push(Step::Pass { unit, event, lost: false });
            if fault && faults.lost && outside && event != Event::Outside {
                steps.push(Step::Pass { unit, event, lost: true });
            }
        }
    }

    fn steps_beside(&mut self, state: &State, steps: &mut Vec<Step>) {
        let Bounds { faults, channels, .. } = self.bounds;
        let fault = state.left.faults > 0;
        let leads = state.leader != NOBODY && state.unit(state.leader).works();
        if !leads || (fault && faults.elections) {
            let heirs = state.numbers(|unit| unit.life == Life::Alive);
            steps.extend(heirs.filter(|unit| *unit != state.leader).map(|unit| Step::Elect { unit }));
        }
        steps.extend(state.numbers(|unit| unit.life == Life::Dead).map(|unit| Step::Remove { unit }));
        if fault && faults.people {
            if let Some(unit) = state.numbers(|unit| unit.life == Life::Absent).next()
                && usize::from(unit) < self.bounds.roles.len()
            {
                steps.push(Step::Join { unit });
            }
            let alive: Vec<u8> = state.numbers(|unit| unit.life == Life::Alive).collect();
            if alive.len() > 1 {
                steps.extend(
                    alive.iter().flat_map(|unit| [Step::Leave { unit: *unit }, Step::Die { unit: *unit }]),
                );
            }
        }
        if fault && faults.illness {
            let well = state.numbers(|unit| unit.life == Life::Alive && unit.running == 0);
            let well = well.filter(|unit| !self.machines.get(state.unit(*unit).machine).ill);
            steps.extend(well.map(|unit| Step::Sicken { unit }));
        }
        if state.left.targets > 0 {
            steps.push(Step::Publish);
            if channels {
                steps.push(Step::Ask);
            }
        }
        let able =
            leads && state.unit(state.leader).running == 0 && state.unit(state.leader).life == Life::Alive;
        if able && state.left.admin > 0 {
            let units: Vec<u8> = state.numbers(|unit| unit.exists()).collect();
            let mut actions: Vec<Admin> =
                units.iter().flat_map(|unit| [Admin::Retry(*unit), Admin::Skip(*unit)]).collect();
            actions.push(Admin::Rollback);
            if state.newer {
                actions.push(Admin::Override);
            }
            // What is refused changes nothing.
            actions.retain(|action| self.admin(state, *action).0 != 0);
            steps.extend(actions.into_iter().map(Step::Admin));
        }
    }

    /// Takes a step. A promise that it breaks is the error.
    pub fn take(&mut self, state: &State, step: Step) -> Result<State, Broken> {
        let mut next = *state;
        let mut cost = 0;
        match step {
            Step::Pass { unit, event, lost } => {
                see(&mut next, unit, event);
                cost = u8::from(lost);
                if lost {
                    next.unit_mut(unit).retry = Some(event);
                } else {
                    self.begin(&mut next, unit, event)?;
                }
            }
            Step::End { unit, end, lost } => {
                cost = u8::from(lost || end != End::Done);
                self.end(&mut next, unit, end, lost)?;
            }
            Step::Land { unit } => self.land(&mut next, unit),
            Step::Wait { unit } => self.wait(&mut next, unit),
            Step::Elect { unit } => {
                cost = u8::from(state.leader != NOBODY && state.unit(state.leader).works());
                next.leader = unit;
            }
            Step::Join { unit } => {
                cost = 1;
                next.unit_mut(unit).life = Life::Alive;
            }
            Step::Leave { unit } => {
                cost = 1;
                next.unit_mut(unit).life = Life::Leaving;
            }
            Step::Die { unit } => {
                cost = 1;
                let who = next.unit_mut(unit);
                (who.life, who.running, who.moving, who.retry) = (Life::Dead, 0, 0, None);
            }
            Step::Remove { unit } => {
                self.remove(&mut next, unit);
            }
            Step::Sicken { unit } => {
                cost = 1;
                self.alter(&mut next, unit, |machine| machine.ill = true);
            }
            Step::Publish => {
                next.left.targets -= 1;
                next.head += 1;
            }
            Step::Ask => {
                next.left.targets -= 1;
                next.newer = !next.newer;
            }
            Step::Admin(action) => {
                next.left.admin -= 1;
                let (keys, _) = self.admin(state, action);
                self.write(&mut next, state.leader, keys, true)?;
            }
        }
        next.left.faults -= cost;
        self.judge(&next)?;
        Ok(next)
    }

    fn begin(&mut self, next: &mut State, unit: u8, event: Event) -> Result<(), Broken> {
        let pass = self.pass(next, unit, event);
        next.unit_mut(unit).seen = if self.bounds.cached { next.app } else { 0 };
        match pass {
            Pass::Says { bag, memory, app } => self.commit(next, unit, event, [bag, memory, app]),
            Pass::Moves(running) => {
                let who = next.unit_mut(unit);
                (who.running, who.event) = (running, Some(event));
                self.judge_move(next, unit)
            }
        }
    }

    fn end(&mut self, next: &mut State, unit: u8, end: End, lost: bool) -> Result<(), Broken> {
        let who = *next.unit(unit);
        let from = self.machines.get(who.machine).snap;
        let to = self.destination(who.running, from);
        self.alter(next, unit, |machine| match end {
            End::Done | End::Ill => (machine.snap, machine.ill) = (to, end == End::Ill),
            End::Failed | End::Later => {}
            End::Orphan => machine.flight = Some(to),
        });
        let outcome = match end {
            End::Done | End::Ill if from == to => Ok(Answer::NothingToDo),
            End::Done | End::Ill => Ok(Answer::Done),
            End::Failed => Err(trouble(TroubleKind::ChangeFailed)),
            End::Later => Err(trouble(TroubleKind::StoreUnreachable)),
            End::Orphan => Err(trouble(TroubleKind::Unfinished)),
        };
        let event = who.event.unwrap_or(Event::Other);
        let pass = if lost { None } else { Some(self.rest(next, unit, &outcome)) };
        let who = next.unit_mut(unit);
        (who.running, who.event) = (0, None);
        match pass {
            None => self.lose(next, unit, event),
            Some(Pass::Says { bag, memory, app }) => self.commit(next, unit, event, [bag, memory, app])?,
            Some(Pass::Moves(running)) => (who.running, who.event) = (running, Some(event)),
        }
        Ok(())
    }

    fn lose(&mut self, next: &mut State, unit: u8, event: Event) {
        if event != Event::Outside {
            next.unit_mut(unit).retry = Some(event);
        }
    }

    fn commit(
        &mut self,
        next: &mut State,
        unit: u8,
        event: Event,
        [bag, memory, keys]: [u32; 3],
    ) -> Result<(), Broken> {
        if keys != 0 {
            if next.leader != unit {
                self.lose(next, unit, event);
                return Ok(());
            }
            self.write(next, unit, keys, false)?;
        }
        if next.leader == unit {
            self.read_failures(next, unit);
        }
        let before = *next.unit(unit);
        let who = next.unit_mut(unit);
        (who.bag, who.memory) = (bag, memory);
        if event != Event::Outside {
            who.retry = None;
        }
        self.judge_report(next, unit, before.bag)?;
        match event {
            Event::Departing => next.unit_mut(unit).life = Life::Departed,
            Event::Removing => self.remove(next, unit),
            Event::Joined(_)
            | Event::Changed(_)
            | Event::DepartedPeer(_)
            | Event::Other
            | Event::UpdateStatus
            | Event::Outside => {}
        }
        Ok(())
    }

    fn write(&mut self, next: &mut State, leader: u8, keys: u32, admin: bool) -> Result<(), Broken> {
        let app = self.merge(next.app, keys);
        self.judge_write(next, leader, app, admin)?;
        next.app = app;
        if admin {
            next.failed = 0;
        }
        Ok(())
    }

    fn remove(&mut self, next: &mut State, unit: u8) {
        let told = progress(self.bags.get(next.unit(unit).bag));
        if told.is_some_and(|told| told.state == Progress::Failed) {
            // What has failed is not there any more.
            next.failed = 0;
        }
        let who = next.unit_mut(unit);
        (who.life, who.running, who.moving, who.retry, who.seen) = (Life::Gone, 0, 0, None, 0);
        who.view = [0; UNITS];
        if next.leader == unit {
            next.leader = NOBODY;
        }
    }

    pub fn alter(&mut self, next: &mut State, unit: u8, change: impl FnOnce(&mut Machine)) {
        let mut machine = *self.machines.get(next.unit(unit).machine);
        change(&mut machine);
        let number = match self.altered.get(&machine) {
            Some(number) => *number,
            None => {
                let number = self.machines.number(machine);
                self.altered.insert(machine, number);
                number
            }
        };
        next.unit_mut(unit).machine = number;
    }

    pub fn land(&mut self, next: &mut State, unit: u8) {
        self.alter(next, unit, |machine| {
            if let Some(to) = machine.flight.take() {
                (machine.snap, machine.ill) = (to, false);
            }
        });
    }

    /// The delay of a move that is to be tried again is over.
    pub fn wait(&mut self, next: &mut State, unit: u8) {
        let memory = next.unit(unit).memory;
        let waited = match self.waited.get(&memory) {
            Some(waited) => *waited,
            None => {
                let mut later = self.memories.get(memory).clone();
                if let Some(attempt) = &mut later.attempt {
                    attempt.again = attempt.again.map(|again| again.min(Timestamp(NOW)));
                }
                let waited = self.memories.number(later);
                self.waited.insert(memory, waited);
                waited
            }
        };
        next.unit_mut(unit).memory = waited;
    }

    /// One round of fair hooks: no faults, every unit meets who is there and runs one update-status. An
    /// admin lets failed units try again and overrides the checks.
    pub fn round(&mut self, state: &State) -> Result<State, Broken> {
        let mut next = *state;
        for unit in state.numbers(|unit| unit.life == Life::Dead) {
            self.remove(&mut next, unit);
        }
        let leads = |state: &State| state.leader != NOBODY && state.unit(state.leader).life == Life::Alive;
        if !leads(&next) {
            next.leader = next.numbers(|unit| unit.life == Life::Alive).next().unwrap_or(NOBODY);
        }
        for unit in next.numbers(|unit| unit.works()) {
            self.turn(&mut next, unit)?;
        }
        if leads(&next) {
            let failed = next.numbers(|unit| unit.works()).filter(|unit| {
                let told = progress(self.bags.get(next.unit(*unit).bag));
                told.is_some_and(|told| told.state == Progress::Failed)
            });
            let mut actions: Vec<Admin> = failed.map(Admin::Retry).collect();
            actions.extend(next.newer.then_some(Admin::Override));
            for action in actions {
                let (keys, _) = self.admin(&next, action);
                if keys != 0 {
                    let leader = next.leader;
                    self.write(&mut next, leader, keys, true)?;
                }
            }
        }
        Ok(next)
    }

    fn turn(&mut self, next: &mut State, unit: u8) -> Result<(), Broken> {
        self.land(next, unit);
        self.finish(next, unit)?;
        self.wait(next, unit);
        self.heal(next, unit);
        let there = *next;
        let who = next.unit_mut(unit);
        for other in (0..UNITS as u8).filter(|other| *other != unit) {
            let it = there.unit(other);
            who.view[usize::from(other)] = if it.life == Life::Alive { it.bag } else { 0 };
        }
        if let Some(event) = who.retry {
            self.begin(next, unit, event)?;
            self.finish(next, unit)?;
        }
        let events: &[Event] = match next.unit(unit).life {
            Life::Alive => &[Event::UpdateStatus],
            Life::Leaving => &[Event::Departing, Event::Removing],
            Life::Departed => &[Event::Removing],
            Life::Absent | Life::Dead | Life::Gone => &[],
        };
        for event in events {
            see(next, unit, *event);
            self.begin(next, unit, *event)?;
            self.finish(next, unit)?;
        }
        self.judge(next)
    }

    /// Lets a running hook end well.
    fn finish(&mut self, next: &mut State, unit: u8) -> Result<(), Broken> {
        self.judge(next)?;
        while next.unit(unit).running != 0 {
            self.end(next, unit, End::Done, false)?;
        }
        Ok(())
    }

    /// Who is ill is mended by its move; who has none before it, by itself.
    fn heal(&mut self, next: &mut State, unit: u8) {
        let machine = *self.machines.get(next.unit(unit).machine);
        if !machine.ill {
            return;
        }
        let app = self.apps.get(next.app);
        let there = crate::hook::target(app).is_none_or(|target| {
            self.wanted(unit, target, machine.snap).is_none_or(|(revision, key)| {
                machine.snap.revision == revision && (key.is_none() || machine.snap.key == key)
            })
        });
        if there {
            self.alter(next, unit, |machine| machine.ill = false);
        }
    }

    /// Whether every living unit has completed the target, which is for what the store has, or is passed
    /// over.
    pub fn is_settled(&self, state: &State) -> bool {
        let app = self.apps.get(state.app);
        let Some(target) = crate::hook::target(app) else { return false };
        let skipped = &app.skipped.as_ref().unwrap().units;
        state.numbers(|unit| unit.works()).all(|unit| {
            let who = state.unit(unit);
            let told = progress(self.bags.get(who.bag));
            let completed = told.is_some_and(|told| told.is(Progress::Completed, &target.id));
            who.life == Life::Alive && who.retry.is_none() && (completed || skipped.contains_key(&name(unit)))
        })
    }
}

/// Whether a unit may run an update-status: it is idle, so it has met all who were there when it came.
/// What has happened since then may still be on its way to it.
fn has_met(tables: &Tables, state: &State, unit: u8) -> bool {
    let first = tables.bounds.roles.len() - tables.bounds.joiners;
    let who = state.unit(unit);
    let before = |other: &u8| *other < unit || usize::from(*other) < first;
    state
        .numbers(|unit| unit.life == Life::Alive)
        .filter(|other| *other != unit)
        .filter(before)
        .all(|other| who.view[usize::from(other)] != 0)
}

/// What a hook makes its agent see.
fn see(next: &mut State, unit: u8, event: Event) {
    let there = *next;
    let view = &mut next.unit_mut(unit).view;
    match event {
        Event::Joined(other) | Event::Changed(other) => {
            if matches!(there.unit(other).life, Life::Alive | Life::Dead) {
                view[usize::from(other)] = there.unit(other).bag;
            }
        }
        Event::DepartedPeer(other) => view[usize::from(other)] = 0,
        Event::Departing => *view = [0; UNITS],
        Event::Other | Event::UpdateStatus | Event::Outside | Event::Removing => {}
    }
}
