//! The rollout: a target that the members move to, each when it is granted.
//!
//! Pure and total. It asks for at most one effect at a time; the pass carries it out, puts the
//! outcome into [`Rollout`] and decides again. What is to be written is the last decision's, the one
//! that asks for no effect. A pass either writes the leader's databag or alters the machine.

mod actions;
mod back;
mod check;
mod follow;
mod grants;
mod heads;
mod holds;
mod kube;
mod leader;
mod machine;
mod members;
mod moves;
mod order;
mod own;
mod story;
mod target;
mod text;
mod view;
mod way;
mod wish;

pub use actions::{Action, Answer, act};

#[cfg(test)]
pub(crate) mod tests;

use super::options::RolloutOptions;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::{NODE, Node, Role};
use crate::databag::progress::{PROGRESS, Progress, State};
use crate::databag::target::Kind;
use crate::juju::{RelationId, Status};
use crate::observed::Rollout;
use crate::observed::rollout::Occasion;
use crate::plan::{Effect, Keys};
use crate::snap::{Alteration, KubernetesOrder, SnapName};
use machine::Machine;
use moves::Moves;
use std::collections::BTreeMap;
use tracing::Level;
use view::View;
use way::Way;

/// Stored keys are read again when this was so long ago, in seconds.
const KEYS_AGE: u64 = 6 * 3600;
/// A key that could not be read is asked for again this much later.
const KEYS_AGAIN: u64 = 5 * 60;
/// How soon a unit looks again that waits for its health, for snapd or for another's node, in seconds.
const SOON: u64 = 30;
/// How soon a pass follows whose reason is what this one has written.
pub const AT_ONCE: u64 = 5;

/// Whether this unit has surely met every other one: its first update-status in `peers` has come.
pub fn has_met(rollout: &Rollout) -> bool {
    rollout.memory.met || (rollout.occasion == Occasion::UpdateStatus && rollout.related)
}

/// What the rollout wants.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// To be carried out before it decides again; none: this is its last word in this pass.
    pub effect: Option<Effect>,
    /// Keys of the own peer unit databag; none as long as an effect is asked for.
    pub unit: Keys,
    /// Keys of the peers application databag, to be written together; empty: nothing of it is to be
    /// written in this pass.
    pub app: Keys,
    /// Keys of the own application databag at `cohorts` and `follow-cohorts`: leaders only.
    pub related: BTreeMap<RelationId, Keys>,
    /// The statuses of the machine, and of a rollout of new revisions.
    pub statuses: Vec<Status>,
    /// The statuses of the gate, and of a rollout to another channel.
    pub upgrade: Vec<Status>,
    /// How far the rollout is, for the application's status: leaders only.
    pub progress: Option<Status>,
    /// What to set before the effect is carried out, since it may take minutes.
    pub during: Option<Status>,
    /// What to remember.
    pub memory: RolloutMemory,
    /// One line each for a grant, a report, a new target.
    pub log: Vec<(Level, String)>,
    /// In how many seconds it wants to look again, if that is sooner than the next update-status.
    pub follow_up: Option<u64>,
}

/// Whether this unit has a grant that it has not answered, so that its machine is the rollout's.
pub fn is_moving(rollout: &Rollout) -> bool {
    let progress = rollout.own.progress.as_ref().and_then(|progress| progress.as_ref().ok());
    let answered = progress.map_or(0, |progress| progress.serial);
    let granted = rollout.app.granted.as_ref().ok().and_then(|granted| granted.of(&rollout.unit));
    progress.is_some_and(|progress| progress.state == State::Upgrading)
        || granted.is_some_and(|grant| grant.serial != answered)
}

