//! The leader's databag and the members, side by side: what every rule asks.

use super::super::options::RolloutOptions;
use super::members::{Member, members};
use crate::databag::charm_state::RolloutMemory;
use crate::databag::granted::Granted;
use crate::databag::history::History;
use crate::databag::node::Role;
use crate::databag::progress::Progress;
use crate::databag::skipped::Skipped;
use crate::databag::target::{Target, Wishes};
use crate::databag::{Line, Unread};
use crate::juju::UnitName;
use crate::observed::Rollout;
use crate::observed::rollout::{Source, Told};
use std::collections::BTreeMap;

/// What the rules look at, where all of it can be read.
#[derive(Debug, Clone)]
pub struct View<'a> {
    /// All that was observed.
    pub rollout: &'a Rollout,
    /// The options.
    pub options: &'a RolloutOptions,
    /// The target, once there is one.
    pub target: Option<&'a Target>,
    /// The outstanding grants.
    pub granted: &'a Granted,
    /// Who is passed over.
    pub skipped: &'a Skipped,
    /// The targets so far.
    pub history: &'a History,
    /// The members.
    pub members: BTreeMap<&'a UnitName, Member<'a>>,
}

impl<'a> View<'a> {
    /// The view; or which key of the peers application databag cannot be read, and why.
    pub fn new(
        rollout: &'a Rollout,
        options: &'a RolloutOptions,
    ) -> Result<Self, (&'static str, &'a Unread)> {
        use crate::databag::{granted, history, skipped, target};
        let app = &rollout.app;
        Ok(Self {
            rollout,
            options,
            target: app.target.as_ref().map_err(|unread| (target::TARGET, unread))?.as_ref(),
            granted: app.granted.as_ref().map_err(|unread| (granted::GRANTED, unread))?,
            skipped: app.skipped.as_ref().map_err(|unread| (skipped::SKIPPED, unread))?,
            history: app.history.as_ref().map_err(|unread| (history::HISTORY, unread))?,
            members: members(rollout),
        })
    }

    /// What the last committed pass remembered.
    pub fn memory(&self) -> &'a RolloutMemory {
        &self.rollout.memory
    }

    /// Where the options want snaps.
    pub fn wishes(&self) -> Wishes {
        let packed = self.rollout.packed.as_ref().and_then(|packed| packed.as_ref().ok());
        self.options.wishes(packed)
    }

    /// The application that is followed; itself is nobody. Juju relates no application to itself, but
    /// to an offer of its own, which has another name: then it offers what this one has made.
    pub fn source(&self) -> Option<&'a Source> {
        self.rollout.source.as_ref().filter(|source| !self.is_own(source))
    }

    fn is_own(&self, source: &Source) -> bool {
        let Some(Ok(offer)) = &source.offer else { return false };
        let id = &offer.state.target;
        self.target.is_some_and(|target| target.id == *id) || self.history.of(id).is_some()
    }

    /// Whether this unit has surely met every other one: its first update-status in `peers` has come.
    pub fn has_met(&self) -> bool {
        super::has_met(self.rollout)
    }

    /// Whether a unit is listed in the peer relation, or is this one.
    pub fn is_listed(&self, unit: &UnitName) -> bool {
        *unit == self.rollout.unit || self.rollout.peers.contains_key(unit)
    }

    /// What a unit tells.
    pub fn told(&self, unit: &UnitName) -> Option<&'a Told> {
        if *unit == self.rollout.unit { Some(&self.rollout.own) } else { self.rollout.peers.get(unit) }
    }

    /// How far a unit is, where that can be read.
    pub fn progress(&self, unit: &UnitName) -> Option<&'a Progress> {
        self.told(unit)?.progress.as_ref()?.as_ref().ok()
    }

    /// Whether a unit is passed over: for this target, or as dead as long as it tells nothing new.
    pub fn is_skipped(&self, unit: &UnitName) -> bool {
        self.skipped.units.get(unit).is_some_and(|skip| match &skip.dead {
            Some(seen) => *seen == last_words(self.told(unit)),
            None => self.target.is_some_and(|target| skip.target.as_ref() == Some(&target.id)),
        })
    }

    /// The members of a role that are not passed over.
    pub fn in_role(&self, role: Role) -> impl Iterator<Item = &Member<'a>> {
        self.members.values().filter(move |member| member.role == role && !self.is_skipped(member.unit))
    }

    /// Whether every member of a role has completed the target or is passed over, and none of them
    /// holds a grant.
    pub fn is_through(&self, role: Role, target: &Target, granted: &Granted) -> bool {
        let mut members = self.members.values().filter(|member| member.role == role);
        members.all(|member| {
            let done = member.has_completed(&target.id) || self.is_skipped(member.unit);
            done && granted.of(member.unit).is_none()
        })
    }

    /// Whether all members that are not passed over have completed the target, and there is one.
    pub fn is_completed(&self, role: Option<Role>, target: &Target) -> bool {
        let mut counted = self
            .members
            .values()
            .filter(|member| role.is_none_or(|role| member.role == role) && !self.is_skipped(member.unit))
            .peekable();
        counted.peek().is_some() && counted.all(|member| member.has_completed(&target.id))
    }

    /// The first member that has failed for this target, is not passed over, and has no newer serial.
    pub fn failure(&self, granted: &Granted) -> Option<(&Member<'a>, &'a Progress)> {
        let target = self.target?;
        self.members.values().filter(|member| !self.is_skipped(member.unit)).find_map(|member| {
            let progress = self.progress(member.unit)?;
            member.failure(&target.id)?;
            let newer = granted.of(member.unit).is_some_and(|grant| grant.serial > progress.serial);
            (!newer).then_some((member, progress))
        })
    }
}

/// What a unit last told of its progress, to see whether it tells something new.
pub fn last_words(told: Option<&Told>) -> Line {
    match told.and_then(|told| told.progress.as_ref()) {
        None => "nothing".into(),
        Some(Err(_)) => "nothing that can be read".into(),
        Some(Ok(progress)) => {
            let target = progress.target.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            format!("{target} {} {}", progress.state, progress.serial).into()
        }
    }
}
