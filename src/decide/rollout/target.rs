//! The leader: when a new cohort target is made, and of what.
//!
//! No admin is needed for new revisions, for a snap that has no key yet, and for keys that grow old:
//! at 90 days a key silently comes to stand for a newer snapshot. Not while a rollout has failed or
//! an upgrade is unfinished: those end by an admin or by completing.

use super::super::options::CohortRefresh;
use super::back;
use super::heads::{self, NewHead, Reports};
use super::view::View;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::cohorts::Offer;
use crate::databag::node::Role;
use crate::databag::target::{Kind, Pin, SnapTarget, Target, Wishes};
use crate::juju::{Timestamp, UnitName};
use crate::plan::Effect;
use crate::snap::{Architecture, Channel, CohortKey, SnapName, TroubleKind};
use std::collections::{BTreeMap, BTreeSet};

/// Keys are made anew when they are this old.
const OLD: u64 = 60 * 24 * 3600;
/// After the store failed to make keys it is asked again this much later.
const AGAIN: u64 = 5 * 60;

/// What the leader makes of targets.
#[derive(Debug, Clone)]
pub struct Making {
    /// What has to be done first.
    pub need: Option<Effect>,
    /// The new target, and what it is made for.
    pub target: Option<(Target, Reason)>,
    /// What is to be told.
    pub notes: Vec<Note>,
}

/// What a target is made for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reason {
    /// It is the first one.
    pub first: bool,
    /// New heads.
    pub news: Vec<NewHead>,
    /// Installed snaps without a key.
    pub missing: BTreeSet<SnapName>,
    /// Snaps whose key is old.
    pub old: BTreeSet<SnapName>,
    /// Keys of the application that is followed.
    pub followed: bool,
}

/// What is to be told about targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Control-plane units track different channels of a snap.
    Channels(SnapName, Vec<(UnitName, Channel)>),
    /// The store does not know these names.
    Unknown(SnapName),
    /// The store did not make keys.
    NoKeys(TroubleKind),
    /// There is something new, which an admin may take.
    Announced(Reason),
    /// The head of a snap is a revision that was left behind.
    Refused(SnapName),
    /// There is nothing to wait for but the first update-status, or a member.
    Early,
}

/// What an admin asks for with `refresh-cohorts`; none: nobody does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    /// Also a revision that was left behind.
    pub force: bool,
}

/// Decides about a new target. `own` is what this unit reports now.
pub fn decide(
    view: &View<'_>,
    own: &crate::databag::node::Node,
    asked: Option<Asked>,
    memory: &mut RolloutMemory,
) -> Making {
    let reports = heads::reports(view, own);
    let known = |name: &SnapName, since: &Timestamp| {
        let reported =
            reports.get(name).is_some_and(|by_machine| by_machine.values().any(|heads| heads.read > *since));
        let has_key =
            view.target.and_then(|target| target.snaps.get(name)).is_some_and(|s| s.cohort.is_some());
        reported || has_key || !view.options.snaps.contains_key(name)
    };
    // It is told until the store knows the name, or nobody wants it any more.
    memory.unknown.retain(|name, since| !known(name, since));
    if asked.is_some() {
        memory.unknown.values_mut().for_each(|since| *since = Timestamp(0));
    }
    let mut making = make(view, &reports, asked, memory);
    if view.options.cohort_refresh != CohortRefresh::Off {
        making.notes.extend(memory.unknown.keys().cloned().map(Note::Unknown));
    }
    making
}

