//! The leader: which grants have ended, and who may go next.
//!
//! Ending grants and adding the next are one write. Whoever is not surely finished keeps its grant;
//! there is never a second one in silence.

use super::super::options::{CohortRefresh, Pause};
use super::members::Member;
use super::order;
use super::view::View;
use crate::databag::Line;
use crate::databag::granted::{Grant, Granted};
use crate::databag::node::Role;
use crate::databag::progress::State;
use crate::databag::skipped::Skipped;
use crate::databag::target::{Goal, Kind, Target};
use crate::juju::{Timestamp, UnitName};
use crate::observed::rollout::{Goal as Model, Occasion};
use crate::plan::Effect;
use crate::snap::{Architecture, Channel, SnapName};
use std::collections::BTreeMap;

/// What the leader makes of grants.
#[derive(Debug, Clone)]
pub struct Grants {
    /// What has to be read first.
    pub need: Option<Effect>,
    /// The grants as they shall be.
    pub granted: Granted,
    /// Who is passed over, without those that tell something new.
    pub skipped: Skipped,
    /// Why nobody (more) may go.
    pub wait: Option<Wait>,
    /// Principals that no unit has reported, and since when that is known.
    pub unreported: BTreeMap<UnitName, Timestamp>,
    /// What has happened, for the log.
    pub news: Vec<News>,
}

/// What has happened to a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// It was given.
    Granted(Grant),
    /// Its holder has answered.
    Answered(Grant, State),
    /// Its holder is gone.
    Gone(Grant),
    /// A unit that was taken for dead tells something new.
    Revived(UnitName),
}

/// Why nobody (more) may go, as far as there is anybody who would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// This unit may not have met everybody yet.
    FirstUpdateStatus,
    /// This unit is itself leaving.
    Leaving,
    /// The holder of a grant is not listed.
    Unlisted(UnitName),
    /// A unit has failed.
    Failed {
        /// Which.
        unit: UnitName,
        /// Why.
        cause: Option<Line>,
        /// On the way back.
        back: bool,
    },
    /// That unit runs another charm build.
    Build(UnitName),
    /// That unit's snap follows a channel that the target neither leads to nor comes from.
    Elsewhere(UnitName, Box<Elsewhere>),
    /// The window is closed.
    Window,
    /// `cohort-refresh` is off.
    Off,
    /// The application that is followed has not completed.
    Source,
    /// After a unit, until an admin resumes.
    Paused,
    /// That control-plane unit is not healthy.
    Unhealthy(UnitName, Option<Line>),
    /// These principals have not been reported.
    Unreported(Vec<UnitName>),
    /// `goal-state` cannot be read.
    NoGoal,
    /// Others are at work.
    Others,
}

/// A snap that somebody has moved to a channel of which the target does not speak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elsewhere {
    /// The snap.
    pub name: SnapName,
    /// What it follows.
    pub tracks: Channel,
    /// Where the target leads.
    pub wanted: Channel,
}

/// The snap of a member that somebody has moved to another channel: it is not taken from him.
pub fn elsewhere(member: &Member<'_>, target: &Target, architecture: Architecture) -> Option<Elsewhere> {
    member.node?.snaps.iter().filter(|(_, snap)| snap.exempt.is_none()).find_map(|(name, snap)| {
        let (Goal::Cohort { channel, .. } | Goal::Revision { channel, .. }) =
            target.snaps.get(name)?.goal(member.role, architecture)
        else {
            return None;
        };
        let (wanted, tracks) = (channel?, snap.channel.as_ref()?);
        let known = target.is_known(name, tracks);
        (!known).then(|| Elsewhere { name: name.clone(), tracks: tracks.clone(), wanted: wanted.clone() })
    })
}

/// Ends grants and gives new ones.
pub fn decide(view: &View<'_>) -> Grants {
    let mut grants = Grants {
        need: None,
        granted: view.granted.clone(),
        skipped: view.skipped.clone(),
        wait: None,
        unreported: still_unreported(view),
        news: Vec::new(),
    };
    revive(view, &mut grants);
    end(view, &mut grants);
    if let Some(target) = view.target {
        match may_grant(view, target, &grants.granted) {
            Err(wait) => {
                let waited_for = [target.first_role(), target.first_role().other()]
                    .into_iter()
                    .any(|role| !order::waiting(view, role, target, &grants.granted).is_empty());
                let failed = matches!(wait, Wait::Failed { .. });
                grants.wait = (waited_for || failed).then_some(wait);
            }
            Ok(()) => give(view, target, &mut grants),
        }
    }
    grants
}

