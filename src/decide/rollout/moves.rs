//! This unit: how far it is, whether it may move, and which snap is next.
//!
//! Nothing is believed until it is seen. A grant is acted on only while it is valid: for the current
//! target, by the application databag as read in this hook, and not answered by the progress that
//! was committed. Whatever else a grant says is answered by `ready`, and then never acted on.

use super::kube::{self, AfterMove};
use super::machine::{self, Key, Machine, Managed};
use super::view::View;
use super::{SOON, text};
use crate::databag::charm_state::{Attempt, RolloutMemory};
use crate::databag::granted::Grant;
use crate::databag::node::{Check, Role};
use crate::databag::progress::{Progress, SnapState, State};
use crate::databag::target::{Goal, Target};
use crate::juju::{Status, Timestamp};
use crate::plan::Effect;
use crate::snap::{Alteration, Answer, KubernetesOrder, Place, Relocation, SnapName, Trouble};
use std::collections::BTreeMap;

/// Delays before a transient trouble is tried again, in seconds; the last one repeats.
const DELAYS: [u64; 5] = [30, 120, 300, 600, 1200];

/// What this unit makes of the target.
#[derive(Debug, Clone)]
pub struct Moves {
    /// How far it is; none: what it has told stays.
    pub progress: Option<Progress>,
    /// What it wants to be done.
    pub effect: Option<Effect>,
    /// The look at the cluster that it needs before it can say how far it is. It alters nothing.
    pub look: Option<Effect>,
    /// What to show while that is done.
    pub during: Option<Status>,
    /// Its statuses.
    pub statuses: Vec<Status>,
    /// In how many seconds it wants to look again.
    pub follow_up: Option<u64>,
}

/// One snap on its way.
enum Step {
    Done,
    Exempt,
    /// The stored key has to be read first.
    Unread,
    Open(Relocation),
}

/// Decides for this unit. `idle`: nothing may be altered by this decision, whatever is granted.
pub fn decide(
    view: &View<'_>,
    machine: Option<&Machine<'_>>,
    role: Option<Role>,
    idle: bool,
    memory: &mut RolloutMemory,
) -> Moves {
    let unit = Unit::new(view);
    let grant = unit.grant;
    let (Some(machine), Some(target), Some(role)) = (machine, view.target, role) else {
        memory.attempt = None;
        return match (machine, role) {
            // Without a look at the machine nothing can be said that was not said before.
            (None, Some(_)) => Moves::none(),
            (None | Some(_), None) | (Some(_), Some(_)) => {
                let target = view.target.map(|target| target.id.clone());
                Moves::of(Progress::new(target, State::Ready, unit.serial))
            }
        };
    };
    let steps = steps(view, machine, target, role, memory);
    let snaps: BTreeMap<SnapName, SnapState> =
        steps.iter().map(|(name, step)| ((*name).clone(), step.state())).collect();
    let said = |state| {
        let mut progress = Progress::new(Some(target.id.clone()), state, unit.serial);
        progress.snaps.clone_from(&snaps);
        progress
    };
    let valid = grant.filter(|grant| grant.target == target.id && !unit.has_answered(grant.serial));
    match in_flight(view, machine) {
        InFlight::No => {}
        InFlight::Unknown(trouble) => {
            let mut moves = Moves::none();
            moves.statuses.push(text::no_changes(trouble));
            return moves;
        }
        InFlight::Yes(name) => return unit.busy(view, name, said(State::Ready)),
    }
    if let Some(committed) = unit.committed.filter(|committed| committed.is(State::Failed, &target.id))
        && valid.is_none()
    {
        let mut progress = committed.clone();
        progress.serial = unit.serial.max(committed.serial);
        let mut moves = Moves::of(progress);
        moves.statuses.push(text::failed_here(&view.rollout.unit, committed.cause.as_ref(), target));
        return moves;
    }
    let open = steps.iter().any(|(_, step)| matches!(step, Step::Open(_) | Step::Unread));
    let services = machine.services(view.rollout);
    let mut ill = Some(services).filter(|services| !matches!(services, Check::Ok | Check::None));
    if let (false, None, Some(grant)) = (open, &ill, valid) {
        match kube::after_move(view, target, grant) {
            AfterMove::Look(look) => return Moves { look: Some(look), ..Moves::of(said(State::Upgrading)) },
            AfterMove::Is(check) => {
                ill = Some(check).filter(|check| !matches!(check, Check::Ok | Check::None))
            }
        }
    }
    let was = unit.committed.is_some_and(|committed| committed.is(State::Completed, &target.id));
    if !open && (ill.is_none() || (was && valid.is_none())) {
        memory.attempt = None;
        return Moves::of(said(State::Completed));
    }
    let Some(grant) = valid else {
        memory.attempt = None;
        return Moves::of(said(State::Ready));
    };
    let going = Going { view, target, grant, idle, upgrading: said(State::Upgrading) };
    if let Some(cause) = away(view, machine, target, role) {
        return going.failed(&cause, memory);
    }
    if open { going.on(&steps, memory) } else { going.until_well(ill.as_ref(), memory) }
}