fn make(view: &View<'_>, reports: &Reports<'_>, asked: Option<Asked>, memory: &mut RolloutMemory) -> Making {
    let mut making = Making { need: None, target: None, notes: Vec::new() };
    if view.options.cohort_refresh == CohortRefresh::Off && asked.is_none() {
        return making;
    }
    if view.target.is_some_and(|target| !is_replaceable(view, target)) {
        return making;
    }
    let nobody = view.members.values().all(|member| member.node.is_none());
    if !view.has_met() || nobody && !(view.members.is_empty() && may_install(view)) {
        making.notes.push(Note::Early);
        return making;
    }
    if view.target.is_none() && different_channels(view, &mut making) {
        return making;
    }
    let offer = match followed(view) {
        Followed::Nobody => None,
        Followed::Unfinished => return making,
        Followed::Offer(offer) => Some(offer),
    };
    let reason = reason(view, reports, offer, asked, memory, &mut making);
    if reason == Reason::default() {
        return making;
    }
    if view.options.cohort_refresh == CohortRefresh::Manual && asked.is_none() {
        making.notes.push(Note::Announced(reason));
        return making;
    }
    let names = names_to_make(view, reports, &reason, offer, memory);
    let keys = match keys(view, &names, memory) {
        Keys::Made(keys) => keys,
        Keys::Need(effect) => {
            making.need = Some(effect);
            return making;
        }
        Keys::Not(kind) => {
            making.notes.push(Note::NoKeys(kind));
            return making;
        }
    };
    let target = assemble(view, reports, keys, offer, asked);
    if !target.snaps.is_empty() && view.target.is_none_or(|old| old.snaps != target.snaps) {
        making.target = Some((target, reason));
    }
    making
}

/// Whether a target may be replaced by a cohort target: none of its members has failed, and if it is
/// an upgrade, it is completed.
fn is_replaceable(view: &View<'_>, target: &Target) -> bool {
    let finished =
        || view.history.of(&target.id).is_some_and(|past| past.completed) || view.is_completed(None, target);
    view.failure(view.granted).is_none() && (target.kind == Kind::Cohort || finished())
}

/// Whom this application follows.
#[derive(Clone, Copy)]
pub enum Followed<'a> {
    /// Nobody.
    Nobody,
    /// The source has not completed: whoever made a target now would run ahead of it.
    Unfinished,
    /// One that has.
    Offer(&'a Offer),
}

/// Whom this application follows, and how far that is.
pub fn followed<'a>(view: &View<'a>) -> Followed<'a> {
    match view.source().map(|source| &source.offer) {
        None => Followed::Nobody,
        Some(Some(Ok(offer))) if offer.state.completed => Followed::Offer(offer),
        Some(Some(Ok(_) | Err(_)) | None) => Followed::Unfinished,
    }
}

/// Whether units have a role and may install what they miss: that needs keys before anybody is a member.
fn may_install(view: &View<'_>) -> bool {
    view.options.install_missing && view.rollout.role.is_some()
}

/// Names the control-plane units that track different channels of a snap.
fn different_channels(view: &View<'_>, making: &mut Making) -> bool {
    for name in view.options.snaps.keys() {
        let tracked: Vec<(UnitName, Channel)> = view
            .in_role(Role::ControlPlane)
            .filter_map(|member| {
                let snap = member.node?.snaps.get(name).filter(|snap| snap.exempt.is_none())?;
                Some((member.unit.clone(), snap.channel.clone()?))
            })
            .collect();
        if tracked.iter().any(|(_, channel)| tracked.first().is_some_and(|(_, first)| first != channel)) {
            making.notes.push(Note::Channels(name.clone(), tracked));
            return true;
        }
    }
    false
}

/// Whether the keys of the source are not those of the target, and an admin has not gone back from
/// this very offer.
fn follows_anew(view: &View<'_>, offer: Option<&Offer>) -> bool {
    let Some(offer) = offer else { return false };
    let same = |target: &Target| {
        offered(view, offer)
            .all(|(name, key)| target.snaps.get(name).is_some_and(|snap| snap.cohort.as_ref() == Some(key)))
    };
    view.target.is_none_or(|target| !same(target) && target.follows.as_ref() != Some(&offer.state.target))
}

