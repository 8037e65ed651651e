//! What the model's world is at one moment, and what can happen in it. Numbers stand for data that is
//! kept once, in [`crate::tables`].

use lockstep::databag::node::Role;

/// The most units that a model has.
pub const UNITS: usize = 5;
/// No unit.
pub const NOBODY: u8 = u8::MAX;

/// How a unit stands in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Life {
    /// Not there yet.
    Absent,
    Alive,
    /// Juju has marked it as departing: what it writes reaches nobody, but it may not know yet.
    Leaving,
    /// It has been told.
    Departed,
    /// Its machine has stopped; it is in the model until somebody removes it.
    Dead,
    Gone,
}

/// A hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    Joined(u8),
    Changed(u8),
    DepartedPeer(u8),
    /// Any hook that tells of no peer: of the application databag, the options, an election.
    Other,
    UpdateStatus,
    /// A pass outside of hooks.
    Outside,
    Departing,
    Removing,
}

/// One unit and its machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Unit {
    pub life: Life,
    /// Its databag, as committed.
    pub bag: u32,
    /// Its charm state, as committed.
    pub memory: u32,
    pub machine: u32,
    /// The hook that is in the middle of a move; 0: none.
    pub running: u32,
    /// That hook.
    pub event: Option<Event>,
    /// What its agent has of each other unit's databag; 0: not met.
    pub view: [u32; UNITS],
    /// The hook that was not committed and comes again.
    pub retry: Option<Event>,
    /// For the judge: the serial by which it moves, until its answer is committed; 0: none.
    pub moving: u32,
    /// The application databag as its last pass read it.
    pub seen: u32,
}

/// All of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    pub units: [Unit; UNITS],
    pub leader: u8,
    pub app: u32,
    /// How often the store has published a revision.
    pub head: u8,
    /// Whether the option `channel` asks for the newer one.
    pub newer: bool,
    pub left: Budget,
    /// For the judge: the highest serial and the highest counter of a target so far.
    pub serial: u32,
    pub counter: u32,
    /// For the judge: the counter of the target for which a leader has read a failure that no admin has
    /// answered; 0: none.
    pub failed: u32,
}

/// What may still happen that need not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    pub faults: u8,
    /// Published revisions and wanted channels.
    pub targets: u8,
    pub admin: u8,
}

/// How a move ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    Done,
    /// Done, and services do not come up.
    Ill,
    /// Undone by snapd.
    Failed,
    /// The store did not answer.
    Later,
    /// The client was ended, the change goes on.
    Orphan,
}

/// What an admin does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Admin {
    Retry(u8),
    Skip(u8),
    Rollback,
    Override,
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A hook up to its end, or up to the move that it begins. `lost`: killed before that, or not
    /// committed.
    Pass {
        unit: u8,
        event: Event,
        lost: bool,
    },
    /// The move ends, and with it the hook. `lost`: killed after the move, or not committed.
    End {
        unit: u8,
        end: End,
        lost: bool,
    },
    /// A change that went on without its client is through.
    Land {
        unit: u8,
    },
    /// The delay after a trouble is over.
    Wait {
        unit: u8,
    },
    Elect {
        unit: u8,
    },
    Join {
        unit: u8,
    },
    Leave {
        unit: u8,
    },
    Die {
        unit: u8,
    },
    /// A dead unit is removed from the model.
    Remove {
        unit: u8,
    },
    /// Its services fail.
    Sicken {
        unit: u8,
    },
    Publish,
    /// The option `channel` asks for another channel.
    Ask,
    Admin(Admin),
}

/// A search: who takes part, and what may happen how often.
#[derive(Debug, Clone)]
pub struct Bounds {
    pub roles: Vec<Role>,
    /// So many of them join later.
    pub joiners: usize,
    pub parallelism: usize,
    pub left: Budget,
    /// Begins before the first hooks; else when all have completed the first target.
    pub fresh: bool,
    pub faults: Faults,
    /// Whether an admin asks for a channel, too.
    pub channels: bool,
    /// Whether a hook that moves nothing may be lost, and passes outside of hooks happen.
    pub outside: bool,
    /// Whether a pass begins with the application databag that the one before had read.
    pub cached: bool,
    /// Whether units that do not lead hear of the others; they make nothing of it unless they come to lead.
    pub followers_hear: bool,
    /// Whether it is watched if somebody moves a snap back.
    pub watched: bool,
}

/// The kinds of fault that happen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// Hooks killed in or after a move, or not committed.
    pub lost: bool,
    /// Moves that fail, are to be tried later, or leave services down.
    pub moves: bool,
    /// Changes that outlive their client.
    pub orphans: bool,
    /// Another leader.
    pub elections: bool,
    /// Units that leave, join and die.
    pub people: bool,
    /// Services that fail by themselves.
    pub illness: bool,
}

impl Faults {
    /// All of them.
    pub const ALL: Self =
        Self { lost: true, moves: true, orphans: true, elections: true, people: true, illness: true };
}

impl Unit {
    pub const ABSENT: Self = Self {
        life: Life::Absent,
        bag: 0,
        memory: 0,
        machine: 0,
        running: 0,
        event: None,
        view: [0; UNITS],
        retry: None,
        moving: 0,
        seen: 0,
    };

    /// Whether its agent runs hooks.
    pub fn works(&self) -> bool {
        matches!(self.life, Life::Alive | Life::Leaving | Life::Departed)
    }

    /// Whether the model lists it.
    pub fn exists(&self) -> bool {
        self.works() || self.life == Life::Dead
    }
}

impl State {
    /// The numbers of the units that satisfy a condition.
    pub fn numbers<F: Fn(&Unit) -> bool>(&self, is: F) -> impl Iterator<Item = u8> + use<F> {
        let units = self.units;
        (0..UNITS as u8).filter(move |number| is(&units[usize::from(*number)]))
    }

    /// All of it as words, for its fingerprint.
    pub fn words(&self) -> [u32; 13 * UNITS + 6] {
        let mut words = [0; 13 * UNITS + 6];
        for (unit, words) in self.units.iter().zip(words.chunks_exact_mut(13)) {
            let life = unit.life as u32 | code(unit.event) << 8 | code(unit.retry) << 16;
            words[..8].copy_from_slice(&[
                life,
                unit.bag,
                unit.memory,
                unit.machine,
                unit.running,
                unit.moving,
                unit.seen,
                0,
            ]);
            words[8..].copy_from_slice(&unit.view);
        }
        let Budget { faults, targets, admin } = self.left;
        let small = [self.leader, faults, targets, admin];
        let own = [self.app, u32::from(self.head) << 1 | u32::from(self.newer), self.serial, self.counter];
        words[13 * UNITS..13 * UNITS + 4].copy_from_slice(&own);
        words[13 * UNITS + 4] = u32::from_le_bytes(small);
        words[13 * UNITS + 5] = self.failed;
        words
    }

    pub fn unit(&self, number: u8) -> &Unit {
        &self.units[usize::from(number)]
    }

    pub fn unit_mut(&mut self, number: u8) -> &mut Unit {
        &mut self.units[usize::from(number)]
    }
}

fn code(event: Option<Event>) -> u32 {
    match event {
        None => 0,
        Some(Event::Joined(unit)) => 10 + u32::from(unit),
        Some(Event::Changed(unit)) => 20 + u32::from(unit),
        Some(Event::DepartedPeer(unit)) => 30 + u32::from(unit),
        Some(Event::Other) => 1,
        Some(Event::UpdateStatus) => 2,
        Some(Event::Outside) => 3,
        Some(Event::Departing) => 4,
        Some(Event::Removing) => 5,
    }
}
