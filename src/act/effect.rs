//! One effect between two decisions: a further read, or an alteration of the machine.

use crate::snap::{Alteration, Answer, Place, Relocation, Trouble};
use crate::tools::snap::{Move, Snap, SwitchTo, To};

/// Alters the machine by one command.
pub fn alter(snap: &Snap, alteration: &Alteration) -> Result<Answer, Trouble> {
    match alteration {
        Alteration::Move(to) => snap.refresh(place(to), to.ignore_running),
        Alteration::Install { to, classic } => snap.install(place(to), *classic),
        Alteration::Hold { names } => snap.hold(names).map(|()| Answer::Done),
        Alteration::Unhold { names } => snap.unhold(names).map(|()| Answer::Done),
        Alteration::LeaveCohort { name } => snap.switch(name, SwitchTo::LeaveCohort),
    }
}

fn place(to: &Relocation) -> Move<'_> {
    Move {
        name: &to.name,
        channel: to.channel.as_ref(),
        to: match &to.to {
            Place::Cohort(key) => To::Cohort(key),
            Place::Revision(revision) => To::Revision(*revision),
        },
    }
}