/// What this unit has committed, and the grant that names it.
struct Unit<'a> {
    committed: Option<&'a Progress>,
    grant: Option<&'a Grant>,
    /// The serial of the last grant that it has read.
    serial: u64,
}

impl<'a> Unit<'a> {
    fn new(view: &View<'a>) -> Self {
        let committed = view.progress(&view.rollout.unit);
        let grant = view.granted.of(&view.rollout.unit);
        let told = committed.map_or(0, |committed| committed.serial);
        Self { committed, grant, serial: grant.map_or(0, |grant| grant.serial).max(told) }
    }

    fn has_answered(&self, serial: u64) -> bool {
        self.committed.is_some_and(|committed| committed.has_answered(serial))
    }

    /// A change is in flight. With a grant that is not answered it is that grant's, whatever the
    /// target is now; without one it is somebody else's.
    fn busy(&self, view: &View<'_>, name: &SnapName, mut ready: Progress) -> Moves {
        let open = self.grant.filter(|grant| !self.has_answered(grant.serial));
        let upgrading = self.committed.filter(|committed| committed.state == State::Upgrading);
        let failed = self.committed.filter(|committed| {
            committed.state == State::Failed && committed.target == ready.target && open.is_none()
        });
        let progress = match (open, upgrading, failed) {
            (Some(grant), _, _) => {
                ready.target = Some(grant.target.clone());
                ready.state = State::Upgrading;
                ready.serial = grant.serial;
                ready
            }
            (None, Some(committed), _) => committed.clone(),
            (None, None, Some(committed)) => committed.clone(),
            (None, None, None) => ready,
        };
        let mut moves = Moves::of(progress);
        moves.statuses.push(text::busy(name, open.is_some() || upgrading.is_some()));
        moves.follow_up = (open.is_some() || upgrading.is_some()).then_some(SOON);
        if view.rollout.done.is_empty() { moves } else { Moves { follow_up: Some(SOON), ..moves } }
    }
}

impl Step {
    fn state(&self) -> SnapState {
        match self {
            Self::Done => SnapState::Done,
            Self::Exempt => SnapState::Exempt,
            Self::Unread | Self::Open(_) => SnapState::Open,
        }
    }
}

impl Moves {
    fn of(progress: Progress) -> Self {
        Self { progress: Some(progress), ..Self::none() }
    }

    fn none() -> Self {
        Self { progress: None, effect: None, look: None, during: None, statuses: Vec::new(), follow_up: None }
    }
}

enum InFlight<'a> {
    No,
    Yes(&'a SnapName),
    Unknown(&'a Trouble),
}

/// Whether snapd is at work on a managed snap.
fn in_flight<'a>(view: &View<'a>, machine: &Machine<'a>) -> InFlight<'a> {
    match &view.rollout.snapd.changes {
        Err(trouble) => InFlight::Unknown(trouble),
        Ok(changes) => {
            let managed = |name: &&SnapName| {
                machine.snaps.contains_key(*name) || view.options.snaps.contains_key(*name)
            };
            let busy = changes.iter().find(|(name, changes)| !changes.is_empty() && managed(name));
            busy.map_or(InFlight::No, |(name, _)| InFlight::Yes(name))
        }
    }
}

/// Each managed snap of this machine that the target speaks of, in the order of moves.
fn steps<'a>(
    view: &View<'_>,
    machine: &Machine<'a>,
    target: &Target,
    role: Role,
    memory: &RolloutMemory,
) -> Vec<(&'a SnapName, Step)> {
    let mut steps: Vec<(&SnapName, Step)> = machine
        .snaps
        .iter()
        .filter_map(|(name, snap)| {
            let goal = target.snaps.get(*name)?.goal(role, view.rollout.architecture);
            Some((*name, step(view, name, snap, goal, memory)?))
        })
        .collect();
    steps.sort_by_key(|(name, _)| KubernetesOrder::of(name));
    steps
}

