//! The heads of channels: who asks the store, what is reported, and what of it is news.
//!
//! `snap info` shows its own machine's architecture only, so the lowest-numbered member of each
//! architecture asks for all. What a report does not say is unknown, which is never news.

use super::view::View;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::node::{Exempt, Node, NodeHead, NodeHeads};
use crate::databag::target::{Target, TargetHeads};
use crate::juju::Timestamp;
use crate::plan::Effect;
use crate::snap::{Architecture, Channel, Heads, SnapName};
use std::collections::{BTreeMap, BTreeSet};

/// A report that is older is stale.
const FRESH: u64 = 2 * 24 * 3600;
/// An unchanged report is written anew when it is this old.
const REPEAT: u64 = 24 * 3600;
/// After the store was silent it is asked again this much later.
const AGAIN: u64 = 10 * 60;

/// Whether this unit is the one that asks for its architecture: the lowest number among the members
/// of that architecture, this unit as `node` says it is now.
pub fn is_reporter(view: &View<'_>, node: &Node) -> bool {
    let own = view.rollout.unit.number();
    let lower = view.members.values().any(|member| {
        !member.itself
            && member.unit.number() < own
            && member.node.is_some_and(|other| other.architecture == node.architecture)
    });
    node.role.is_some() && !node.snaps.is_empty() && !lower
}

/// Asks the store where that is due. Before anything was altered in this pass only: a move takes its
/// time, and the leadership that was promised runs out.
pub fn ask(view: &View<'_>, node: &Node) -> Option<Effect> {
    let rollout = view.rollout;
    let names: Vec<SnapName> = view.options.snaps.keys().cloned().collect();
    let asked = names.iter().all(|name| rollout.store.infos.contains_key(name));
    let due = rollout
        .memory
        .asked
        .is_none_or(|asked| rollout.now.0.saturating_sub(asked.0) >= view.options.check_interval)
        // Another channel is wanted: what it has is to be known before the upgrade can begin.
        || !wanted(view).is_subset(&rollout.memory.asked_for);
    let may = is_reporter(view, node) && rollout.done.is_empty() && rollout.store.left > 0;
    (due && may && !asked && !names.is_empty())
        .then_some(Effect::ReadInfo { names: first_installed(view, names) })
}

/// The channels that the options ask for and a member does not follow yet.
fn wanted(view: &View<'_>) -> BTreeSet<Channel> {
    let nodes = || view.members.values().filter_map(|member| member.node);
    let mut wishes = view.wishes();
    wishes.retain(|name, wish| {
        let mut snaps = nodes().filter_map(|node| node.snaps.get(name)).filter(|snap| snap.exempt.is_none());
        snaps.any(|snap| snap.channel.as_ref() != Some(&wish.channel))
    });
    wishes.into_values().map(|wish| wish.channel).collect()
}

/// The installed ones first: if the store is silent, it is that which is found out at the first.
fn first_installed(view: &View<'_>, mut names: Vec<SnapName>) -> Vec<SnapName> {
    let installed = view.rollout.snapd.installed.as_ref();
    names.sort_by_key(|name| !installed.is_ok_and(|installed| installed.contains_key(name)));
    names
}

/// Puts what the store said into the own node, and keeps what it did not say.
/// `always`: also where another unit is the one that reports.
pub fn report(view: &View<'_>, node: &mut Node, always: bool, memory: &mut RolloutMemory) {
    let rollout = view.rollout;
    if !always && !is_reporter(view, node) {
        memory.silent = false;
        return;
    }
    let committed = rollout.own.node.as_ref().and_then(|node| node.as_ref().ok());
    let names = || view.options.snaps.keys();
    let mut answered = false;
    for name in names() {
        let old = committed.and_then(|node| node.heads.get(name));
        let heads = match rollout.store.infos.get(name) {
            Some(Ok(info)) => info.heads.as_ref(),
            Some(Err(_)) | None => None,
        };
        answered |= heads.is_some();
        let new = heads.map(|heads| in_use(view, node, name, heads));
        let heads = match (new, old) {
            (None, None) => continue,
            (None, Some(old)) => old.clone(),
            (Some(new), Some(old))
                if (&new.channels, &new.absent) == (&old.channels, &old.absent)
                    && rollout.now.0.saturating_sub(old.read.0) < REPEAT =>
            {
                old.clone()
            }
            (Some(new), _) => new,
        };
        node.heads.insert(name.clone(), heads);
    }
    if rollout.done.is_empty() && names().all(|name| rollout.store.infos.contains_key(name)) {
        let back = if answered { 0 } else { view.options.check_interval.saturating_sub(AGAIN) };
        memory.asked = Some(Timestamp(rollout.now.0.saturating_sub(back)));
        // Of local builds the store has nothing to tell.
        memory.silent = !answered && node.snaps.values().any(|snap| snap.exempt != Some(Exempt::Sideloaded));
        memory.asked_for = wanted(view);
    }
}

/// Of a snap's heads those that members of this architecture track, and those that are wanted.
fn in_use(view: &View<'_>, own: &Node, name: &SnapName, heads: &Heads) -> NodeHeads {
    let others = view.members.values().filter(|member| !member.itself).filter_map(|member| member.node);
    let nodes = others.filter(|node| node.architecture == own.architecture).chain([own]);
    let nodes: Vec<&Node> = nodes.collect();
    let mut channels: BTreeSet<&Channel> =
        nodes.iter().filter_map(|node| node.snaps.get(name)?.channel.as_ref()).collect();
    if is_lent(view, name) {
        channels.extend(
            nodes.iter().flat_map(|node| node.snaps.values()).filter_map(|snap| snap.channel.as_ref()),
        );
    }
    let wishes = view.wishes();
    channels.extend(wishes.get(name).map(|wish| &wish.channel));
    let mut told = NodeHeads { read: view.rollout.now, channels: BTreeMap::new(), absent: BTreeSet::new() };
    for channel in channels {
        match heads.of(channel) {
            Some(Some(head)) => {
                let head = NodeHead { revision: head.revision, version: head.version.as_str().into() };
                told.channels.insert(channel.clone(), head);
            }
            // Branches are not listed, whether or not they are there.
            None if channel.branch().is_some() => {}
            // Closed, or the store has no such track.
            Some(None) | None => {
                told.absent.insert(channel.clone());
            }
        }
    }
    told
}