/// The keys of the source for snaps that are managed here.
fn offered<'a>(view: &View<'a>, offer: &'a Offer) -> impl Iterator<Item = (&'a SnapName, &'a CohortKey)> {
    let snaps = &view.options.snaps;
    offer.keys.iter().filter(move |(name, _)| snaps.contains_key(*name))
}

/// Why a new target is to be made; the default: there is no reason.
fn reason(
    view: &View<'_>,
    reports: &Reports<'_>,
    offer: Option<&Offer>,
    asked: Option<Asked>,
    memory: &RolloutMemory,
    making: &mut Making,
) -> Reason {
    let mut reason = Reason { followed: follows_anew(view, offer), ..Reason::default() };
    let Some(target) = view.target else {
        return Reason { first: true, ..reason };
    };
    let force = asked.is_some_and(|asked| asked.force);
    let pinned = Pinned::new(view);
    for name in view.options.snaps.keys() {
        if offer.is_some_and(|offer| offer.keys.contains_key(name)) || pinned.is_pinned(name) {
            continue;
        }
        let has_place =
            target.snaps.get(name).is_some_and(|snap| snap.cohort.is_some() || !snap.pins.is_empty());
        let refused = heads::is_refused(view, target, reports, name);
        let news = heads::news(view, target, reports, name);
        if refused && !force {
            if !news.is_empty() || !has_place || asked.is_some() {
                making.notes.push(Note::Refused(name.clone()));
            }
            continue;
        }
        let has_use = view.options.install_missing || !heads::uses(view, name).is_empty();
        if !has_place && has_use && !is_unknown(view, memory, name) {
            reason.missing.insert(name.clone());
        }
        if has_place && is_old(view, target, name) {
            reason.old.insert(name.clone());
        }
        if has_place {
            reason.news.extend(news);
            if refused && force {
                // The head is what the target was made for, and the units were taken back from it.
                reason.missing.insert(name.clone());
            }
        }
    }
    reason
}

/// Whether the store has said lately that it does not know a name.
pub fn is_unknown(view: &View<'_>, memory: &RolloutMemory, name: &SnapName) -> bool {
    memory
        .unknown
        .get(name)
        .is_some_and(|since| view.rollout.now.0.saturating_sub(since.0) < view.options.check_interval)
}

fn is_old(view: &View<'_>, target: &Target, name: &SnapName) -> bool {
    let created = target.snaps.get(name).filter(|snap| !snap.followed).and_then(|snap| snap.created);
    created.is_some_and(|created| view.rollout.now.0.saturating_sub(created.0) >= OLD)
}

/// The names that get a new key: those that changed, and all that have none, installed here or not.
fn names_to_make(
    view: &View<'_>,
    reports: &Reports<'_>,
    reason: &Reason,
    offer: Option<&Offer>,
    memory: &RolloutMemory,
) -> BTreeSet<SnapName> {
    let mut names: BTreeSet<SnapName> = reason.missing.union(&reason.old).cloned().collect();
    names.extend(reason.news.iter().map(|new| new.name.clone()));
    let has_place = |name: &SnapName| {
        view.target
            .and_then(|target| target.snaps.get(name))
            .is_some_and(|snap| snap.cohort.is_some() || !snap.pins.is_empty())
    };
    let refused =
        |name: &SnapName| view.target.is_some_and(|target| heads::is_refused(view, target, reports, name));
    names.extend(view.options.snaps.keys().filter(|name| !has_place(name) && !refused(name)).cloned());
    let pinned = Pinned::new(view);
    names.retain(|name| {
        !is_unknown(view, memory, name)
            && !pinned.is_pinned(name)
            && !offer.is_some_and(|offer| offer.keys.contains_key(name))
    });
    names
}

/// The snaps whose revision the charm itself names: no new head moves them.
struct Pinned(Wishes);

impl Pinned {
    fn new(view: &View<'_>) -> Self {
        Self(view.wishes())
    }

