//! A run, for a person to read.

use crate::hook::{progress, target};
use crate::state::{End, NOBODY, State, Step};
use crate::tables::{Tables, name};
use std::fmt::Write;

impl Tables {
    /// One step, and what it changes.
    pub fn tell(&mut self, before: &State, step: Step, after: Option<&State>) -> String {
        let mut line = match step {
            Step::Pass { unit, event, lost } => {
                format!("{}: {event:?}{}", name(unit), if lost { ", not committed" } else { "" })
            }
            Step::End { unit, end, lost } => {
                let how = match end {
                    End::Done => "the move is done",
                    End::Ill => "the move is done, services are down",
                    End::Failed => "the move fails",
                    End::Later => "the store does not answer",
                    End::Orphan => "the move goes on without its client",
                };
                format!("{}: {how}{}", name(unit), if lost { ", the hook is not committed" } else { "" })
            }
            Step::Admin(action) => format!("admin: {action:?}: {}", self.admin(before, action).1),
            Step::Land { .. }
            | Step::Wait { .. }
            | Step::Elect { .. }
            | Step::Join { .. }
            | Step::Leave { .. }
            | Step::Die { .. }
            | Step::Remove { .. }
            | Step::Sicken { .. }
            | Step::Publish
            | Step::Ask => format!("{step:?}"),
        };
        let Some(after) = after else { return line };
        for unit in 0..self.bounds.roles.len() {
            let (old, new) = (&before.units[unit], &after.units[unit]);
            let told = |bag: u32| progress(self.bags.get(bag));
            if told(old.bag) != told(new.bag)
                && let Some(told) = told(new.bag)
            {
                let target = told.target.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
                let _ = write!(line, "; tells {} {target} serial {}", told.state, told.serial);
            }
            if old.machine != new.machine {
                let machine = self.machines.get(new.machine);
                let _ = write!(
                    line,
                    "; runs {}{}",
                    machine.snap.revision,
                    if machine.ill { ", ill" } else { "" }
                );
            }
            if old.running == 0 && new.running != 0 {
                let _ = write!(line, "; begins to move by serial {}", new.moving);
            }
        }
        if before.app != after.app {
            let app = self.apps.get(after.app);
            let target = target(app).map_or_else(|| "none".to_owned(), |target| target.id.to_string());
            let grants = app.granted.as_ref().unwrap().grants.iter();
            let grants: Vec<_> =
                grants.map(|grant| format!("{} serial {}", grant.unit, grant.serial)).collect();
            let skipped: Vec<_> =
                app.skipped.as_ref().unwrap().units.keys().map(ToString::to_string).collect();
            let _ = write!(line, "; target {target}, granted {grants:?}, skipped {skipped:?}");
        }
        line
    }

    /// A state.
    pub fn show(&self, state: &State) -> String {
        let leader =
            if state.leader == NOBODY { "nobody".to_owned() } else { name(state.leader).to_string() };
        let app = self.apps.get(state.app);
        let granted = &app.granted.as_ref().unwrap().grants;
        let mut text =
            format!("leader {leader}, target {:?}, granted {granted:?}", target(app).map(|t| &t.id));
        for unit in state.numbers(|unit| unit.exists()) {
            let who = state.unit(unit);
            let told = progress(self.bags.get(who.bag)).map(|told| (told.state, &told.target, told.serial));
            let machine = self.machines.get(who.machine);
            let _ =
                write!(text, "\n{} {:?} {told:?} {machine:?} retry {:?}", name(unit), who.life, who.retry);
        }
        text
    }
}