fn step(
    view: &View<'_>,
    name: &SnapName,
    snap: &Managed<'_>,
    goal: Goal<'_>,
    memory: &RolloutMemory,
) -> Option<Step> {
    let tracks = |channel: Option<&crate::snap::Channel>| {
        channel.is_none_or(|channel| snap.installed.tracking.as_ref().is_some_and(|now| now.is(channel)))
    };
    let open = |channel: Option<&crate::snap::Channel>, to| {
        // A snap without services has nothing that a running process could lose.
        let services = view.rollout.snapd.services.as_ref();
        let ignore_running = services.is_ok_and(|services| !services.contains_key(name));
        Step::Open(Relocation { name: name.clone(), channel: channel.cloned(), to, ignore_running })
    };
    let (channel, done, to) = match goal {
        Goal::Unsaid => return None,
        Goal::Revision { revision, channel } => {
            let done = snap.installed.revision == revision && tracks(channel);
            (channel, done, Place::Revision(revision))
        }
        Goal::Cohort { key, channel } => {
            let digest = key.digest();
            if snap.exempt.is_none() && snap.key == Key::Unread {
                return Some(Step::Unread);
            }
            // The revision that the key gave, not the one that was reported as the head.
            let given = memory
                .given
                .get(name)
                .is_some_and(|given| given.key == Some(digest) && given.revision == snap.installed.revision);
            let done = snap.key == Key::Is(digest) && given && tracks(channel);
            (channel, done, Place::Cohort(key.clone()))
        }
    };
    Some(match (snap.exempt, done) {
        (Some(_), _) => Step::Exempt,
        (None, true) => Step::Done,
        (None, false) => open(channel, to),
    })
}

/// A snap that somebody has taken to a channel of which the target does not speak: it is left to him.
fn away(view: &View<'_>, machine: &Machine<'_>, target: &Target, role: Role) -> Option<String> {
    machine.snaps.iter().filter(|(_, snap)| snap.exempt.is_none()).find_map(|(name, snap)| {
        let goal = target.snaps.get(*name)?.goal(role, view.rollout.architecture);
        let (Goal::Cohort { channel, .. } | Goal::Revision { channel, .. }) = goal else { return None };
        let (wanted, tracks) = (channel?, machine::tracked(snap.installed)?);
        (!target.is_known(name, &tracks)).then(|| format!("{name} tracks {tracks}, not {wanted}"))
    })
}

/// A valid grant that is not yet carried out.
struct Going<'a, 'v> {
    view: &'v View<'a>,
    target: &'v Target,
    grant: &'v Grant,
    idle: bool,
    upgrading: Progress,
}

