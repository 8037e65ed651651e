//! Collection: a collector on this machine scrapes the principals' jobs and ships the lines of their log
//! slots. Metrics and lines do not need each other.
//!
//! What is wanted (`wish`) becomes one file of this unit (`render`); one step after the other makes the
//! machine so (`setup`), or takes all of it back (`leave`), as long as facts differ from it. lockstep
//! yields to every other collector on the machine, so that no two programs fight over it. It takes no
//! part in rollouts: its snap is no managed snap, and nothing is done here while this unit moves.

mod leave;
mod logs;
mod metrics;
pub mod places;
mod render;
mod setup;
mod shared;
#[cfg(test)]
pub(crate) mod tests;
mod wish;

pub use render::{Rendered, Wanted, id_of, probe, render};
pub use shared::{bundle, revision, snap};

use crate::databag::Digest;
use crate::databag::charm_state::{CollectionMemory, Setback};
use crate::databag::collected::Collected;
use crate::juju::{Level, Status, Timestamp};
use crate::observed::collection::{Collection, Done, Failure, Occasion, Step};
use crate::snap::Alteration;
use wish::Wish;

/// Delays before a step that failed is tried again, in seconds; the last one repeats.
const DELAYS: [u64; 4] = [60, 120, 300, 600];
/// After a start the service is looked at again: one that does not stay up counts as started at once.
const LOOK_AGAIN: u64 = 60;

/// So many steps are taken in one pass; what is left, such as a hundred log slots, is for the next.
const STEPS: usize = 30;
/// How soon that is, in seconds.
const SOON: u64 = 5;

/// What collection wants to be true.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Most important first; empty where nothing is to be collected.
    pub statuses: Vec<Status>,
    /// The next step, and what the unit shows meanwhile.
    pub step: Option<(Step, Option<Status>)>,
    /// What is remembered.
    pub memory: CollectionMemory,
    /// What the peers are told: `None` leaves it as it is, `Some(None)` takes it away.
    pub collected: Option<Option<Collected>>,
    /// In how many seconds it wants to look again.
    pub follow_up: Option<u64>,
}

/// What is to be done next, or that nothing is.
#[derive(Debug)]
enum Way {
    /// That step.
    Go(Box<Step>, Option<Status>),
    /// A step failed: again later.
    Stuck(Status),
    /// Nothing is left to do, whatever that means.
    Settled(Vec<Status>),
}

impl Way {
    fn go(step: Step, during: Option<Status>) -> Self {
        Self::Go(Box::new(step), during)
    }
}

/// Decides the next step. `on`: the option `collect`; `gate`: the digest of what is looked at.
pub fn decide(part: &Collection, on: bool, gate: Digest) -> Outcome {
    let mut memory = part.memory.clone();
    learn(part, &mut memory);
    if part.occasion == Occasion::Leaving {
        return Outcome { memory, ..Outcome::default() };
    }
    let (mut statuses, wish) = wish::of(part, on, &memory);
    let (way, collected) = match &wish {
        Wish::Nothing => (leave::next(part, &mut memory), Some(None)),
        Wish::AsItIs => (Way::Settled(Vec::new()), None),
        Wish::Collect(wanted) => {
            let waits =
                memory.trouble.as_ref().filter(|setback| part.done.is_empty() && part.now < setback.again);
            if let Some(setback) = waits {
                statuses.push(setback.status.clone());
                let follow_up = Some(setback.again.0.saturating_sub(part.now.0).max(1));
                // What has changed meanwhile is looked at then.
                memory.gate = Some(gate);
                return Outcome { statuses, follow_up, memory, ..Outcome::default() };
            }
            setup::next(part, wanted, &mut memory)
        }
    };
    let mut outcome = Outcome { collected, ..Outcome::default() };
    match way {
        Way::Go(step, during) => {
            // Should the step not be taken in this pass, the next one looks again.
            statuses.extend(during.clone());
            memory.gate = None;
            if part.done.len() < STEPS {
                outcome.step = Some((*step, during));
            } else {
                outcome.follow_up = Some(SOON);
            }
        }
        Way::Stuck(status) => {
            let tries = part.memory.trouble.as_ref().map_or(0, |setback| setback.tries);
            let delay = DELAYS.get(tries as usize).or(DELAYS.last()).copied().unwrap_or(LOOK_AGAIN);
            let again = Timestamp(part.now.0 + delay);
            statuses.push(status.clone());
            memory.trouble = Some(Setback { tries: tries.saturating_add(1), again, status });
            memory.gate = Some(gate);
            outcome.follow_up = Some(delay);
        }
        Way::Settled(found) => {
            statuses.extend(found);
            memory.trouble = None;
            memory.gate = Some(gate);
            let started = part.done.iter().any(|(step, _)| matches!(step, Step::Start | Step::Restart));
            outcome.follow_up = started.then_some(LOOK_AGAIN);
        }
    }
    outcome.statuses = statuses;
    outcome.memory = memory;
    outcome
}

