//! Juju: who has met whom, what is cached, when writes count.
//!
//! A member's databag is cached until its own event; the application databag is read once a hook;
//! what a hook writes is committed when it succeeds, and refused as a whole if it writes the
//! application databag and leadership is lost.

use super::{Event, Hook, Unit, World, principal, unit_name};
use crate::decide::rollout::{Outcome, decide};
use crate::observed::Rollout;
use crate::observed::rollout::{AppBag, Goal, Occasion, Store};
use crate::plan::Keys;

impl World {
    pub fn goal(&self) -> Goal {
        let mut goal = Goal::default();
        for unit in self.units.values() {
            let principal = principal(unit.role, unit.number);
            if unit.role == crate::databag::node::Role::ControlPlane {
                goal.control_plane.insert(principal);
            } else {
                goal.worker.insert(principal);
            }
        }
        goal
    }

    /// The application databag as this hook sees it: read once.
    pub fn snapshot(&mut self, number: u32) -> AppBag {
        let app = AppBag { fresh: true, ..self.app.clone() };
        let unit = self.units.get_mut(&number).unwrap();
        unit.seen = AppBag { fresh: false, ..app.clone() };
        app
    }

    /// Begins the next hook of a unit.
    pub fn begin(&mut self, number: u32, outside: bool) {
        let event = {
            let rng = &mut self.rng;
            let unit = self.units.get_mut(&number).unwrap();
            if outside { Event::Outside } else { next(unit, rng) }
        };
        let of = match event {
            Event::Joined(other) | Event::Changed(other) => {
                self.units.get(&other).map(|unit| unit.bag.clone())
            }
            Event::Departed(_)
            | Event::App
            | Event::Elected
            | Event::UpdateStatus
            | Event::Outside
            | Event::Departing
            | Event::Removing => None,
        };
        let unit = self.units.get_mut(&number).unwrap();
        match event {
            Event::Joined(other) | Event::Changed(other) => {
                let joined = event == Event::Joined(other) || unit.view.contains_key(&other);
                if let Some(bag) = of.filter(|_| joined) {
                    unit.view.insert(other, bag);
                }
            }
            Event::Departed(other) => {
                unit.view.remove(&other);
            }
            // Who leaves has departed from everybody.
            Event::Departing => unit.view.clear(),
            Event::App | Event::Elected | Event::UpdateStatus | Event::Outside | Event::Removing => {}
        }
        let mut rollout = self.observe(number, event);
        if self.rng.percent(60) {
            rollout.app = self.snapshot(number);
        }
        self.tell(|| format!("lockstep/{number}: {event:?}"));
        self.units.get_mut(&number).unwrap().hook = Some(Hook { event, rollout, last: None, steps: 0 });
    }

    fn observe(&self, number: u32, event: Event) -> Rollout {
        let unit = &self.units[&number];
        Rollout {
            now: self.time(),
            occasion: match event {
                Event::UpdateStatus => Occasion::UpdateStatus,
                Event::Outside => Occasion::Outside,
                Event::Departing => Occasion::Departing,
                Event::Removing => Occasion::Removing,
                Event::Joined(_) | Event::Changed(_) | Event::Departed(_) | Event::App | Event::Elected => {
                    Occasion::Hook
                }
            },
            committed: unit.committed,
            unit: unit_name(number),
            principal: Some(principal(unit.role, number)),
            machine: number.to_string(),
            architecture: unit.architecture,
            build: "0.1.0-test".to_owned(),
            role: Some(unit.role),
            as_principal: false,
            packed: None,
            foreign_owner: None,
            leader: self.leader == Some(number),
            related: true,
            own: unit.bag.clone(),
            peers: unit.view.iter().map(|(other, told)| (unit_name(*other), told.clone())).collect(),
            app: unit.seen.clone(),
            goal: None,
            source: None,
            followers: Default::default(),
            snapd: self.snapd(number),
            kube: Default::default(),
            store: Store { left: 60, ..Store::default() },
            done: Vec::new(),
            memory: unit.memory.clone(),
        }
    }

    /// One decision of a running hook. A hook that has said its last word is committed.
    pub fn step(&mut self, number: u32) {
        let hook = self.units.get_mut(&number).unwrap().hook.as_mut().unwrap();
        hook.steps += 1;
        assert!(hook.steps < 60, "no end: {:?}", hook.last.as_ref().and_then(|last| last.effect.as_ref()));
        let outcome = decide(&hook.rollout, &self.options);
        let effect = outcome.effect.clone();
        hook.last = Some(outcome);
        match effect {
            Some(effect) => {
                self.tell(|| format!("  lockstep/{number}: {effect:?}"));
                if !self.carry_out(number, &effect) || (self.faults && self.rng.percent(2)) {
                    self.lose(number, "killed");
                }
            }
            None => {
                if self.faults && self.rng.percent(4) {
                    self.lose(number, "not committed");
                } else {
                    self.commit(number);
                }
            }
        }
    }

