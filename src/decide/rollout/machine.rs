//! This machine: which managed snaps it has, which keys are stored, what a move gave, and who else
//! moves them. Facts before memory: what is remembered counts only as long as revision, channel and
//! the note `in-cohort` are what they were when it was seen.

use super::super::options::RolloutOptions;
use crate::databag::charm_state::{Given, Moved, RolloutMemory, SeenKey};
use crate::databag::node::{Check, Exempt, Holder};
use crate::observed::Rollout;
use crate::snap::{
    Alteration, Answer, Channel, Installed, KeyDigest, Place, Relocation, Revision, SnapName, Trouble,
    TroubleKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// Passes after a move of ours in which a move back by somebody else shows that he owns the snap.
const WATCHED: u32 = 3;

/// The managed snaps of this machine.
#[derive(Debug, Clone)]
pub struct Machine<'a> {
    /// Those that are installed.
    pub snaps: BTreeMap<&'a SnapName, Managed<'a>>,
}

/// One managed snap that is installed.
#[derive(Debug, Clone)]
pub struct Managed<'a> {
    /// The row of `snap list`.
    pub installed: &'a Installed,
    /// The stored key.
    pub key: Key,
    /// Why it is never moved here.
    pub exempt: Option<Exempt>,
}

/// The cohort key that snapd has stored for a snap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// None.
    None,
    /// That one.
    Is(KeyDigest),
    /// There is one, and which one has to be read.
    Unread,
}

impl<'a> Machine<'a> {
    /// This machine; or why its snaps cannot be listed. What was learnt goes into the memory.
    pub fn look(
        rollout: &'a Rollout,
        options: &'a RolloutOptions,
        memory: &mut RolloutMemory,
    ) -> Result<Self, &'a Trouble> {
        let all = rollout.snapd.installed.as_ref()?;
        let mut snaps = BTreeMap::new();
        for name in options.snaps.keys() {
            let Some(installed) = all.get(name) else { continue };
            let key = key(rollout, installed, memory);
            learn(rollout, installed, key, memory);
            if installed.notes.held() && held_beside(rollout, name) {
                memory.holds.insert(name.clone());
            }
            let exempt = exempt(installed, options, memory);
            snaps.insert(name, Managed { installed, key, exempt });
        }
        forget(memory, &snaps);
        Ok(Self { snaps })
    }

    /// Names whose stored key has to be read.
    pub fn unread(&self) -> Vec<SnapName> {
        let unread = self.snaps.iter().filter(|(_, snap)| snap.key == Key::Unread && snap.exempt.is_none());
        unread.map(|(name, _)| (*name).clone()).collect()
    }

    /// Whether the services of the managed snaps run.
    pub fn services(&self, rollout: &Rollout) -> Check {
        let services = match &rollout.snapd.services {
            Ok(services) => services,
            Err(trouble) => return Check::Unknown(trouble.text.as_str().into()),
        };
        let mut own = self.snaps.keys().filter_map(|name| services.get(*name)).flatten().peekable();
        if own.peek().is_none() {
            return Check::None;
        }
        match own.find(|service| service.is_down()) {
            Some(service) => Check::Bad(format!("{}.{} is not active", service.snap, service.app).into()),
            None => Check::Ok,
        }
    }
}

/// The channel that a snap tracks, as far as it is known by name.
pub fn tracked(installed: &Installed) -> Option<Channel> {
    installed.tracking.as_ref().map(|tracking| tracking.channel.clone())
}

/// The stored key: as read in this pass, else as remembered, where either still fits.
fn key(rollout: &Rollout, installed: &Installed, memory: &mut RolloutMemory) -> Key {
    let name = &installed.name;
    if !installed.notes.in_cohort() {
        memory.keys.remove(name);
        return Key::None;
    }
    if let Some(Ok(info)) = rollout.store.infos.get(name)
        && let Some(local) = &info.local
        && local.revision == installed.revision
        && let Some(digest) = local.cohort
    {
        let seen =
            SeenKey { digest: Some(digest), revision: installed.revision, channel: tracked(installed) };
        memory.keys.insert(name.clone(), seen);
        return Key::Is(digest);
    }
    // A move in this pass may have stored another key beside the same revision. One that failed has
    // not: snapd puts the old one back.
    let stored = moves(rollout, name).any(|(_, outcome)| match outcome {
        Ok(_) => true,
        Err(trouble) => trouble.kind == TroubleKind::Unfinished,
    });
    if stored {
        memory.keys.remove(name);
        return Key::Unread;
    }
    match memory.keys.get(name) {
        Some(SeenKey { digest: Some(digest), revision, channel })
            if *revision == installed.revision && *channel == tracked(installed) =>
        {
            Key::Is(*digest)
        }
        Some(_) | None => Key::Unread,
    }
}

