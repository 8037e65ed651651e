//! What an admin does about a rollout. Pure as the rest: a read or command that it needs first, the
//! keys to be written, or a refusal that says what, why, and the one command that goes on.

use super::super::options::RolloutOptions;
use super::super::upgrade::Report;
use super::grants::{self, Wait};
use super::target::{self, Asked, Note};
use super::view::{View, last_words};
use super::{back, check, heads, leader, machine::Machine, own, story, text};
use crate::databag::Unread;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::granted::{Grant, Granted};
use crate::databag::history::End;
use crate::databag::node::Role;
use crate::databag::progress::State;
use crate::databag::skipped::{Skip, Skipped};
use crate::databag::target::{Kind, Target};
use crate::juju::{AppName, UnitName};
use crate::observed::Rollout;
use crate::plan::{Effect, Keys};
use crate::snap::{Channel, SnapName};
use tracing::Level;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// `refresh-cohorts`
    RefreshCohorts {
        /// Also a revision that was rolled back from.
        force: bool,
    },
    /// `rollback`
    Rollback,
    /// `retry-unit`
    RetryUnit {
        /// A unit of lockstep or of its principal.
        unit: UnitName,
    },
    /// `skip-unit`
    SkipUnit {
        /// A unit of lockstep or of its principal.
        unit: UnitName,
        /// Although it has not reported a failure.
        force: bool,
    },
    /// `resume-upgrade`
    ResumeUpgrade,
    /// `override-checks`
    OverrideChecks {
        /// Names of checks by commas, or `all`.
        checks: String,
    },
    /// `pre-upgrade-check`, on any unit.
    PreUpgradeCheck {
        /// The channel to check for; none: what the options ask for.
        channel: Option<Channel>,
    },
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// To be carried out first; then ask again.
    Need(Effect),
    /// Done.
    Done {
        /// Keys of the peers application databag, to be written together; empty: nothing changes.
        app: Keys,
        /// What to remember.
        memory: Box<RolloutMemory>,
        /// For the admin and, with the action's id, for the log.
        line: String,
    },
    /// Nothing is changed: what was found.
    Report(Report),
    /// Not done: what, why, and the command that goes on.
    Refused(String),
}

/// Carries an action out, as far as it is pure.
pub fn act(rollout: &Rollout, options: &RolloutOptions, action: &Action) -> Answer {
    let asked = Asking { rollout, options, action };
    match action {
        Action::PreUpgradeCheck { channel } => check::pre_upgrade_check(rollout, options, channel.as_ref()),
        Action::RefreshCohorts { force } => {
            asked.led(|view| refresh_cohorts(view, Asked { force: *force }, rollout.memory.clone()))
        }
        Action::OverrideChecks { checks } => asked.written(|view| check::override_checks(view, checks)),
        Action::Rollback => asked.written(rollback),
        Action::RetryUnit { unit } => {
            asked.written(|view| find(view, unit).and_then(|unit| retry(view, &unit)))
        }
        Action::SkipUnit { unit, force } => {
            asked.written(|view| find(view, unit).and_then(|unit| skip(view, &unit, *force)))
        }
        Action::ResumeUpgrade => asked.written(resume),
    }
}

/// An action of the leader.
struct Asking<'a> {
    rollout: &'a Rollout,
    options: &'a RolloutOptions,
    action: &'a Action,
}