impl Going<'_, '_> {
    /// Moves the next snap, unless one has just failed or is to be waited for.
    fn on(self, steps: &[(&SnapName, Step)], memory: &mut RolloutMemory) -> Moves {
        let now = self.view.rollout.now;
        let mut attempt = self.attempt(memory);
        attempt.unhealthy = None;
        for (name, step) in steps {
            let last = machine::moves(self.view.rollout, name).last();
            match (last.map(|(_, outcome)| outcome), step) {
                (Some(Err(trouble)), Step::Open(_) | Step::Unread) => {
                    return self.troubled(name, trouble, attempt, memory);
                }
                (Some(Ok(Answer::Waiting)), Step::Open(_) | Step::Unread) => {
                    let cause = format!("{name}: the change waits for a restart of the machine");
                    return self.failed(&cause, memory);
                }
                (Some(Ok(Answer::Done | Answer::NothingToDo)), Step::Open(_)) => {
                    let cause =
                        format!("{name}: snap refresh went through, and it is not what was asked for");
                    return self.failed(&cause, memory);
                }
                (Some(Ok(Answer::Done | Answer::NothingToDo)), Step::Unread | Step::Done | Step::Exempt)
                | (Some(Ok(Answer::Waiting) | Err(_)), Step::Done | Step::Exempt)
                | (None, Step::Unread | Step::Open(_) | Step::Done | Step::Exempt) => {}
            }
        }
        let unread: Vec<SnapName> = steps
            .iter()
            .filter(|(_, step)| matches!(step, Step::Unread))
            .map(|(name, _)| (*name).clone())
            .collect();
        let mut moves = Moves::of(self.upgrading);
        moves.follow_up = Some(SOON);
        let infos = &self.view.rollout.store.infos;
        if let Some(name) = unread.iter().find(|name| infos.contains_key(*name)) {
            // It was read and is not told: no time left for the store, or snapd is silent.
            moves.statuses.push(text::key_unread(name));
        } else if !unread.is_empty() {
            moves.effect = (!self.idle).then_some(Effect::ReadInfo { names: unread });
        } else if let Some(again) = attempt.again.filter(|again| now < *again) {
            moves.follow_up = Some(again.0.saturating_sub(now.0).max(1));
            let trouble = attempt.trouble.as_deref().unwrap_or("trouble");
            moves.statuses.push(text::tried_again(trouble));
        } else if let Some(Step::Open(to)) =
            steps.iter().map(|(_, step)| step).find(|step| matches!(step, Step::Open(_)))
            && !self.idle
        {
            moves.during = Some(text::moving(self.view.rollout, to));
            moves.effect = Some(if self.view.rollout.app.fresh {
                Effect::Alter(Alteration::Move(to.clone()))
            } else {
                Effect::ReadAppBag
            });
        } else {
            moves.statuses.push(text::granted(self.grant));
        }
        memory.attempt = Some(attempt);
        moves
    }

    /// Everything is where it should be; services, API server and node have until the limit.
    fn until_well(self, ill: Option<&Check>, memory: &mut RolloutMemory) -> Moves {
        let now = self.view.rollout.now;
        let mut attempt = self.attempt(memory);
        let since = *attempt.unhealthy.get_or_insert(now);
        let why = match ill {
            Some(Check::Bad(why) | Check::Unknown(why)) => why.as_str(),
            Some(Check::Ok | Check::None) | None => "not healthy",
        };
        if now.0.saturating_sub(since.0) >= self.view.options.ready_timeout {
            let cause = format!("not healthy in time: {why}");
            return self.failed(&cause, memory);
        }
        let mut moves = Moves::of(self.upgrading);
        moves.statuses.push(text::until_well(why));
        moves.follow_up = Some(SOON);
        memory.attempt = Some(attempt);
        moves
    }

    fn attempt(&self, memory: &RolloutMemory) -> Attempt {
        let (serial, target) = (self.grant.serial, self.target.id.clone());
        let kept = memory.attempt.clone().filter(|attempt| attempt.serial == serial);
        kept.unwrap_or(Attempt { serial, target, tries: 0, again: None, trouble: None, unhealthy: None })
    }

    fn troubled(
        self,
        name: &SnapName,
        trouble: &Trouble,
        mut attempt: Attempt,
        memory: &mut RolloutMemory,
    ) -> Moves {
        let line = text::trouble(name, trouble);
        if !trouble.kind.is_transient() {
            return self.failed(&line, memory);
        }
        let tries = usize::try_from(attempt.tries).unwrap_or(usize::MAX);
        let delay = DELAYS.get(tries).or(DELAYS.last()).copied().unwrap_or(SOON);
        attempt.tries = attempt.tries.saturating_add(1);
        attempt.again = Some(Timestamp(self.view.rollout.now.0 + delay));
        let mut moves = Moves::of(self.upgrading);
        moves.statuses.push(text::tried_again(&line));
        attempt.trouble = Some(line);
        moves.follow_up = Some(delay);
        memory.attempt = Some(attempt);
        moves
    }

    fn failed(self, cause: &str, memory: &mut RolloutMemory) -> Moves {
        memory.attempt = None;
        let mut progress = self.upgrading;
        progress.state = State::Failed;
        progress.cause = Some(cause.into());
        let status = text::failed_here(&self.view.rollout.unit, progress.cause.as_ref(), self.target);
        let mut moves = Moves::of(progress);
        moves.statuses.push(status);
        moves
    }
}
