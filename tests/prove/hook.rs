//! One pass of one unit: what it observes, the real `decide`, and the effects that only read.

use crate::state::{Admin, Event, Life, State, UNITS};
use crate::tables::{Installed, Key, Machine, NOW, Pass, Running, Tables, channel, name, revision, snap};
use lockstep::databag::node::Role;
use lockstep::databag::progress::Progress;
use lockstep::databag::target::Target;
use lockstep::decide::rollout::{Action, Answer as Acted, act, decide};
use lockstep::juju::Timestamp;
use lockstep::observed::Rollout;
use lockstep::observed::rollout::{AppBag, Goal, Occasion, Snapd, Store, Told};
use lockstep::plan::{Effect, Keys};
use lockstep::snap::{
    Alteration, Answer, Architecture, Change, ChangeId, CohortKey, Head, Heads, Info, Installed as Row,
    Local, Notes, Place, Relocation, Revision, Service, SnapdVersion, Tracking, Trouble, TroubleKind,
};
use std::collections::BTreeMap;

/// More effects than that are no pass any more.
const EFFECTS: u32 = 64;

fn key(key: Key) -> CohortKey {
    format!("after-{}-head-{}", key.after, key.head).parse().unwrap()
}

fn parse(text: &CohortKey) -> Key {
    let mut parts = text.expose().split('-');
    let mut number = || parts.nth(1).unwrap().parse::<u32>().unwrap();
    let after = number();
    Key { after, head: u8::try_from(number()).unwrap() }
}

/// What the world beside the unit gives during a pass.
#[derive(Debug, Clone, Copy)]
struct Around {
    unit: u8,
    leads: bool,
    app: u32,
    head: u8,
    newer: bool,
    /// The units that the model lists, as bits.
    listed: u32,
}

impl Around {
    fn of(state: &State, unit: u8) -> Self {
        let listed = state.numbers(|unit| unit.exists()).map(|unit| 1 << unit).sum();
        let leads = state.leader == unit;
        Self { unit, leads, app: state.app, head: state.head, newer: state.newer, listed }
    }

    fn numbers(self) -> [u32; 6] {
        let Self { unit, leads, app, head, newer, listed } = self;
        [unit.into(), leads.into(), app, head.into(), newer.into(), listed]
    }
}

impl Tables {
    /// A hook, up to its last word or to the move that it begins. The view is the one that its agent has.
    pub fn pass(&mut self, state: &State, unit: u8, event: Event) -> Pass {
        let around = Around::of(state, unit);
        let who = *state.unit(unit);
        let occasion = match event {
            Event::UpdateStatus => Occasion::UpdateStatus,
            Event::Outside => Occasion::Outside,
            Event::Departing => Occasion::Departing,
            Event::Removing => Occasion::Removing,
            Event::Joined(_) | Event::Changed(_) | Event::DepartedPeer(_) | Event::Other => Occasion::Hook,
        };
        let committed = who.retry.is_none();
        let seen = if self.bounds.cached { who.seen } else { 0 };
        let mut question = [0; 17];
        question[..6].copy_from_slice(&around.numbers());
        question[6..11].copy_from_slice(&who.view);
        let own = [1 + occasion as u32, committed.into(), who.bag, who.memory, who.machine, seen];
        question[11..].copy_from_slice(&own);
        if let Some(known) = self.passes.get(&question) {
            return *known;
        }
        let rollout = self.observe(state, unit, occasion, committed);
        let pass = self.go(around, who.machine, rollout);
        self.passes.insert(question, pass);
        pass
    }

    /// The rest of a hook whose move has ended like that. The machine is the one afterwards.
    pub fn rest(&mut self, state: &State, unit: u8, outcome: &Result<Answer, Trouble>) -> Pass {
        let around = Around::of(state, unit);
        let who = *state.unit(unit);
        // Its twelfth number is 0, that of a whole hook is not.
        let mut question = [0; 17];
        question[..6].copy_from_slice(&around.numbers());
        let how = match outcome {
            Ok(answer) => *answer as u32,
            Err(trouble) if trouble.kind == TroubleKind::Unfinished => 10,
            Err(trouble) if trouble.kind.is_transient() => 11,
            Err(_) => 12,
        };
        question[6..9].copy_from_slice(&[who.running, who.machine, how]);
        if let Some(known) = self.passes.get(&question) {
            return *known;
        }
        let Running { mut rollout, alteration } = self.running.get(who.running).clone();
        rollout.store.infos.remove(&snap());
        rollout.done.push((alteration, outcome.clone()));
        rollout.snapd = self.snapd(who.machine);
        let pass = self.go(around, who.machine, rollout);
        self.passes.insert(question, pass);
        pass
    }

