//! Takes back what this unit did to the machine. The snap goes with its last user; as long as there are
//! others it is started anew without this unit's file. The lock goes last: as long as it is there, a
//! later pass finds what is left to do.

use super::{Way, file_name, need, outcome_of, setup, shared};
use crate::databag::charm_state::CollectionMemory;
use crate::observed::collection::{Collection, Occasion, Step};

/// The next step, as long as anything of this unit is left.
pub(super) fn next(part: &Collection, memory: &mut CollectionMemory) -> Way {
    match steps(part, memory) {
        Err(way) => way,
        Ok(()) => {
            *memory = CollectionMemory::default();
            Way::Settled(Vec::new())
        }
    }
}

fn steps(part: &Collection, memory: &mut CollectionMemory) -> Result<(), Way> {
    let machine = &part.machine;
    let own = file_name(part);
    let locked = machine.locks.values().any(|owner| owner.as_ref() == Some(&part.unit));
    let here = locked || machine.bundle.is_some() || machine.files.contains_key(&own);
    if !here && memory.applied.is_none() && memory.connected.is_empty() {
        return Ok(());
    }
    let installed = matches!(machine.installed, Ok(Some(_)));
    let others = machine.locks.values().any(|owner| owner.as_ref() != Some(&part.unit))
        || machine.files.keys().any(|name| *name != own);
    if installed {
        if let Some(slot) = setup::unwanted(part, memory, [].iter()) {
            return Err(Way::go(Step::Disconnect { slot }, None));
        }
        if !others {
            if machine.active {
                attempt(part, Step::Stop)?;
            }
            if locked {
                attempt(part, Step::RemoveSnap)?;
            }
        }
    }
    if here {
        return Err(need(part, Step::Withdraw, None, "cannot take the collector's file away"));
    }
    let withdrawn = outcome_of(part, &Step::Withdraw).is_some();
    if installed && others && (withdrawn || memory.applied.is_some()) {
        attempt(part, Step::Restart)?;
    }
    // Connections that others name stay theirs.
    memory.connected.clear();
    memory.applied = None;
    Ok(())
}

/// A step that need not succeed in the last hook; before that, what may pass is waited for.
fn attempt(part: &Collection, step: Step) -> Result<(), Way> {
    match outcome_of(part, &step) {
        None => Err(Way::go(step, None)),
        Some(Err(failure)) if failure.transient && part.occasion != Occasion::Removing => {
            Err(need(part, step, None, &format!("cannot take {} away", shared::snap())))
        }
        Some(_) => Ok(()),
    }
}