/// The principals that were missing, without those that a unit has reported since.
fn still_unreported(view: &View<'_>) -> BTreeMap<UnitName, Timestamp> {
    let reported = reported(view);
    let mut unreported = view.memory().unreported.clone();
    unreported.retain(|unit, _| !reported.contains(&unit) && !view.is_listed(unit));
    unreported
}

/// The principals whose unit has its role: one that is still being related is no member yet, and
/// nobody may pass it.
fn reported<'a>(view: &View<'a>) -> Vec<&'a UnitName> {
    let told = std::iter::once(&view.rollout.own).chain(view.rollout.peers.values());
    let nodes = told.filter_map(|told| told.node.as_ref()?.as_ref().ok());
    nodes.filter(|node| node.role.is_some()).filter_map(|node| node.principal.as_ref()).collect()
}

/// Takes units that were passed over as dead and tell something new back in.
fn revive(view: &View<'_>, grants: &mut Grants) {
    let back = |unit: &UnitName| {
        view.skipped.units.get(unit).is_some_and(|skip| skip.dead.is_some())
            && view.is_listed(unit)
            && !view.is_skipped(unit)
    };
    let revived: Vec<UnitName> = view.skipped.units.keys().filter(|unit| back(unit)).cloned().collect();
    for unit in revived {
        grants.skipped.units.remove(&unit);
        grants.news.push(News::Revived(unit));
    }
}

/// Ends the grants whose holders have answered or are gone.
fn end(view: &View<'_>, grants: &mut Grants) {
    for grant in &view.granted.grants {
        if let Some(state) = answer(view, grant) {
            grants.news.push(News::Answered(grant.clone(), state));
            grants.granted.grants.retain(|other| other.serial != grant.serial);
            continue;
        }
        match is_gone(view, grant) {
            Gone::Yes => {
                grants.news.push(News::Gone(grant.clone()));
                grants.granted.grants.retain(|other| other.serial != grant.serial);
            }
            Gone::Ask => grants.need = Some(Effect::ReadGoalState),
            Gone::No => {}
        }
    }
}

/// The answer to a grant that ends it. `failed` does so only once the target is another: until then
/// the slot stays taken, so that nobody moves after it by a stale view.
fn answer(view: &View<'_>, grant: &Grant) -> Option<State> {
    let progress = view.progress(&grant.unit)?;
    let ends = match progress.state {
        State::Completed | State::Ready => progress.serial >= grant.serial,
        State::Failed => {
            progress.serial >= grant.serial
                && view.target.is_none_or(|target| {
                    target.id != grant.target && progress.target.as_ref() != Some(&target.id)
                })
        }
        State::Upgrading => false,
    };
    ends.then_some(progress.state)
}

enum Gone {
    Yes,
    No,
    /// It may be: `goal-state` tells.
    Ask,
}

/// Whether the holder of a grant is gone: this unit had joined it, or an update-status says that it
/// has met everybody; it is not listed; and `goal-state` lists its principal no more.
fn is_gone(view: &View<'_>, grant: &Grant) -> Gone {
    let met = view.memory().joined.contains(&grant.unit) || view.rollout.occasion == Occasion::UpdateStatus;
    if view.is_listed(&grant.unit) || !met {
        return Gone::No;
    }
    match &view.rollout.goal {
        None => Gone::Ask,
        Some(Err(_)) => Gone::No,
        Some(Ok(goal)) => match is_expected(view, goal, &grant.unit, grant.principal.as_ref()) {
            Some(false) => Gone::Yes,
            Some(true) | None => Gone::No,
        },
    }
}

/// Whether `goal-state` lists a unit by its principal (a principal charm: the unit itself); none
/// where it cannot tell, because it does not list this unit either.
fn is_expected(view: &View<'_>, goal: &Model, unit: &UnitName, principal: Option<&UnitName>) -> Option<bool> {
    let rollout = view.rollout;
    let listed =
        |principal: &UnitName| goal.control_plane.contains(principal) || goal.worker.contains(principal);
    if rollout.as_principal {
        return goal.units.contains(&rollout.unit).then(|| goal.units.contains(unit));
    }
    let sound = rollout.role.is_none() || rollout.principal.as_ref().is_some_and(listed);
    sound.then(|| principal.map(listed)).flatten()
}