/// Decides for one unit.
pub fn decide(rollout: &Rollout, options: &RolloutOptions) -> Outcome {
    let mut outcome = Outcome { memory: rollout.memory.clone(), ..Outcome::default() };
    match rollout.occasion {
        Occasion::Removing => {
            outcome.memory.leaving = true;
            let restore = options.restore_on_removal;
            outcome.effect = holds::remove(rollout, restore, &mut outcome.memory).map(Effect::Alter);
            return outcome;
        }
        Occasion::Departing => outcome.memory.leaving = true,
        Occasion::UpdateStatus | Occasion::Hook | Occasion::Outside => {}
    }
    if outcome.memory.leaving {
        return outcome;
    }
    outcome.memory.met |= rollout.occasion == Occasion::UpdateStatus && rollout.related;
    let machine = Machine::look(rollout, options, &mut outcome.memory);
    if let Err(trouble) = &machine {
        outcome.statuses.push(text::no_list(trouble));
    }
    let machine = machine.ok();
    let mut node = own::node(rollout, machine.as_ref(), &mut outcome.memory);
    let view = match View::new(rollout, options) {
        Ok(view) => view,
        Err((key, unread)) => {
            // Nothing is granted, moved or reported by what cannot be read.
            outcome.statuses.push(text::app_unread(key, unread));
            keep_heads(rollout, &mut node);
            outcome.unit.insert(NODE.to_owned(), Some(node.write()));
            outcome.effect = (!rollout.app.fresh && rollout.related).then_some(Effect::ReadAppBag);
            return outcome;
        }
    };
    heads::report(&view, &mut node, false, &mut outcome.memory);
    Pass { view: &view, machine: machine.as_ref(), node: &node }.decide(&mut outcome);
    outcome.statuses.extend(outcome.memory.silent.then(text::store_silent));
    if outcome.effect.is_none() {
        outcome.unit.insert(NODE.to_owned(), Some(node.write()));
        if kube::tell(&view, &node, &mut outcome.unit) {
            outcome.follow_up = Some(outcome.follow_up.map_or(SOON, |wish| wish.min(SOON)));
        }
    }
    outcome
}

/// The heads that were told stay told.
fn keep_heads(rollout: &Rollout, node: &mut Node) {
    if let Some(Ok(told)) = &rollout.own.node {
        node.heads.clone_from(&told.heads);
    }
}

/// One decision, once everything that it needs is at hand.
struct Pass<'a, 'v> {
    view: &'v View<'a>,
    machine: Option<&'v Machine<'a>>,
    node: &'v Node,
}

impl Pass<'_, '_> {
    fn decide(&self, outcome: &mut Outcome) {
        let rollout = self.view.rollout;
        let led = (rollout.leader && rollout.related)
            .then(|| leader::decide(self.view, self.node, &mut outcome.memory));
        let mut leader_need = None;
        if let Some(led) = led {
            leader_need = led.need;
            outcome.statuses.extend(led.notes);
            outcome.upgrade.extend(led.gate);
            self.rollout(outcome).extend(led.statuses);
            outcome.progress = led.progress;
            let faults = members::unread(rollout).into_iter();
            outcome.statuses.extend(faults.map(|(unit, key, unread)| text::peer_unread(unit, key, unread)));
            if rollout.done.is_empty() {
                outcome.app = led.app;
                outcome.log = led.log;
                outcome.related = follow::outgoing(self.view);
            } else if !led.app.is_empty() {
                outcome.follow_up = Some(AT_ONCE);
            }
        }
        let role = self.acting_role(outcome);
        let idle = role.is_none() || !self.may_alter() || !outcome.app.is_empty();
        let moves = moves::decide(self.view, self.machine, role, idle, &mut outcome.memory);
        self.tell(&moves, role, outcome);
        let alteration = self.alteration(role, idle, &moves, outcome);
        let look = rollout.kube.seen.is_none().then_some(moves.look.clone()).flatten();
        outcome.effect = kube::wanted(self.view, self.node)
            .or(look)
            .or_else(|| self.reading(outcome))
            .or(leader_need)
            .or((!rollout.app.fresh && rollout.related).then_some(Effect::ReadAppBag))
            .or(alteration);
        if matches!(outcome.effect, Some(Effect::Alter(Alteration::Move(_)))) {
            outcome.during = moves.during;
        }
        let progress = moves.progress.filter(|_| outcome.effect.is_none());
        outcome.unit.extend(progress.map(|progress| (PROGRESS.to_owned(), Some(progress.write()))));
    }

