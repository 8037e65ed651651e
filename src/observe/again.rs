//! What a decision asked to be read beside, and what an alteration of the machine makes stale.

use super::pass::{Observation, Observer};
use super::{collection, kube, machine, reader, rollout};
use crate::decide::collection::snap as collector;
use crate::juju::{Endpoint, Scope};
use crate::observed::Part;
use crate::observed::collection::{Done, Failure, Step};
use crate::plan::Effect;
use crate::snap::{Alteration, Answer, Trouble};
use crate::tools::ToolError;
use crate::tools::hook_tools::HookTools;

/// Carries out an effect that only reads or makes keys, and puts the answer into the observation.
/// Gives true if `is-leader` was asked. An alteration is not for here.
pub fn read_more(
    observer: &Observer<'_>,
    observation: &mut Observation,
    effect: &Effect,
) -> Result<bool, ToolError> {
    let part = &mut observation.observed.rollout;
    match effect {
        Effect::ReadAppBag => {
            app_bag(observer, observation)?;
            return Ok(true);
        }
        Effect::ReadGoalState => {
            part.goal = Some(match observer.tools.goal_state() {
                Ok(state) => Ok(rollout::goal(&state)),
                Err(error) => Err(error.to_string()),
            });
        }
        Effect::ReadInfo { names } => {
            part.store.infos.extend(observer.snap.infos(names));
            part.app.fresh = false;
        }
        Effect::ReadKube { whole } => {
            let (index, remembered) = (&observation.kept.index, &observation.observed.remembered);
            let runner = observer.snap.runner();
            part.kube.seen =
                Some(kube::read(runner, observer.context, index, remembered, &part.kube, *whole));
        }
        Effect::CreateCohorts { names } => {
            part.store.created.push((names.clone(), observer.snap.create_cohort(names)));
            part.app.fresh = false;
        }
        Effect::Alter(_) | Effect::Collect(_) => {}
    }
    observation.observed.rollout.store.left = observer.snap.store_left().as_secs();
    Ok(false)
}

/// Puts the outcome of an alteration into the observation, and reads the machine again.
pub fn altered(
    observer: &Observer<'_>,
    observation: &mut Observation,
    alteration: Alteration,
    outcome: Result<Answer, Trouble>,
) {
    let managed =
        rollout::managed(&observation.kept.index, &observation.observed.remembered, observer.context);
    let part = &mut observation.observed.rollout;
    if alteration.moves() {
        // What was seen before says nothing of what runs now.
        part.kube.seen = None;
    }
    part.done.push((alteration, outcome));
    part.snapd = machine::read(observer.snap, &observer.context.root, &managed, true);
    part.store.left = observer.snap.store_left().as_secs();
}

/// Puts the outcome of a step of collection into the observation, and looks at the collector again. What a
/// leader knows of the peers application databag may be old by then.
pub fn collected(
    observer: &Observer<'_>,
    observation: &mut Observation,
    step: Step,
    outcome: Result<Done, Failure>,
) {
    let observed = &mut observation.observed;
    let Part::Changed { part, .. } = &mut observed.collection else { return };
    if step.alters_snaps() {
        let managed = rollout::managed(&observation.kept.index, &observed.remembered, observer.context);
        let moves = rollout::may_move(&observed.rollout.own, &observed.rollout.app, &observer.context.unit);
        observed.rollout.snapd = machine::read(observer.snap, &observer.context.root, &managed, moves);
        observed.rollout.app.fresh = false;
    }
    if step == Step::ReadConnections {
        part.connections = Some(observer.snap.connections(&collector()));
    }
    part.machine = collection::machine(observer.context, &observed.rollout.snapd);
    part.done.push((step, outcome));
}

/// Asks again who leads, then reads the peers application databag afresh.
fn app_bag(observer: &Observer<'_>, observation: &mut Observation) -> Result<(), ToolError> {
    let tools: &HookTools = observer.tools;
    let leads = observation.observed.leader && tools.is_leader()?;
    let observed = &mut observation.observed;
    if !leads {
        // What a follower knows of application databags may be another's by now.
        observed.own.retain(|(_, scope), _| *scope == Scope::Unit);
    }
    (observed.leader, observed.rollout.leader) = (leads, leads);
    let peers = observation.kept.index.relations.iter_mut().find(|(id, _)| id.endpoint == Endpoint::Peers);
    if let Some((id, relation)) = peers {
        let bag = tools.relation_get_app(*id, observer.context.application())?;
        if let (true, Some(bag)) = (leads, &bag) {
            observed.own.insert((*id, Scope::App), reader::digests(bag));
        }
        relation.app_bag = Some(bag.unwrap_or_default());
    }
    observed.signed = reader::signed(&observation.kept.index).filter(|_| leads);
    observed.rollout.app = rollout::app_bag(&observation.kept.index, true);
    Ok(())
}