/// Whether anybody may be granted now, and if not the first reason.
fn may_grant(view: &View<'_>, target: &Target, granted: &Granted) -> Result<(), Wait> {
    let rollout = view.rollout;
    if view.memory().leaving || matches!(rollout.occasion, Occasion::Departing | Occasion::Removing) {
        return Err(Wait::Leaving);
    }
    if !view.has_met() {
        return Err(Wait::FirstUpdateStatus);
    }
    if let Some((member, progress)) = view.failure(granted) {
        let (unit, cause) = (member.unit.clone(), progress.cause.clone());
        return Err(Wait::Failed { unit, cause, back: target.rollback });
    }
    if let Some(grant) = granted.grants.iter().find(|grant| !view.is_listed(&grant.unit)) {
        return Err(Wait::Unlisted(grant.unit.clone()));
    }
    if target.kind == Kind::Upgrade {
        let other =
            |member: &&Member<'_>| !runs_build(member, &rollout.build) && !view.is_skipped(member.unit);
        if let Some(member) = view.members.values().find(other) {
            return Err(Wait::Build(member.unit.clone()));
        }
    }
    if target.kind == Kind::Cohort && !target.rollback {
        if view.options.cohort_refresh == CohortRefresh::Off {
            return Err(Wait::Off);
        }
        if !view.options.window.is_open(rollout.now) {
            return Err(Wait::Window);
        }
    }
    if !source_has_completed(view) {
        return Err(Wait::Source);
    }
    if is_paused(view, target, granted) {
        return Err(if granted.grants.is_empty() { Wait::Paused } else { Wait::Others });
    }
    Ok(())
}

fn runs_build(member: &Member<'_>, build: &str) -> bool {
    member.node.is_some_and(|node| node.build.as_str() == build)
}

/// Where another application is followed, it must say that its control plane has completed.
fn source_has_completed(view: &View<'_>) -> bool {
    view.source().is_none_or(|source| match &source.offer {
        Some(Ok(offer)) => offer.state.completed,
        Some(Err(_)) | None => false,
    })
}

/// Whether the rollout pauses: after the first unit of each role or after every unit, until an admin
/// has resumed behind that unit's serial.
pub fn is_paused(view: &View<'_>, target: &Target, granted: &Granted) -> bool {
    let served = || {
        let held = granted
            .grants
            .iter()
            .filter(|grant| grant.target == target.id)
            .map(|grant| (grant.role, grant.serial));
        let answered = view.members.values().filter_map(|member| {
            let progress = member.progress.filter(|progress| progress.target.as_ref() == Some(&target.id))?;
            Some((member.role, progress.serial))
        });
        held.chain(answered).filter(|(_, serial)| *serial > target.serial)
    };
    let resumed = view.skipped.resumed;
    match view.options.pause {
        Pause::None => false,
        Pause::All => served().any(|(_, serial)| serial > resumed),
        Pause::First => [Role::ControlPlane, Role::Worker].into_iter().any(|role| {
            let of_role = served().filter(|(other, _)| *other == role).map(|(_, serial)| serial);
            of_role.min().is_some_and(|first| first > resumed)
        }),
    }
}

/// Gives grants as far as the rules allow.
fn give(view: &View<'_>, target: &Target, grants: &mut Grants) {
    let first = target.first_role();
    let role = if view.is_through(first, target, &grants.granted) { first.other() } else { first };
    if role != first
        && let Err(wait) = everybody_is_there(view, target, role, grants)
    {
        grants.wait = wait;
        return;
    }
    loop {
        let (next, wait) = next(view, target, role, &grants.granted);
        grants.wait = wait;
        let Some(member) = next else { return };
        let principal = member.node.and_then(|node| node.principal.clone());
        let serial = grants.granted.grant(member.unit.clone(), principal, role, target.id.clone());
        let given = grants.granted.grants.iter().find(|grant| grant.serial == serial);
        grants.news.extend(given.cloned().map(News::Granted));
        if is_paused(view, target, &grants.granted) {
            return;
        }
    }
}