    fn observe(&self, state: &State, unit: u8, occasion: Occasion, committed: bool) -> Rollout {
        let who = state.unit(unit);
        let met = (0..UNITS as u8).filter(|other| who.view[usize::from(*other)] != 0);
        let peers = met.map(|other| (name(other), self.bags.get(who.view[usize::from(other)]).clone()));
        let role = self.role(unit);
        let app = match (self.bounds.cached, who.seen) {
            (true, 0) => AppBag::default(),
            (true, seen) => self.apps.get(seen).clone(),
            (false, _) => self.apps.get(state.app).clone(),
        };
        Rollout {
            now: Timestamp(NOW),
            occasion,
            committed,
            principal: Some(self.principal(unit)),
            machine: unit.to_string(),
            architecture: Architecture::Amd64,
            role: Some(role),
            leader: state.leader == unit,
            own: self.bags.get(who.bag).clone(),
            peers: peers.collect(),
            app,
            snapd: self.snapd(who.machine),
            store: Store { left: 60, ..Store::default() },
            memory: self.memories.get(who.memory).clone(),
            ..Rollout::of_unit(name(unit), "0.1.0-prove")
        }
    }

    /// Decides until there is nothing more to be read.
    fn go(&mut self, around: Around, machine: u32, mut rollout: Rollout) -> Pass {
        for _ in 0..EFFECTS {
            self.decided += 1;
            let outcome = decide(&rollout, &self.options[usize::from(around.newer)]);
            match outcome.effect {
                None => {
                    let bag = read_unit(&rollout.own, &outcome.unit);
                    let mut memory = outcome.memory;
                    if !self.bounds.watched {
                        memory.moved.clear();
                    }
                    return Pass::Says {
                        bag: self.bags.number(bag),
                        memory: self.memories.number(memory),
                        app: if outcome.app.is_empty() { 0 } else { self.keys.number(outcome.app) },
                    };
                }
                Some(Effect::ReadAppBag) => {
                    rollout.leader &= around.leads;
                    rollout.app = AppBag { fresh: true, ..self.apps.get(around.app).clone() };
                }
                Some(Effect::ReadGoalState) => rollout.goal = Some(Ok(self.goal(around.listed))),
                Some(Effect::ReadInfo { names }) => {
                    for name in names {
                        let info = self.info(machine, around);
                        rollout.store.infos.insert(name, Ok(info));
                    }
                    rollout.app.fresh = false;
                }
                Some(Effect::CreateCohorts { names }) => {
                    let after = target(self.apps.get(around.app)).map_or(0, |target| target.id.counter());
                    let made = Key { after: u32::try_from(after).unwrap(), head: around.head };
                    let made = names.iter().map(|name| (name.clone(), key(made))).collect();
                    rollout.store.created.push((names, Ok(made)));
                    rollout.app.fresh = false;
                }
                Some(Effect::Alter(alteration @ Alteration::Move(_))) => {
                    return Pass::Moves(self.running.number(Running { rollout, alteration }));
                }
                Some(effect @ (Effect::ReadKube { .. } | Effect::Alter(_) | Effect::Collect(_))) => {
                    panic!("not in this world: {effect:?}")
                }
            }
        }
        panic!("no end of a pass of {}", rollout.unit);
    }

    /// What an admin's action writes (0: it is refused), and what the admin is told.
    pub fn admin(&mut self, state: &State, action: Admin) -> (u32, String) {
        let leader = state.leader;
        let who = *state.unit(leader);
        let mut question = Around::of(state, leader).numbers().to_vec();
        question.extend(who.view);
        let code = match action {
            Admin::Retry(unit) => u32::from(unit),
            Admin::Skip(unit) => 10 + u32::from(unit),
            Admin::Rollback => 20,
            Admin::Override => 21,
        };
        question.extend([code, who.bag, who.memory, who.machine, who.retry.is_some().into()]);
        if let Some(known) = self.acts.get(&question) {
            return known.clone();
        }
        let mut rollout = self.observe(state, leader, Occasion::Outside, who.retry.is_none());
        rollout.app = AppBag { fresh: true, ..self.apps.get(state.app).clone() };
        let action = match action {
            Admin::Retry(unit) => Action::RetryUnit { unit: name(unit) },
            Admin::Skip(unit) => Action::SkipUnit { unit: name(unit), force: false },
            Admin::Rollback => Action::Rollback,
            Admin::Override => Action::OverrideChecks { checks: "all".to_owned() },
        };
        let answer = match act(&rollout, &self.options[usize::from(state.newer)], &action) {
            Acted::Done { app, line, .. } if !app.is_empty() => (self.keys.number(app), line),
            Acted::Done { line, .. } | Acted::Refused(line) => (0, line),
            other @ (Acted::Need(_) | Acted::Report(_)) => panic!("{other:?}"),
        };
        self.acts.insert(question, answer.clone());
        answer
    }

    fn goal(&self, listed: u32) -> Goal {
        let mut goal = Goal::default();
        for unit in (0..UNITS as u8).filter(|unit| listed & (1 << unit) != 0) {
            let units = match self.role(unit) {
                Role::ControlPlane => &mut goal.control_plane,
                Role::Worker => &mut goal.worker,
            };
            units.insert(self.principal(unit));
        }
        goal
    }