    fn is_pinned(&self, name: &SnapName) -> bool {
        self.0.get(name).is_some_and(|wish| !wish.revisions.is_empty())
    }
}

/// What comes of making keys.
pub enum Keys {
    /// All of them.
    Made(BTreeMap<SnapName, CohortKey>),
    /// This command first.
    Need(Effect),
    /// The store does not make any now.
    Not(TroubleKind),
}

/// The keys made in this pass; or the next command that makes some. All names in one command, one by
/// one only where the store does not know one of them.
pub fn keys(view: &View<'_>, names: &BTreeSet<SnapName>, memory: &mut RolloutMemory) -> Keys {
    let rollout = view.rollout;
    let now = rollout.now;
    let mut keys = BTreeMap::new();
    let mut one_by_one = false;
    for (asked, answer) in &rollout.store.created {
        match answer {
            Ok(made) => {
                memory.unknown.retain(|name, _| !made.contains_key(name));
                keys.extend(made.clone());
            }
            Err(trouble) if trouble.kind == TroubleKind::NotFound => match asked.iter().next() {
                Some(name) if asked.len() == 1 => {
                    memory.unknown.insert(name.clone(), now);
                }
                Some(_) | None => one_by_one = true,
            },
            Err(trouble) => {
                memory.keys_asked = Some(now);
                return Keys::Not(trouble.kind.clone());
            }
        }
    }
    let open: BTreeSet<SnapName> = names
        .iter()
        .filter(|name| !keys.contains_key(*name) && !is_unknown(view, memory, name))
        .cloned()
        .collect();
    let Some(first) = open.first() else {
        memory.keys_asked = None;
        keys.retain(|name, _| names.contains(name));
        return Keys::Made(keys);
    };
    if let Some(asked) = rollout.memory.keys_asked
        && now.0.saturating_sub(asked.0) < AGAIN
    {
        return Keys::Not(TroubleKind::StoreUnreachable);
    }
    if rollout.store.left == 0 || !rollout.done.is_empty() {
        return Keys::Not(TroubleKind::OutOfTime);
    }
    let names = if one_by_one { BTreeSet::from([first.clone()]) } else { open };
    Keys::Need(Effect::CreateCohorts { names })
}

/// Puts a target together.
fn assemble(
    view: &View<'_>,
    reports: &Reports<'_>,
    keys: BTreeMap<SnapName, CohortKey>,
    offer: Option<&Offer>,
    asked: Option<Asked>,
) -> Target {
    let now = view.rollout.now;
    let old = view.target;
    let mut snaps: BTreeMap<SnapName, SnapTarget> = old
        .map(|old| old.snaps.clone())
        .unwrap_or_default()
        .into_iter()
        .filter(|(name, _)| view.options.snaps.contains_key(name))
        .map(|(name, snap)| (name, without_channel(snap)))
        .collect();
    let renewed: BTreeSet<SnapName> = keys.keys().cloned().collect();
    for (name, key) in keys {
        let snap = SnapTarget { cohort: Some(key), created: Some(now), ..SnapTarget::default() };
        snaps.insert(name, snap);
    }
    if let Some(offer) = offer {
        for (name, key) in offered(view, offer) {
            if snaps.get(name).is_none_or(|snap| snap.cohort.as_ref() != Some(key)) {
                let cohort = Some(key.clone());
                let snap = SnapTarget { cohort, created: Some(now), followed: true, ..SnapTarget::default() };
                snaps.insert(name.clone(), snap);
            }
        }
    }
    let mut target = begin(view, Kind::Cohort, snaps);
    target.heads = old.map(|old| old.heads.clone()).unwrap_or_default();
    target.heads.retain(|name, _| target.snaps.contains_key(name) && !renewed.contains(name));
    target.heads.extend(heads::baseline(view, reports, &renewed));
    target.follows = offer.map(|offer| offer.state.target.clone());
    if asked.is_some_and(|asked| asked.force) {
        target.refused.retain(|name, _| !renewed.contains(name));
    }
    target
}