/// What the steps of this pass have shown.
fn learn(part: &Collection, memory: &mut CollectionMemory) {
    for (step, outcome) in &part.done {
        match (step, outcome) {
            (Step::Validate { text }, Ok(Done::Done)) => memory.validated = Some(Digest::of(text.expose())),
            (Step::Probe { .. }, Ok(Done::Culprits(culprits))) => {
                let told =
                    culprits.iter().filter_map(|unit| Some((unit.clone(), part.sources.get(unit)?.digest)));
                memory.refused.extend(told);
            }
            // Somebody else may have started the service in between.
            (Step::Place { .. } | Step::Bundle { .. } | Step::Alter(Alteration::Install { .. }), Ok(_)) => {
                memory.applied = None;
            }
            (Step::Start | Step::Restart, Ok(_)) => memory.applied = Some(in_force(part)),
            (Step::Stop | Step::RemoveSnap, Ok(_)) => memory.applied = None,
            (Step::Connect { slot }, Ok(_)) => drop(memory.connected.insert(slot.clone())),
            // One that could not be taken off is not ours any more: it harms nothing.
            (Step::Disconnect { slot }, _) => drop(memory.connected.remove(slot)),
            _ => {}
        }
    }
    memory
        .refused
        .retain(|unit, digest| part.sources.get(unit).is_some_and(|source| source.digest == *digest));
}

/// What the service reads at its start, as it is on the machine now.
fn in_force(part: &Collection) -> Digest {
    let machine = &part.machine;
    let own = machine.files.get(&file_name(part)).map(|file| file.digest);
    let revision =
        machine.installed.as_ref().ok().and_then(Option::as_ref).map(|installed| installed.revision);
    Digest::of(&format!("{own:?} {:?} {:?} {revision:?}", machine.bundle, machine.mounts))
}

/// The name of this unit's file.
fn file_name(part: &Collection) -> String {
    format!("{}.yaml", id_of(&part.unit))
}

/// The outcome of a step in this pass.
fn outcome_of<'a>(part: &'a Collection, step: &Step) -> Option<&'a Result<Done, Failure>> {
    part.done.iter().rev().find(|(done, _)| done == step).map(|(_, outcome)| outcome)
}

/// A step that must succeed; `cannot` begins the line that tells that it did not.
fn need(part: &Collection, step: Step, during: Option<Status>, cannot: &str) -> Way {
    match outcome_of(part, &step) {
        None => Way::go(step, during),
        Some(Ok(_)) => Way::Stuck(Status::new(Level::Waiting, format!("{cannot}: it had no effect yet"))),
        Some(Err(failure)) => {
            let level = if failure.transient { Level::Waiting } else { Level::Blocked };
            Way::Stuck(Status::new(level, format!("{cannot}: {}", failure.text)))
        }
    }
}
