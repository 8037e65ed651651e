//! One observation, from the cache where it can be.

use super::cache::{Cache, Kept};
use super::forwarding::{self, OwnBags};
use super::owner::Owner;
use super::reader::{self, Reader};
use super::rollout::{self, Beside};
use super::{collection, full, stale};
use crate::databag::charm_state::{Remembered, Withheld};
use crate::databag::{Digest, Values};
use crate::juju::{Context, Endpoint, Event, PlainHook, RelationHook, RelationId, Scope, Timestamp};
use crate::observed::{Observed, Part, Relation};
use crate::tools::ToolError;
use crate::tools::hook_tools::HookTools;
use crate::tools::snap::Snap;
use std::collections::BTreeMap;

/// What a pass has observed, and what it will keep for the next one.
#[derive(Debug)]
pub struct Observation {
    /// For `decide`.
    pub observed: Observed,
    /// The charm state as it was read, to write only what differs.
    pub state: BTreeMap<String, String>,
    /// For the next pass.
    pub kept: Kept,
    /// Large values read in this pass or from the cache.
    pub values: Values,
}

/// What observes: the tools of one unit, for one pass.
#[derive(Debug)]
pub struct Observer<'a> {
    /// The hook tools.
    pub tools: &'a HookTools,
    /// The `snap` command.
    pub snap: &'a Snap,
    /// Who observes.
    pub context: &'a Context,
    /// The charm build.
    pub build: &'a str,
    /// What was kept of earlier passes.
    pub cache: &'a Cache,
    /// The hook, if one runs.
    pub event: Option<&'a Event>,
    /// Whether a hook before was not carried out to its end.
    pub marked: bool,
    /// When the pass begins.
    pub now: Timestamp,
}

/// Observes everything that `decide` looks at.
pub fn observe(observer: &Observer<'_>) -> Result<Observation, ToolError> {
    let Observer { tools, snap, context, build, cache, event, marked, now } = *observer;
    let state = tools.state_get()?;
    let (mut remembered, unread) = Remembered::read(&state);
    for key in unread {
        tracing::warn!("charm state {key}: not understood, taken as not there");
    }
    let leader = tools.is_leader()?;
    let kept = cache.load();
    let committed = !marked && kept.as_ref().is_none_or(|kept| kept.pass <= remembered.pass);
    let refused = !marked && !committed;
    if let Some(kept) = kept.as_ref().filter(|_| refused && leader) {
        hold_back(&mut remembered, kept);
    }
    let mut full_read = full::reason(event, kept.as_ref(), marked, remembered.pass);
    let broken = match event {
        Some(Event::Relation(event)) if event.hook == RelationHook::Broken => Some(event.relation),
        Some(Event::Relation(_) | Event::Plain(_)) | None => None,
    };
    forget(&mut remembered, event, leader);
    let mut kept = kept.unwrap_or_default();
    let mut values = Values::default();
    loop {
        if full_read.is_some() {
            kept.index = Default::default();
        } else if let Some(event) = event {
            stale::invalidate(&mut kept.index, event);
        }
        let mut reader = Reader { tools, context, values: &mut values, broken, jobs: BTreeMap::new() };
        reader.fill(&mut kept.index, leader)?;
        let signed = reader::signed(&kept.index);
        let new_leader = leader && signed.as_ref() != Some(&context.unit);
        if full_read.is_none() && new_leader && remembered.pass > 0 {
            // Leadership came without its hook having run yet, or another unit led in between.
            full_read = Some("another unit led before");
            continue;
        }
        let jobs = std::mem::take(&mut reader.jobs);
        let (own, own_bags) = own_databags(&mut reader, &mut kept, &remembered, leader, full_read.is_some())?;
        let mut part = forwarding::gather(&kept.index, context, leader, &own_bags);
        let digest = forwarding::gate(&part, &kept.index, build);
        // What is held back is to be tried again, so what it shall hold has to be worked out.
        let to_be_tried = remembered.withheld.values().any(|withheld| !withheld.alone);
        // As long as this leader has not met everybody, what went out before is looked at each time.
        let strange = !remembered.strangers.is_empty() || (new_leader && !remembered.rollout.met);
        let unchanged = remembered.observability == Some(digest) && !to_be_tried && !strange;
        let observability = if full_read.is_none() && unchanged {
            Part::Unchanged
        } else {
            if !cache.load_values(&forwarding::wanted(&kept.index), &mut values) && full_read.is_none() {
                full_read = Some("a cached value is missing or damaged");
                continue;
            }
            let unread = part.outgoing.iter().any(|outgoing| outgoing.own.is_none());
            if unread && (strange || forwarding::has_unreadable(&part)) {
                let reader = Reader { tools, context, values: &mut values, broken, jobs: BTreeMap::new() };
                let bags = forwarding::own_bags(&reader, &part)?;
                part = forwarding::gather(&kept.index, context, leader, &bags);
            }
            part.values = values.clone();
            part.memo = kept.memo.clone();
            Part::Changed { part: Box::new(part), digest }
        };
        count_ticks(&mut kept, event, full_read.is_some());
        let relations = relations(&kept);
        let beside = Beside {
            context,
            build,
            event,
            leader,
            committed,
            now,
            remembered: &remembered,
            foreign_owner: owner(context, event, &kept.index),
            fresh: false,
        };
        let rollout = Box::new(rollout::observe(&kept.index, &beside, snap));
        let about = collection::Beside {
            context,
            event,
            now,
            architecture: rollout.architecture,
            host: rollout.kube.host.as_deref(),
            snapd: &rollout.snapd,
            remembered: &remembered,
        };
        let mut collector = Box::new(collection::observe(&kept.index, &about));
        let gate = collection::gate(&collector, &kept.index, build);
        let collection = if full_read.is_some() || collection::is_due(&collector, gate) {
            let mut reader = Reader { tools, context, values: &mut values, broken, jobs };
            collector.sources = collection::sources(&mut reader, &kept.index)?;
            collector.silent = collection::silent(&kept.index, &collector.sources);
            Part::Changed { part: collector, digest: gate }
        } else {
            Part::Unchanged
        };
        let observed = Observed {
            now,
            event: event.cloned(),
            context: context.clone(),
            build: build.to_owned(),
            leader,
            full_read,
            committed,
            config: kept.index.config.clone().unwrap_or_default(),
            relations,
            remembered,
            own,
            signed,
            observability,
            collection,
            rollout,
        };
        return Ok(Observation { observed, state, kept, values });
    }
}