    /// The role in which this unit may act on its machine; none where it has none, or another unit or
    /// application owns the machine.
    fn acting_role(&self, outcome: &mut Outcome) -> Option<Role> {
        let rollout = self.view.rollout;
        if let Some(owner) = &rollout.foreign_owner {
            outcome.statuses.push(text::foreign_owner(owner));
            return None;
        }
        if let Some(owner) = members::owner_of(rollout) {
            outcome.statuses.push(text::owned(owner));
            return None;
        }
        let seen = self.machine.map(|machine| &machine.snaps).filter(|snaps| !snaps.is_empty());
        if let (None, Some(snaps)) = (rollout.role, seen) {
            outcome.statuses.push(text::no_role(rollout.unit.application(), snaps.keys().copied()));
        }
        // The machine has the highest role of all units on it.
        let told = self.view.members.get(&rollout.unit).filter(|member| member.node.is_some());
        rollout.role.map(|role| told.map_or(role, |member| member.role.min(role)))
    }

    /// A pass outside of a hook does not run after one whose writes are lost: its retry is to come.
    fn may_alter(&self) -> bool {
        let rollout = self.view.rollout;
        rollout.related && (rollout.committed || rollout.occasion != Occasion::Outside)
    }

    /// What this unit tells about itself.
    fn tell(&self, moves: &Moves, role: Option<Role>, outcome: &mut Outcome) {
        let rollout = self.view.rollout;
        let told = self.view.progress(&rollout.unit);
        self.rollout(outcome).extend(moves.statuses.iter().cloned());
        if let Some(progress) = &moves.progress {
            outcome.log.extend(story::report(told, progress));
            if let Some(role) = role {
                self.remark(progress, role, outcome);
            }
        }
        let reported = moves.progress.as_ref().is_some_and(|progress| told != Some(progress));
        let wrote = rollout.leader && (!outcome.app.is_empty() || reported);
        let wishes = [moves.follow_up, outcome.follow_up, wrote.then_some(AT_ONCE)];
        outcome.follow_up = wishes.into_iter().flatten().min();
        if let Some(source) = &rollout.source {
            if self.view.source().is_none() {
                outcome.statuses.push(text::itself(rollout.unit.application(), source.app.as_ref()));
            } else if let Some(Err((key, unread))) = &source.offer {
                outcome.statuses.push(text::source_unread(key, unread));
            }
        }
    }