    /// A hook that is not committed is run again.
    pub fn lose(&mut self, number: u32, why: &str) {
        self.tell(|| format!("  lockstep/{number}: {why}"));
        let unit = self.units.get_mut(&number).unwrap();
        let hook = unit.hook.take().unwrap();
        unit.committed = false;
        if hook.event != Event::Outside {
            unit.queue.push_front(hook.event);
        }
    }

    fn commit(&mut self, number: u32) {
        let leads = self.leader == Some(number);
        let hook = self.units.get_mut(&number).unwrap().hook.as_ref().unwrap();
        let outcome = hook.last.as_ref().unwrap();
        let event = hook.event;
        if !outcome.app.is_empty() && !leads {
            return self.lose(number, "not the leader any more");
        }
        let alters = hook.rollout.done.is_empty();
        assert!(outcome.app.is_empty() || alters, "leader work after an effect");
        assert!(outcome.app.is_empty() || hook.rollout.app.fresh, "written by a stale view");
        let unit = self.units.get_mut(&number).unwrap();
        let outcome = unit.hook.as_mut().and_then(|hook| hook.last.take()).unwrap();
        let view = unit.hook.take().map(|hook| hook.rollout.peers).unwrap_or_default();
        unit.committed = unit.committed || event != Event::Outside;
        unit.memory.clone_from(&outcome.memory);
        let told = unit.bag.clone();
        let changed = outcome.unit != unit.written;
        if changed {
            outcome.unit.iter().for_each(|(key, text)| unit.bag.put(key, text.as_deref()));
            unit.written.extend(outcome.unit.clone());
            self.notify(number, Event::Changed(number));
        }
        if !outcome.app.is_empty() {
            let mut app = self.app.clone();
            write_app(&mut app, &outcome.app);
            self.judge_grants(number, &view, &told, &app);
            self.app = app;
            self.notify(number, Event::App);
            self.tell(|| format!("  leader: {}", lines(&outcome)));
        }
        self.judge_report(number, &told);
        self.after(number, event);
    }

    /// What follows from a hook that was carried out.
    fn after(&mut self, number: u32, event: Event) {
        match event {
            Event::Departing => self.notify(number, Event::Departed(number)),
            Event::Removing => {
                self.units.remove(&number);
            }
            Event::Joined(_)
            | Event::Changed(_)
            | Event::Departed(_)
            | Event::App
            | Event::Elected
            | Event::UpdateStatus
            | Event::Outside => {}
        }
    }

    pub fn notify(&mut self, from: u32, event: Event) {
        for unit in self.units.values_mut().filter(|unit| unit.number != from && !unit.leaving) {
            match event {
                Event::Departed(other) => {
                    unit.queue.retain(
                        |queued| !matches!(queued, Event::Joined(o) | Event::Changed(o) if *o == other),
                    );
                    unit.queue.push_back(event);
                }
                Event::Joined(_)
                | Event::Changed(_)
                | Event::App
                | Event::Elected
                | Event::UpdateStatus
                | Event::Outside
                | Event::Departing
                | Event::Removing => {
                    if !unit.queue.contains(&event) {
                        unit.queue.push_back(event);
                    }
                }
            }
        }
    }

    pub fn elect(&mut self, number: Option<u32>) {
        self.leader = number;
        if let Some(unit) = number.and_then(|number| self.units.get_mut(&number))
            && !unit.queue.contains(&Event::Elected)
            && !unit.leaving
        {
            unit.queue.push_front(Event::Elected);
        }
        self.tell(|| format!("leader is {number:?}"));
    }
}

/// The next event: hooks of relations before update-status, a unit's join before its changes, the
/// rest in any order.
fn next(unit: &mut Unit, rng: &mut super::Rng) -> Event {
    if unit.queue.is_empty() {
        return Event::UpdateStatus;
    }
    // One that was not committed is run again first.
    if !unit.committed || unit.leaving {
        return unit.queue.pop_front().unwrap();
    }
    let place = rng.below(unit.queue.len());
    match unit.queue[place] {
        Event::Changed(other) if unit.queue.contains(&Event::Joined(other)) => {
            unit.queue.retain(|event| *event != Event::Joined(other));
            Event::Joined(other)
        }
        Event::Joined(_)
        | Event::Changed(_)
        | Event::Departed(_)
        | Event::App
        | Event::Elected
        | Event::UpdateStatus
        | Event::Outside
        | Event::Departing
        | Event::Removing => unit.queue.remove(place).unwrap(),
    }
}

pub fn write_app(app: &mut AppBag, keys: &Keys) {
    keys.iter().for_each(|(key, text)| app.put(key, text.as_deref()));
}

fn lines(outcome: &Outcome) -> String {
    outcome.log.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("; ")
}
