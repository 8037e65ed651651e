//! Beginning a change, and looking changes up.

use std::collections::BTreeSet;

use super::{Change, Effect, Move, Starter};
use crate::world::{Time, World};

/// What a change is made from.
#[derive(Debug, Default)]
pub struct NewChange {
    /// `refresh-snap`
    pub kind: &'static str,
    /// For people.
    pub summary: String,
    /// What it moves.
    pub moves: Vec<Move>,
    /// What its end does.
    pub effects: Vec<Effect>,
    /// Snaps beyond those that it moves.
    pub snaps: Vec<String>,
    /// How long it takes.
    pub millis: u64,
    /// It will fail so.
    pub fails: Option<String>,
}

impl World {
    /// Begins a change; gives its id.
    pub(crate) fn begin_change(&mut self, machine: &str, by: &Starter, new: NewChange) -> u32 {
        let now = self.clock;
        self.begin_change_at(machine, by, new, now)
    }

    /// Begins a change at a moment that the clock may have passed already.
    pub(crate) fn begin_change_at(&mut self, machine: &str, by: &Starter, new: NewChange, at: Time) -> u32 {
        let Some(snapd) = self.machines.get_mut(machine).map(|m| &mut m.snapd) else { return 0 };
        let id = snapd.next_change;
        snapd.next_change += 1;
        let mut snaps: Vec<String> = new.moves.iter().map(|m| m.snap.clone()).chain(new.snaps).collect();
        snaps.dedup();
        snapd.changes.push(Change {
            id,
            kind: new.kind.to_owned(),
            summary: new.summary,
            snaps,
            by: by.clone(),
            spawn: at,
            due: at.plus(new.millis),
            ready: None,
            error: None,
            moves: new.moves,
            effects: new.effects,
            fails: new.fails,
        });
        id
    }

    /// A change by its id.
    pub fn change(&self, machine: &str, id: u32) -> Option<&Change> {
        self.machines.get(machine)?.snapd.changes.iter().find(|change| change.id == id)
    }

    /// All changes that run now, with their machines.
    pub fn running_changes(&self) -> Vec<(&str, &Change)> {
        let all = self.machines.iter();
        all.flat_map(|(id, machine)| machine.snapd.running().map(|c| (id.as_str(), c))).collect()
    }

    /// The greatest number of machines that ever had a change of this sort at the same moment.
    pub fn machines_at_once(&self, counts: impl Fn(&str, &Change) -> bool) -> usize {
        let all =
            self.machines.iter().flat_map(|(id, m)| m.snapd.changes.iter().map(move |c| (id.as_str(), c)));
        let all: Vec<(&str, &Change)> = all.filter(|(id, change)| counts(id, change)).collect();
        let at = |moment: Time| {
            let open = |c: &Change| c.spawn <= moment && c.ready.is_none_or(|ready| moment < ready);
            let ids: BTreeSet<&str> = all.iter().filter(|(_, c)| open(c)).map(|(id, _)| *id).collect();
            ids.len()
        };
        all.iter().map(|(_, change)| at(change.spawn)).max().unwrap_or(0)
    }
}