/// Another application of lockstep that owns this machine. A hook of a unit with a role takes it
/// if it is free, one that leaves gives it up. Without the lock file nobody is known to own it.
fn owner(context: &Context, event: Option<&Event>, index: &super::index::Index) -> Option<String> {
    let owner = Owner::new(context);
    let leaves = event.is_some_and(|event| event.is(PlainHook::Stop) || event.is(PlainHook::Remove));
    let roles = [Endpoint::ControlPlane, Endpoint::Worker];
    let outcome = if leaves {
        owner.release().map(|()| None)
    } else if index.relations.keys().any(|id| roles.contains(&id.endpoint)) {
        if event.is_some() { owner.claim() } else { owner.other() }
    } else {
        Ok(None)
    };
    outcome.unwrap_or_else(|error| {
        tracing::warn!("cannot tell who owns this machine: {error}");
        None
    })
}

/// The pass before came to its end and its commit was refused, while this unit led: outgoing databags
/// may be why.
fn hold_back(remembered: &mut Remembered, kept: &Kept) {
    let alone = kept.outgoing.len() == 1;
    for (relation, content) in &kept.outgoing {
        remembered.withheld.insert(*relation, Withheld { content: *content, alone });
    }
}

/// Forgets what was written where it no longer holds: a relation made anew has empty databags, a
/// broken one has none, and what a follower knew of application databags may be another's by now.
fn forget(remembered: &mut Remembered, event: Option<&Event>, leader: bool) {
    if let Some(Event::Relation(event)) = event
        && matches!(event.hook, RelationHook::Created | RelationHook::Broken)
    {
        remembered.written.remove(&event.relation);
    }
    if !leader {
        for bags in remembered.written.values_mut() {
            bags.remove(&Scope::App);
        }
    }
    remembered.written.retain(|_, bags| !bags.is_empty());
}

type Own = BTreeMap<(RelationId, Scope), BTreeMap<String, Digest>>;

/// What the own databags hold: as remembered, or as they are in a full read.
fn own_databags(
    reader: &mut Reader<'_>,
    kept: &mut Kept,
    remembered: &Remembered,
    leader: bool,
    full: bool,
) -> Result<(Own, OwnBags), ToolError> {
    let mut own = Own::new();
    let mut bags = OwnBags::new();
    for id in kept.index.ids.iter().flatten().copied() {
        for scope in scopes(id.endpoint, leader) {
            let written = remembered.written.get(&id).and_then(|bags| bags.get(scope));
            let records_known =
                id.endpoint != Endpoint::Peers || *scope == Scope::App || kept.index.own_records.is_some();
            match written {
                Some(written) if !full && records_known => {
                    own.insert((id, *scope), written.clone());
                }
                Some(_) | None => {
                    let Some(bag) = reader.own(id, *scope)? else {
                        continue;
                    };
                    own.insert((id, *scope), reader::digests(&bag));
                    if (id.endpoint, *scope) == (Endpoint::Peers, Scope::Unit) {
                        kept.index.own_records = Some(reader.records(&bag));
                        kept.index.own_texts = Some(reader::rollout_texts(&bag));
                    }
                    if *scope == Scope::App {
                        bags.insert(id, bag);
                    }
                }
            }
        }
    }
    Ok((own, bags))
}

/// The own databags that lockstep writes at an endpoint.
fn scopes(endpoint: Endpoint, leader: bool) -> &'static [Scope] {
    match (endpoint, leader) {
        (Endpoint::Peers, true) => &[Scope::Unit, Scope::App],
        (Endpoint::Peers, false) => &[Scope::Unit],
        (
            Endpoint::SendRemoteWrite
            | Endpoint::LoggingConsumer
            | Endpoint::GrafanaDashboards
            | Endpoint::ReceiveCaCert
            | Endpoint::Cohorts
            | Endpoint::FollowCohorts,
            true,
        ) => &[Scope::App],
        (
            Endpoint::SendRemoteWrite
            | Endpoint::LoggingConsumer
            | Endpoint::GrafanaDashboards
            | Endpoint::ReceiveCaCert
            | Endpoint::Cohorts
            | Endpoint::FollowCohorts,
            false,
        )
        | (Endpoint::ControlPlane | Endpoint::Worker | Endpoint::CosAgent, _) => &[],
    }
}

fn count_ticks(kept: &mut Kept, event: Option<&Event>, full: bool) {
    if full {
        kept.ticks = 0;
    } else if event.is_some_and(|event| event.is(PlainHook::UpdateStatus)) {
        kept.ticks += 1;
    }
}

fn relations(kept: &Kept) -> BTreeMap<RelationId, Relation> {
    kept.index
        .relations
        .iter()
        .map(|(id, relation)| {
            let units = relation.members.clone().unwrap_or_default();
            (*id, Relation { app: relation.app.clone(), units })
        })
        .collect()
}