/// The next unit of a role that may go, and why nobody may.
pub fn next<'v, 'a>(
    view: &'v View<'a>,
    target: &Target,
    role: Role,
    granted: &Granted,
) -> (Option<&'v Member<'a>>, Option<Wait>) {
    let waiting = order::waiting(view, role, target, granted);
    if waiting.is_empty() {
        return (None, None);
    }
    if !has_slot(view, role, granted) {
        return (None, Some(Wait::Others));
    }
    let mut wait = None;
    for member in waiting {
        if !runs_build(member, &view.rollout.build) {
            wait = wait.or(Some(Wait::Build(member.unit.clone())));
            continue;
        }
        let away = member.node.and_then(|node| elsewhere(member, target, node.architecture));
        if let Some(away) = away {
            wait = wait.or(Some(Wait::Elsewhere(member.unit.clone(), Box::new(away))));
            continue;
        }
        match health_gate(view, target, member) {
            None => return (Some(member), None),
            Some(blocked) => wait = wait.or(Some(blocked)),
        }
    }
    (None, wait)
}

/// Whether a role has room for one more: a control-plane unit goes alone, and workers go only while
/// no control-plane unit does.
pub fn has_slot(view: &View<'_>, role: Role, granted: &Granted) -> bool {
    match role {
        Role::ControlPlane => granted.grants.is_empty(),
        Role::Worker => {
            granted.grants.iter().all(|grant| grant.role == Role::Worker)
                && granted.grants.len() < view.options.worker_parallelism
        }
    }
}

/// A healthy control-plane unit goes only if every other one is healthy; an unhealthy one may be
/// mended by the move.
pub fn health_gate(view: &View<'_>, target: &Target, candidate: &Member<'_>) -> Option<Wait> {
    if candidate.role != Role::ControlPlane || !candidate.is_healthy(target) {
        return None;
    }
    let ill = view
        .in_role(Role::ControlPlane)
        .find(|member| member.unit != candidate.unit && !member.is_healthy(target))?;
    let why = ill.node.and_then(|node| node.health.bad().cloned());
    Some(Wait::Unhealthy(ill.unit.clone(), why))
}

/// Before the first grant of the second role: every principal that the model knows of has been
/// reported, or was waited for long enough.
fn everybody_is_there(
    view: &View<'_>,
    target: &Target,
    role: Role,
    grants: &mut Grants,
) -> Result<(), Option<Wait>> {
    if order::waiting(view, role, target, &grants.granted).is_empty() {
        return Err(None);
    }
    let begun = view.members.values().filter(|member| member.role == role).any(|member| {
        member.progress.is_some_and(|progress| {
            progress.target.as_ref() == Some(&target.id) && progress.serial > target.serial
        })
    });
    let held = grants.granted.grants.iter().any(|grant| grant.role == role && grant.target == target.id);
    if begun || held {
        return Ok(());
    }
    let goal = match &view.rollout.goal {
        None => {
            grants.need = Some(Effect::ReadGoalState);
            return Err(Some(Wait::NoGoal));
        }
        Some(Err(_)) => return Err(Some(Wait::NoGoal)),
        Some(Ok(goal)) => goal,
    };
    let now = view.rollout.now;
    let missing = missing(view, goal);
    grants.unreported = missing
        .into_iter()
        .map(|unit| {
            let since = view.memory().unreported.get(unit).copied().unwrap_or(now);
            (unit.clone(), since)
        })
        .collect();
    let waited = |since: &Timestamp| now.0.saturating_sub(since.0) >= view.options.grant_timeout;
    let open: Vec<UnitName> =
        grants.unreported.iter().filter(|(_, since)| !waited(since)).map(|(unit, _)| unit.clone()).collect();
    if open.is_empty() { Ok(()) } else { Err(Some(Wait::Unreported(open))) }
}

/// What the model lists and no unit has reported.
pub fn missing<'g>(view: &View<'_>, goal: &'g Model) -> Vec<&'g UnitName> {
    if view.rollout.as_principal {
        return goal.units.iter().filter(|unit| !view.is_listed(unit)).collect();
    }
    let reported = reported(view);
    goal.control_plane.union(&goal.worker).filter(|unit| !reported.contains(unit)).collect()
}