    fn snapd(&self, machine: u32) -> Snapd {
        let Machine { snap: Installed { revision, newer, key }, flight, ill } = *self.machines.get(machine);
        let row = Row {
            name: snap(),
            version: Some(if newer { "1.33.0" } else { "1.32.0" }.to_owned()),
            revision: Revision::Store(revision),
            tracking: Some(Tracking { channel: channel(newer), on_branch: false }),
            notes: Notes::parse(if key.is_some() { "in-cohort" } else { "-" }),
        };
        let change = Change { id: ChangeId(1), status: "Doing".into(), ready: false, summary: String::new() };
        let service =
            Service { snap: snap(), app: "daemon".into(), enabled: true, active: !ill, on_demand: false };
        Snapd {
            installed: Ok(BTreeMap::from([(snap(), row)])),
            changes: Ok(flight.iter().map(|_| (snap(), vec![change.clone()])).collect()),
            services: Ok(BTreeMap::from([(snap(), vec![service])])),
            version: SnapdVersion::parse("2.68"),
        }
    }

    fn info(&self, machine: u32, around: Around) -> Info {
        let Installed { revision: installed, newer, key: stored } = self.machines.get(machine).snap;
        let of = |newer| {
            let version = format!("1.{}.{}", if newer { 33 } else { 32 }, around.head);
            let revision = Revision::Store(revision(around.head, newer));
            (channel(newer), Some(Head { revision, version }))
        };
        let local = Local {
            revision: Revision::Store(installed),
            tracking: Some(channel(newer)),
            cohort: stored.map(|stored| key(stored).digest()),
            hold: None,
        };
        Info { name: snap(), heads: Some(Heads(BTreeMap::from([of(false), of(true)]))), local: Some(local) }
    }

    /// Writes keys into an application databag.
    pub fn merge(&mut self, app: u32, keys: u32) -> u32 {
        if let Some(known) = self.merged.get(&(app, keys)) {
            return *known;
        }
        let mut bag = self.apps.get(app).clone();
        self.keys.get(keys).iter().for_each(|(key, text)| bag.put(key, text.as_deref()));
        let number = self.apps.number(bag);
        self.merged.insert((app, keys), number);
        number
    }

    /// What a move that a running hook has begun leads to.
    pub fn destination(&self, running: u32, from: Installed) -> Installed {
        let Alteration::Move(Relocation { channel: to, to: place, .. }) =
            &self.running.get(running).alteration
        else {
            panic!("no move")
        };
        let newer = to.as_ref().map_or(from.newer, |to| *to == channel(true));
        match place {
            Place::Cohort(text) => {
                let key = parse(text);
                Installed { revision: revision(key.head, newer), newer, key: Some(key) }
            }
            Place::Revision(Revision::Store(revision)) => Installed { revision: *revision, newer, ..from },
            Place::Revision(Revision::Local(_)) => panic!("nobody asks for a local build"),
        }
    }

    /// The revision that a target wants of a unit whose snap is like that; none: it does not say.
    pub fn wanted(&self, unit: u8, target: &Target, now: Installed) -> Option<(u32, Option<Key>)> {
        let to = target.snaps.get(&snap())?;
        let pin = to.pins.get(&self.role(unit)).and_then(|pins| pins.get(&Architecture::Amd64));
        if let Some(pin) = pin {
            let Revision::Store(revision) = pin.revision else { return None };
            return Some((revision, None));
        }
        let key = parse(to.cohort.as_ref()?);
        let newer = to.channel.as_ref().map_or(now.newer, |to| *to == channel(true));
        Some((revision(key.head, newer), Some(key)))
    }

    /// The state before any hook: nobody has met anybody, and the first unit leads.
    pub fn nothing_yet(&mut self) -> State {
        let unknown = self.bags.number(Told::default());
        let memory = self.memories.number(Default::default());
        let snap = Installed { revision: 99, newer: false, key: None };
        let machine = self.machines.number(Machine { snap, flight: None, ill: false });
        let app = self.apps.number(AppBag::default());
        let mut units = [crate::state::Unit::ABSENT; UNITS];
        let first = self.bounds.roles.len() - self.bounds.joiners;
        for (place, unit) in units.iter_mut().enumerate() {
            unit.life = if place < first { Life::Alive } else { Life::Absent };
            (unit.bag, unit.memory, unit.machine) = (unknown, memory, machine);
        }
        State {
            units,
            leader: 0,
            app,
            head: 0,
            newer: false,
            left: self.bounds.left,
            serial: 0,
            counter: 0,
            failed: 0,
        }
    }
}

/// The target of an application databag.
pub fn target(app: &AppBag) -> Option<&Target> {
    app.target.as_ref().unwrap().as_ref()
}

/// What a databag tells of progress.
pub fn progress(bag: &Told) -> Option<&Progress> {
    bag.progress.as_ref().map(|progress| progress.as_ref().unwrap())
}

pub fn trouble(kind: TroubleKind) -> Trouble {
    Trouble { text: format!("{kind:?}"), kind, command: "snap".to_owned() }
}

fn read_unit(old: &Told, keys: &Keys) -> Told {
    let mut bag = old.clone();
    keys.iter().for_each(|(key, text)| bag.put(key, text.as_deref()));
    bag
}