/// What the members report that is fresh, with the time of it: by snap and architecture.
pub type Reports<'a> = BTreeMap<&'a SnapName, BTreeMap<Architecture, &'a NodeHeads>>;

/// The newest fresh report of each snap and architecture. `own` is what this unit reports now.
pub fn reports<'a>(view: &View<'a>, own: &'a Node) -> Reports<'a> {
    let mut reports = Reports::new();
    let now = view.rollout.now.0;
    let others = view.members.values().filter(|member| !member.itself).filter_map(|member| member.node);
    for node in others.chain([own]) {
        for (name, heads) in &node.heads {
            if now.saturating_sub(heads.read.0) >= FRESH || heads.read.0 > now.saturating_add(FRESH) {
                continue;
            }
            let slot = reports.entry(name).or_default().entry(node.architecture).or_insert(heads);
            if heads.read > slot.read {
                *slot = heads;
            }
        }
    }
    reports
}

/// Whether a snap is on none of the members and may be on machines of an application that follows.
fn is_lent(view: &View<'_>, name: &SnapName) -> bool {
    let nodes = || view.members.values().filter_map(|member| member.node);
    !view.rollout.followers.is_empty() && !nodes().any(|node| node.snaps.contains_key(name))
}

/// Where members have a snap and it is not exempt there: architecture and channel. Of a snap that only
/// the machines of followers have, the channels of the others stand for what is not known here.
pub fn uses<'a>(view: &View<'a>, name: &SnapName) -> BTreeSet<(Architecture, &'a Channel)> {
    let nodes = view.members.values().filter_map(|member| member.node);
    if is_lent(view, name) {
        return nodes
            .flat_map(|node| node.snaps.values().map(move |snap| (node.architecture, snap)))
            .filter(|(_, snap)| snap.exempt.is_none() && !snap.on_branch)
            .filter_map(|(architecture, snap)| Some((architecture, snap.channel.as_ref()?)))
            .collect();
    }
    nodes
        .filter_map(|node| {
            let snap = node.snaps.get(name).filter(|snap| snap.exempt.is_none() && !snap.on_branch)?;
            Some((node.architecture, snap.channel.as_ref()?))
        })
        .collect()
}

/// A head that is another revision than the target was made for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewHead {
    /// The snap.
    pub name: SnapName,
    /// The architecture.
    pub architecture: Architecture,
    /// The head.
    pub head: NodeHead,
}

/// The heads that are news about a snap.
pub fn news(view: &View<'_>, target: &Target, reports: &Reports<'_>, name: &SnapName) -> Vec<NewHead> {
    let since = target.snaps.get(name).and_then(|snap| snap.created).unwrap_or(target.made);
    uses(view, name)
        .into_iter()
        .filter_map(|(architecture, channel)| {
            // A report from before the key was made says nothing about what the key holds.
            let heads = reports.get(name)?.get(&architecture).filter(|heads| heads.read >= since)?;
            let head = heads.channels.get(channel)?;
            let known = target.heads.get(name).and_then(|heads| heads.get(&architecture)?.get(channel));
            let known = known.map(|head| head.revision);
            let base = known.or_else(|| given(view, target, name, architecture, channel))?;
            let (name, head) = (name.clone(), head.clone());
            (head.revision != base).then_some(NewHead { name, architecture, head })
        })
        .collect()
}

/// What members that completed the target run: what its key gave, where no head was known when it
/// was made.
fn given(
    view: &View<'_>,
    target: &Target,
    name: &SnapName,
    architecture: Architecture,
    channel: &Channel,
) -> Option<crate::snap::Revision> {
    view.members.values().filter(|member| member.has_completed(&target.id)).find_map(|member| {
        let node = member.node.filter(|node| node.architecture == architecture)?;
        let snap = node.snaps.get(name)?;
        (snap.channel.as_ref() == Some(channel) && snap.exempt.is_none()).then_some(snap.revision)
    })
}

/// Whether a head in use is a revision that was left behind by a rollback.
pub fn is_refused(view: &View<'_>, target: &Target, reports: &Reports<'_>, name: &SnapName) -> bool {
    let Some(refused) = target.refused.get(name) else { return false };
    uses(view, name).into_iter().any(|(architecture, channel)| {
        let Some(refused) = refused.get(&architecture) else { return false };
        // Where the head is not known it may be one of them.
        let head = reports.get(name).and_then(|heads| heads.get(&architecture)?.channels.get(channel));
        head.is_none_or(|head| refused.contains(&head.revision))
    })
}

/// The reported heads in use of these names, for a new target.
pub fn baseline<'n>(
    view: &View<'_>,
    reports: &Reports<'_>,
    names: impl IntoIterator<Item = &'n SnapName>,
) -> TargetHeads {
    let mut heads = TargetHeads::new();
    for name in names {
        for (architecture, channel) in uses(view, name) {
            let head = reports.get(name).and_then(|heads| heads.get(&architecture)?.channels.get(channel));
            if let Some(head) = head {
                let of_snap = heads.entry(name.clone()).or_default();
                of_snap.entry(architecture).or_default().insert(channel.clone(), head.clone());
            }
        }
    }
    heads
}