    /// Where the statuses of the rollout belong: to the concern of its target.
    fn rollout<'o>(&self, outcome: &'o mut Outcome) -> &'o mut Vec<Status> {
        match self.view.target.map(|target| target.kind) {
            Some(Kind::Upgrade) => &mut outcome.upgrade,
            Some(Kind::Cohort) | None => &mut outcome.statuses,
        }
    }

    /// Remarks about the snaps of this machine.
    fn remark(&self, progress: &Progress, role: Role, outcome: &mut Outcome) {
        let Some(machine) = self.machine else { return };
        for (name, snap) in &machine.snaps {
            let exempt = snap.exempt.map(|why| text::exempt(name, why, snap.installed.revision));
            outcome.statuses.extend(exempt);
        }
        let main = machine.snaps.iter().min_by_key(|(name, _)| KubernetesOrder::of(name));
        match (progress.state, self.view.target, main) {
            (State::Completed, _, Some((_, snap))) => outcome.statuses.push(text::runs(snap.installed)),
            (State::Ready, Some(target), Some(_)) => {
                let way = Way::of(machine, target, role, self.view.rollout.architecture);
                self.rollout(outcome).push(text::its_turn(target, way.as_ref()));
            }
            (State::Ready | State::Completed | State::Upgrading | State::Failed, _, _) => {}
        }
    }

    /// Reads that do not wait for a grant: heads that are due, stored keys that are not known or were
    /// last read long ago.
    fn reading(&self, outcome: &mut Outcome) -> Option<Effect> {
        let rollout = self.view.rollout;
        let machine = self.machine?;
        if let Some(ask) = heads::ask(self.view, self.node) {
            return Some(ask);
        }
        let joined = machine.snaps.iter().filter(|(_, snap)| snap.installed.notes.in_cohort());
        let joined: Vec<SnapName> =
            joined.filter(|(_, snap)| snap.exempt.is_none()).map(|(name, _)| (*name).clone()).collect();
        let read = |names: &[SnapName]| {
            !names.is_empty() && names.iter().all(|name| rollout.store.infos.contains_key(name))
        };
        if read(&joined) && rollout.done.is_empty() {
            outcome.memory.keys_read = Some(rollout.now);
        }
        let since = |limit: u64| {
            rollout.memory.keys_read.is_none_or(|read| rollout.now.0.saturating_sub(read.0) >= limit)
        };
        let unread = machine.unread();
        let names = if !unread.is_empty() && since(KEYS_AGAIN) {
            unread
        } else if since(KEYS_AGE) {
            joined
        } else {
            return None;
        };
        let may = rollout.done.is_empty() && rollout.store.left > 0 && self.view.target.is_some();
        if names.is_empty() || read(&names) || !may {
            return None;
        }
        Some(Effect::ReadInfo { names })
    }

    /// The next command that alters the machine, or a read that only it needs.
    fn alteration(
        &self,
        role: Option<Role>,
        idle: bool,
        moves: &Moves,
        outcome: &mut Outcome,
    ) -> Option<Effect> {
        let (Some(machine), Some(role)) = (self.machine, role) else { return None };
        let (hold, waits) = holds::decide(self.view, machine, &mut outcome.memory);
        if waits {
            outcome.follow_up = Some(outcome.follow_up.map_or(AT_ONCE, |wish| wish.min(AT_ONCE)));
        }
        let (install, homeless) = holds::install(self.view, role);
        let app = self.view.rollout.unit.application();
        outcome.statuses.extend(homeless.iter().map(|name| text::homeless(name, app)));
        self.outcomes(outcome);
        if idle {
            let wants = hold.is_some() || install.is_some();
            if wants && self.may_alter() {
                outcome.follow_up = Some(outcome.follow_up.map_or(AT_ONCE, |wish| wish.min(AT_ONCE)));
            }
            return None;
        }
        hold.map(Effect::Alter).or_else(|| moves.effect.clone()).or(install.map(Effect::Alter))
    }

    /// What became of holds and installations in this pass.
    fn outcomes(&self, outcome: &mut Outcome) {
        let rollout = self.view.rollout;
        for (alteration, result) in &rollout.done {
            match (alteration, result) {
                (Alteration::Hold { .. } | Alteration::Unhold { .. }, Err(trouble)) => {
                    outcome.statuses.push(text::not_held(trouble));
                }
                (Alteration::Install { to, classic: true }, Err(trouble)) => {
                    outcome.memory.installs.insert(to.name.clone(), rollout.now);
                    outcome.statuses.push(text::not_installed(&to.name, trouble));
                }
                (Alteration::Install { to, classic: false }, Err(trouble))
                    if trouble.kind != crate::snap::TroubleKind::NeedsClassic =>
                {
                    outcome.memory.installs.insert(to.name.clone(), rollout.now);
                    outcome.statuses.push(text::not_installed(&to.name, trouble));
                }
                (Alteration::Install { to, .. }, Ok(_)) => {
                    outcome.memory.installs.remove(&to.name);
                }
                (
                    Alteration::Hold { .. }
                    | Alteration::Unhold { .. }
                    | Alteration::Install { .. }
                    | Alteration::Move(_)
                    | Alteration::LeaveCohort { .. },
                    _,
                ) => {}
            }
        }
        let old = rollout.snapd.version.is_some_and(|version| !version.can_hold());
        if self.view.options.hold_snaps && old {
            outcome.statuses.push(text::no_holds());
        }
    }
}
