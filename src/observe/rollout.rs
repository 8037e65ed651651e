//! What the rollout looks at, out of the index and from snapd.

use super::index::{Index, Relation};
use super::{kube, machine};
use crate::databag::charm_state::Remembered;
use crate::databag::cohorts::{Offer, Versions};
use crate::databag::peers;
use crate::databag::progress::State;
use crate::decide::options;
use crate::juju::{Context, Endpoint, Event, PlainHook, RelationHook, Timestamp, UnitName};
use crate::observed::Rollout;
use crate::observed::rollout::{AppBag, Follower, Goal, Occasion, Source, Store, Told};
use crate::snap::SnapName;
use crate::tools::hook_tools::GoalState;
use crate::tools::snap::Snap;
use std::collections::{BTreeMap, BTreeSet};

/// What is known beside the index.
#[derive(Debug)]
pub struct Beside<'a> {
    /// Who observes.
    pub context: &'a Context,
    /// The charm build.
    pub build: &'a str,
    /// The hook, if one runs.
    pub event: Option<&'a Event>,
    /// Whether this unit leads.
    pub leader: bool,
    /// Whether the hook before was committed.
    pub committed: bool,
    /// When the pass began.
    pub now: Timestamp,
    /// The charm state.
    pub remembered: &'a Remembered,
    /// Another application of lockstep that owns this machine.
    pub foreign_owner: Option<String>,
    /// Whether the peers application databag was read in this pass.
    pub fresh: bool,
}

/// The rollout's part of what is observed.
pub fn observe(index: &Index, beside: &Beside<'_>, snap: &Snap) -> Rollout {
    let Beside { context, remembered, .. } = beside;
    let own = told(index.own_texts.as_ref());
    let app = app_bag(index, beside.fresh);
    let managed = managed(index, remembered, context);
    let snapd = machine::read(snap, &context.root, &managed, may_move(&own, &app, &context.unit));
    let peers = at(index, Endpoint::Peers).next();
    Rollout {
        now: beside.now,
        occasion: occasion(beside.event, &context.unit),
        committed: beside.committed,
        unit: context.unit.clone(),
        principal: context.principal_unit.clone(),
        machine: context.machine.clone(),
        architecture: machine::architecture(&context.root),
        build: beside.build.to_owned(),
        // Filled in by who knows the options.
        role: None,
        as_principal: false,
        packed: super::packed::read(&context.charm_dir),
        foreign_owner: beside.foreign_owner.clone(),
        leader: beside.leader,
        related: peers.is_some(),
        own,
        peers: peers
            .into_iter()
            .flat_map(|relation| &relation.units)
            .map(|(unit, bag)| (unit.clone(), told(Some(&bag.texts))))
            .collect(),
        app,
        goal: None,
        source: source(index),
        followers: followers(index),
        snapd,
        kube: kube::around(context, index, remembered),
        store: Store { left: snap.store_left().as_secs(), ..Store::default() },
        done: Vec::new(),
        memory: remembered.rollout.clone(),
    }
}

/// The names of managed snaps that the options and the packed file give.
pub fn managed(index: &Index, remembered: &Remembered, context: &Context) -> BTreeSet<SnapName> {
    let config = index.config.clone().unwrap_or_default();
    let options = options::read(&config, &remembered.options).rollout;
    let as_principal = options.role.is_some() && context.principal_unit.is_none();
    let packed = super::packed::read(&context.charm_dir).and_then(Result::ok);
    options.on(as_principal, packed.as_ref()).snaps.into_keys().collect()
}

/// Whether a change of snapd may be under way that this unit started.
pub fn may_move(own: &Told, app: &AppBag, unit: &UnitName) -> bool {
    let granted = app.granted.as_ref().is_ok_and(|granted| granted.of(unit).is_some());
    let upgrading =
        own.progress.as_ref().is_some_and(|p| p.as_ref().is_ok_and(|p| p.state == State::Upgrading));
    granted || upgrading || app.granted.is_err()
}

/// The peers application databag as it was read last.
pub fn app_bag(index: &Index, fresh: bool) -> AppBag {
    let bag = at(index, Endpoint::Peers).next().and_then(|relation| relation.app_bag.as_ref());
    let leader = bag.and_then(|bag| peers::read_leader(bag).ok().flatten());
    let mut app = AppBag { fresh, leader, ..AppBag::default() };
    for (key, text) in bag.into_iter().flatten() {
        app.put(key, Some(text));
    }
    app
}

/// What `goal-state` lists of principals and of our own units. Names of applications are no units.
pub fn goal(state: &GoalState) -> Goal {
    let units = |endpoint: Endpoint| {
        let names = state.relations.get(endpoint.name()).into_iter().flat_map(BTreeMap::keys);
        names.filter_map(|name| name.parse().ok()).collect()
    };
    Goal {
        units: state.units.keys().filter_map(|name| name.parse().ok()).collect(),
        control_plane: units(Endpoint::ControlPlane),
        worker: units(Endpoint::Worker),
    }
}

fn occasion(event: Option<&Event>, unit: &UnitName) -> Occasion {
    match event {
        None => Occasion::Outside,
        Some(Event::Plain(PlainHook::UpdateStatus)) => Occasion::UpdateStatus,
        Some(Event::Plain(PlainHook::Stop | PlainHook::Remove)) => Occasion::Removing,
        Some(Event::Relation(event))
            if event.hook == RelationHook::Departed && event.departing_unit.as_ref() == Some(unit) =>
        {
            Occasion::Departing
        }
        Some(Event::Plain(_) | Event::Relation(_)) => Occasion::Hook,
    }
}

fn at(index: &Index, endpoint: Endpoint) -> impl Iterator<Item = &Relation> {
    index.relations.iter().filter(move |(id, _)| id.endpoint == endpoint).map(|(_, relation)| relation)
}

fn told(texts: Option<&BTreeMap<String, String>>) -> Told {
    let mut told = Told::default();
    for (key, text) in texts.into_iter().flatten() {
        told.put(key, Some(text));
    }
    told
}

fn source(index: &Index) -> Option<Source> {
    let (id, relation) = index.relations.iter().find(|(id, _)| id.endpoint == Endpoint::FollowCohorts)?;
    Some(Source {
        relation: *id,
        app: relation.app.clone(),
        offer: relation.app_bag.as_ref().and_then(|bag| Offer::read(bag).transpose()),
    })
}

fn followers(index: &Index) -> BTreeMap<crate::juju::RelationId, Follower> {
    let relations = index.relations.iter().filter(|(id, _)| id.endpoint == Endpoint::Cohorts);
    relations
        .map(|(id, relation)| {
            let versions = relation.app_bag.as_ref().and_then(|bag| Versions::read(bag).transpose());
            (*id, Follower { app: relation.app.clone(), versions })
        })
        .collect()
}