impl<'a> Asking<'a> {
    /// On the leader, with what the peers have told.
    fn led(&self, act: impl FnOnce(&View<'a>) -> Answer) -> Answer {
        let app = self.rollout.unit.application();
        if !self.rollout.leader {
            let line = line(self.action);
            return Answer::Refused(format!("only the leader can do that: juju run {app}/leader {line}"));
        }
        if !self.rollout.related {
            return Answer::Refused(
                "the peer relation is not there yet: wait until the unit is set up".to_owned(),
            );
        }
        match View::new(self.rollout, self.options) {
            Ok(view) => act(&view),
            Err((key, unread)) => unreadable(app, key, unread),
        }
    }

    /// The same, once the databag that it changes was read in this pass.
    fn written(&self, act: impl FnOnce(&View<'a>) -> Done) -> Answer {
        self.led(|view| {
            if !self.rollout.app.fresh {
                return Answer::Need(Effect::ReadAppBag);
            }
            match act(view) {
                Ok((app, line)) => Answer::Done { app, memory: Box::new(self.rollout.memory.clone()), line },
                Err(refusal) => Answer::Refused(refusal),
            }
        })
    }
}

/// A key of the peers application databag cannot be read.
pub fn unreadable(app: &AppName, key: &str, unread: &Unread) -> Answer {
    Answer::Refused(format!("the peers databag cannot be read, {key} {unread}: juju refresh {app}"))
}

fn line(action: &Action) -> String {
    match action {
        Action::RefreshCohorts { force: true } => "refresh-cohorts force=true".to_owned(),
        Action::RefreshCohorts { force: false } => "refresh-cohorts".to_owned(),
        Action::Rollback => "rollback".to_owned(),
        Action::RetryUnit { unit } => format!("retry-unit unit={unit}"),
        Action::SkipUnit { unit, force: true } => format!("skip-unit unit={unit} force=true"),
        Action::SkipUnit { unit, force: false } => format!("skip-unit unit={unit}"),
        Action::ResumeUpgrade => "resume-upgrade".to_owned(),
        Action::OverrideChecks { checks } => format!("override-checks checks={checks}"),
        Action::PreUpgradeCheck { .. } => "pre-upgrade-check".to_owned(),
    }
}

type Done = Result<(Keys, String), String>;

/// A unit of lockstep, or the one beside that principal.
fn find(view: &View<'_>, named: &UnitName) -> Result<UnitName, String> {
    let rollout = view.rollout;
    if named.application() == rollout.unit.application() {
        let known = view.is_listed(named) || view.granted.of(named).is_some();
        return known.then(|| named.clone()).ok_or_else(|| format!("there is no unit {named}: juju status"));
    }
    let told = std::iter::once((&rollout.unit, &rollout.own)).chain(&rollout.peers);
    let beside = told
        .filter(|(_, told)| {
            let node = told.node.as_ref().and_then(|node| node.as_ref().ok());
            node.is_some_and(|node| node.principal.as_ref() == Some(named))
        })
        .map(|(unit, _)| unit);
    let members: Vec<&UnitName> = beside.collect();
    let member = members.iter().find(|unit| view.members.contains_key(**unit)).or(members.first());
    let held = || view.granted.grants.iter().find(|grant| grant.principal.as_ref() == Some(named));
    member
        .map(|unit| (*unit).clone())
        .or_else(|| held().map(|grant| grant.unit.clone()))
        .ok_or_else(|| format!("no unit of {} is beside {named}: juju status", rollout.unit.application()))
}

fn refresh_cohorts(view: &View<'_>, asked: Asked, mut memory: RolloutMemory) -> Answer {
    let rollout = view.rollout;
    let app = rollout.unit.application();
    if let Some(target) = view.target {
        if let Some((member, _)) = view.failure(view.granted) {
            let unit = member.unit;
            return Answer::Refused(format!(
                "target {} has failed on {unit}: juju run {app}/leader retry-unit unit={unit}",
                target.id
            ));
        }
        if target.kind == Kind::Upgrade && !view.is_completed(None, target) {
            return Answer::Refused(format!("upgrade {} is not finished: juju status", target.id));
        }
    }
    if !view.has_met() {
        return Answer::Refused(
            "this leader has not met everybody yet: run it again after its first update-status".to_owned(),
        );
    }
    let names: Vec<SnapName> = view.options.snaps.keys().cloned().collect();
    if !names.iter().all(|name| rollout.store.infos.contains_key(name)) {
        return Answer::Need(Effect::ReadInfo { names });
    }
    if let Some(Err(trouble)) = names.iter().find_map(|name| {
        rollout.store.infos.get(name).filter(|info| info.as_ref().is_err_and(|t| t.kind.is_transient()))
    }) {
        return Answer::Refused(silent(app, &format!(" ({})", trouble.text)));
    }
    let machine = Machine::look(rollout, view.options, &mut memory).ok();
    let mut own = own::node(rollout, machine.as_ref(), &mut memory);
    heads::report(view, &mut own, true, &mut memory);
    // Of an installed snap `snap info` tells without the store what is here, and no channels.
    if memory.silent {
        return Answer::Refused(silent(app, ""));
    }
    let making = target::decide(view, &own, Some(asked), &mut memory);
    if let Some(need) = making.need {
        return Answer::Need(need);
    }
    if !rollout.app.fresh {
        return Answer::Need(Effect::ReadAppBag);
    }
    // What this unit publishes of itself is a hook's work.
    memory.asked = rollout.memory.asked;
    memory.asked_for.clone_from(&rollout.memory.asked_for);
    memory.health.clone_from(&rollout.memory.health);
    if let Some((target, reason)) = making.target {
        let app = leader::replace(view, &target, None);
        return Answer::Done { app, memory: Box::new(memory), line: story::made(&target, &reason).1 };
    }
    let blocked = making.notes.iter().find(|note| !matches!(note, Note::Announced(_) | Note::Early));
    match blocked {
        Some(Note::Refused(name)) => Answer::Refused(format!(
            "{name} was rolled back from its newest revision: juju run {app}/leader refresh-cohorts force=true"
        )),
        Some(note) => Answer::Refused(
            text::note(note, app).map_or_else(|| "nothing was done".to_owned(), |status| status.line),
        ),
        None => {
            let line = "nothing new: every snap's newest revision is in the present target".to_owned();
            Answer::Done { app: Keys::new(), memory: Box::new(memory), line }
        }
    }
}

fn silent(app: &AppName, why: &str) -> String {
    format!("the store does not answer{why}; later: juju run {app}/leader refresh-cohorts")
}

fn resume(view: &View<'_>) -> Done {
    let Some(target) = view.target.filter(|target| grants::is_paused(view, target, view.granted)) else {
        return Err("nothing is paused: juju status".to_owned());
    };
    let mut skipped = view.skipped.clone();
    skipped.resumed = view.granted.last;
    let app = leader::changes(view, view.target, view.granted, &skipped, view.history);
    Ok((app, format!("target {}: resumed up to serial {}", target.id, skipped.resumed)))
}

fn skip(view: &View<'_>, unit: &UnitName, force: bool) -> Done {
    let app = unit.application();
    let Some(target) = view.target else {
        return Err("there is no target, so nobody to skip: juju status".to_owned());
    };
    if view.is_skipped(unit) {
        return Err(format!("{unit} is skipped already: juju status"));
    }
    let held = view.granted.of(unit);
    let progress = view.progress(unit);
    let failed = held.is_some_and(|grant| {
        progress.is_some_and(|progress| progress.state == State::Failed && progress.serial == grant.serial)
    });
    if !failed && !force {
        let state = progress.map_or_else(|| "has reported nothing".to_owned(), |p| format!("is {}", p.state));
        return Err(format!(
            "{unit} {state} and has not failed in its turn: if it is skipped while it moves, two nodes may be \
             down at once; if its machine is dead: juju run {app}/leader skip-unit unit={unit} force=true"
        ));
    }
    if !failed && progress.is_some_and(|progress| progress.is(State::Completed, &target.id)) && held.is_none()
    {
        return Err(format!("{unit} has completed target {}: nothing to skip", target.id));
    }
    let dead = (!failed).then(|| last_words(view.told(unit)));
    let mut skipped = view.skipped.clone();
    skipped.units.insert(unit.clone(), Skip::new(Some(target.id.clone()), dead));
    let mut granted = view.granted.clone();
    granted.grants.retain(|grant| grant.unit != *unit);
    let keys = leader::changes(view, view.target, &granted, &skipped, view.history);
    let how = if failed { "" } else { " by force: its machine is dead, or two nodes may be down at once" };
    Ok((keys, format!("target {}: {unit} is skipped{how}", target.id)))
}

fn retry(view: &View<'_>, unit: &UnitName) -> Done {
    let app = unit.application();
    let Some((target, member)) = view.target.zip(view.members.get(unit)) else {
        return Err(format!("{unit} takes part in no target: juju status"));
    };
    let failed = member.failure(&target.id).is_some();
    let mut skipped: Skipped = view.skipped.clone();
    let was_skipped = view.is_skipped(unit);
    if !failed && !was_skipped {
        let state =
            member.progress.map_or_else(|| "unknown".to_owned(), |progress| progress.state.to_string());
        return Err(format!("{unit} has not failed, it is {state}: juju status"));
    }
    let mut granted = view.granted.clone();
    skipped.units.remove(unit);
    let principal = member.node.and_then(|node| node.principal.clone());
    if view.granted.of(unit).is_none() {
        has_room(view, target, member.role, unit, &granted)
            .map_err(|why| format!("{why}; later: juju run {app}/leader retry-unit unit={unit}"))?;
    }
    let serial = granted.grant(unit.clone(), principal, member.role, target.id.clone());
    let keys = leader::changes(view, view.target, &granted, &skipped, view.history);
    Ok((keys, format!("target {}: {unit} tries again, serial {serial}", target.id)))
}

/// Whether the rules of order leave a slot for a unit that holds none.
fn has_room(
    view: &View<'_>,
    target: &Target,
    role: Role,
    unit: &UnitName,
    granted: &Granted,
) -> Result<(), String> {
    let first = target.first_role();
    if role != first && !view.is_through(first, target, granted) {
        return Err(format!("the {first} units go first and are not through"));
    }
    if !grants::has_slot(view, role, granted) {
        let holder = granted.grants.first().map(|grant: &Grant| grant.unit.to_string()).unwrap_or_default();
        return Err(format!("{holder} is at work"));
    }
    let member = view.members.get(unit);
    match member.and_then(|member| grants::health_gate(view, target, member)) {
        Some(Wait::Unhealthy(other, _)) => Err(format!("control-plane unit {other} is not healthy")),
        Some(_) | None => Ok(()),
    }
}

fn rollback(view: &View<'_>) -> Done {
    let app = view.rollout.unit.application();
    let Some(from) = view.target else {
        return Err("there is no target to go back from: juju status".to_owned());
    };
    if from.rollback {
        let way_on = match view.failure(view.granted) {
            Some((member, _)) => {
                let unit = member.unit;
                format!("{unit} has failed in it: juju run {app}/leader retry-unit unit={unit}, or skip-unit")
            }
            None => "it goes on by itself, see juju status; to go forward again ask for the channel anew"
                .to_owned(),
        };
        return Err(format!("target {} leads back already; {way_on}", from.id));
    }
    let Some(target) = back::back(view, from) else {
        return Err(format!("what ran before target {} is not known: juju status", from.id));
    };
    let keys = leader::replace(view, &target, Some(End::RolledBack));
    let (_, line): (Level, String) = story::went_back(&target, from);
    Ok((keys, line))
}