fn without_channel(mut snap: SnapTarget) -> SnapTarget {
    snap.channel = None;
    for pin in snap.pins.values_mut().flat_map(BTreeMap::values_mut) {
        pin.channel = None;
    }
    snap
}

/// A new target with the next id, and what it keeps of the one before.
pub fn begin(view: &View<'_>, kind: Kind, snaps: BTreeMap<SnapName, SnapTarget>) -> Target {
    let mut target = Target::new(next_counter(view), kind, view.rollout.now, snaps);
    target.serial = view.granted.last;
    target.before = before(view);
    if let Some(old) = view.target {
        let past = view.history.of(&old.id);
        let completed = past.is_some_and(|past| past.completed) || view.is_completed(None, old);
        let led =
            past.is_some_and(|past| past.control_plane) || view.is_completed(Some(Role::ControlPlane), old);
        target.completed = if completed { Some(old.earlier()) } else { old.completed.clone() };
        target.led = if led { Some(old.earlier()) } else { old.led.clone() };
        target.refused.clone_from(&old.refused);
        target.follows.clone_from(&old.follows);
        target.wanted.clone_from(&old.wanted);
        target.more.clone_from(&old.more);
    }
    if kind == Kind::Upgrade {
        target.tracked = tracked(view, &target);
    }
    target
}

/// The channels from which members may come: what they track now, and for those that are under way
/// what they came from and went to.
fn tracked(view: &View<'_>, new: &Target) -> BTreeMap<SnapName, BTreeSet<Channel>> {
    let mut tracked = view.target.map(|old| old.tracked.clone()).unwrap_or_default();
    for (name, snap) in view.target.into_iter().flat_map(|old| &old.snaps) {
        tracked.entry(name.clone()).or_default().extend(back::channels(snap).into_iter().cloned());
    }
    for node in view.members.values().filter_map(|member| member.node) {
        for (name, snap) in &node.snaps {
            tracked.entry(name.clone()).or_default().extend(snap.channel.clone());
        }
    }
    tracked.retain(|name, channels| new.snaps.contains_key(name) && !channels.is_empty());
    tracked
}

/// One above every counter that anybody has named: an id that came back would make old answers new.
fn next_counter(view: &View<'_>) -> u64 {
    let told = std::iter::once(&view.rollout.own).chain(view.rollout.peers.values());
    let reported = told.filter_map(|told| told.progress.as_ref()?.as_ref().ok()?.target.as_ref());
    let granted = view.granted.grants.iter().map(|grant| &grant.target);
    let past = view.history.targets.iter().map(|past| &past.id);
    let present = view.target.map(|target| &target.id);
    let highest = reported.chain(granted).chain(past).chain(present).map(|id| id.counter()).max();
    highest.map_or(1, |highest| highest.saturating_add(1))
}

/// What members run now, by role and architecture, the lowest number first.
fn before(view: &View<'_>) -> BTreeMap<Role, BTreeMap<Architecture, BTreeMap<SnapName, Pin>>> {
    let mut before: BTreeMap<Role, BTreeMap<Architecture, BTreeMap<SnapName, Pin>>> = BTreeMap::new();
    for member in view.members.values() {
        let Some(node) = member.node else { continue };
        let here = before.entry(member.role).or_default().entry(node.architecture).or_default();
        for (name, snap) in node.snaps.iter().filter(|(_, snap)| snap.exempt.is_none()) {
            let channel = snap.channel.clone().filter(|_| !snap.on_branch);
            here.entry(name.clone()).or_insert(Pin { channel, revision: snap.revision });
        }
    }
    before
}

/// Whether a key can still be relied on to stand for what it stood for.
pub fn is_young(now: Timestamp, snap: &SnapTarget) -> bool {
    snap.created.is_none_or(|created| now.0.saturating_sub(created.0) < OLD)
}