/// The moves of a snap in this pass, with their outcomes.
pub fn moves<'a>(
    rollout: &'a Rollout,
    name: &'a SnapName,
) -> impl Iterator<Item = (&'a Relocation, &'a Result<Answer, Trouble>)> {
    rollout.done.iter().filter_map(move |(alteration, outcome)| match alteration {
        Alteration::Move(to) | Alteration::Install { to, .. } if to.name == *name => Some((to, outcome)),
        Alteration::Move(_)
        | Alteration::Install { .. }
        | Alteration::Hold { .. }
        | Alteration::Unhold { .. }
        | Alteration::LeaveCohort { .. } => None,
    })
}

/// Keeps what a move gave, and watches for a move back.
fn learn(rollout: &Rollout, installed: &Installed, key: Key, memory: &mut RolloutMemory) {
    let name = &installed.name;
    let now = (installed.revision, tracked(installed));
    if let Some((to, Ok(Answer::Done | Answer::NothingToDo))) = moves(rollout, name).last() {
        let given = match &to.to {
            Place::Cohort(wanted) => (key == Key::Is(wanted.digest())).then(|| Some(wanted.digest())),
            Place::Revision(revision) => (*revision == installed.revision).then_some(None),
        };
        if let Some(key) = given {
            let given = Given { key, revision: now.0, channel: now.1.clone() };
            memory.given.insert(name.clone(), given);
        }
        if let Some(from) = first_seen(rollout, name).filter(|from| *from != now) {
            memory.moved.insert(name.clone(), Moved { from, to: now, passes: 0 });
        }
        return;
    }
    // While this unit holds a grant, a hook of its own that was killed may have moved the snap.
    let at_work = rollout.app.granted.as_ref().is_ok_and(|granted| granted.of(&rollout.unit).is_some());
    if let Some(moved) = memory.moved.get_mut(name).filter(|_| !at_work) {
        moved.passes = moved.passes.saturating_add(1);
        if moved.from == now {
            memory.moved_back.insert(name.clone());
        }
        if moved.from == now || moved.passes >= WATCHED {
            memory.moved.remove(name);
        }
    }
}

/// What the own databag says was installed before this pass.
fn first_seen(rollout: &Rollout, name: &SnapName) -> Option<(Revision, Option<Channel>)> {
    let node = rollout.own.node.as_ref()?.as_ref().ok()?;
    node.snaps.get(name).map(|snap| (snap.revision, snap.channel.clone()))
}

/// Whether another unit of this application on this machine has placed the hold: it did so before it
/// knew who owns the machine.
fn held_beside(rollout: &Rollout, name: &SnapName) -> bool {
    let nodes = rollout.peers.values().filter_map(|told| told.node.as_ref()?.as_ref().ok());
    let mut beside = nodes.filter(|node| node.machine.as_str() == rollout.machine);
    beside.any(|node| node.snaps.get(name).is_some_and(|snap| snap.held == Some(Holder::Own)))
}

fn exempt(installed: &Installed, options: &RolloutOptions, memory: &mut RolloutMemory) -> Option<Exempt> {
    let name = &installed.name;
    if installed.is_sideloaded() {
        return Some(Exempt::Sideloaded);
    }
    if options.adopt_held {
        memory.moved_back.remove(name);
        return None;
    }
    if installed.notes.held() && !memory.holds.contains(name) {
        return Some(Exempt::Held);
    }
    memory.moved_back.contains(name).then_some(Exempt::MovedBack)
}

/// Forgets what is no longer installed or managed, but for own holds: they are to be taken off.
fn forget(memory: &mut RolloutMemory, snaps: &BTreeMap<&SnapName, Managed<'_>>) {
    memory.keys.retain(|name, _| snaps.contains_key(name));
    memory.given.retain(|name, _| snaps.contains_key(name));
    memory.moved.retain(|name, _| snaps.contains_key(name));
    let kept: BTreeSet<SnapName> =
        memory.moved_back.iter().filter(|name| snaps.contains_key(name)).cloned().collect();
    memory.moved_back = kept;
}
