//! A hook context: what one hook, action or `juju exec` reads and has buffered so far.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::world::{HookInfo, HookKind, StatusInfo, World};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Job {
    /// A hook.
    Hook(HookInfo),
    /// An action by id.
    Action(u32),
    /// A command line in the unit's context, as `juju exec` runs it.
    Exec(Vec<String>),
}

/// `juju-reboot`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reboot {
    /// Not called.
    #[default]
    No,
    /// After the hook, if it succeeds.
    After,
    /// `--now`
    Now,
}

/// A databag that belongs to the local unit or application, as the hook sees it.
#[derive(Debug, Clone, Default)]
pub struct OwnBag {
    /// With pending writes, without pending deletes.
    pub view: BTreeMap<String, String>,
    /// What is sent at the end; empty values delete.
    pub writes: BTreeMap<String, String>,
}

/// One hook context.
#[derive(Debug, Clone)]
pub struct Context {
    /// `JUJU_CONTEXT_ID`
    pub id: String,
    /// Whose.
    pub unit: String,
    /// Its application.
    pub app: String,
    /// What is run.
    pub job: Job,
    /// The hook's relation.
    pub relation: Option<u32>,
    /// `JUJU_REMOTE_UNIT`, none where it is empty.
    pub remote_unit: Option<String>,
    /// `JUJU_REMOTE_APP`, none where it is empty.
    pub remote_app: Option<String>,
    /// Relations that the agent knows, with our endpoint.
    pub known: BTreeMap<u32, String>,
    /// What `relation-list` shows.
    pub members: BTreeMap<u32, BTreeSet<String>>,
    /// Our unit's databags, once touched: they are sent at the end.
    pub own_unit: BTreeMap<u32, OwnBag>,
    /// Our application's databags, once touched as leader.
    pub own_app: BTreeMap<u32, OwnBag>,
    /// Databags that are read once a hook: of applications, and of units that are no members.
    pub once: BTreeMap<(u32, String), BTreeMap<String, String>>,
    /// `config-get`, read once.
    pub config: Option<BTreeMap<String, Value>>,
    /// Charm state, read once, with pending writes.
    pub state: Option<BTreeMap<String, String>>,
    /// Whether the state is sent at the end.
    pub state_written: bool,
    /// `is-leader` said False: it says so for the rest of the hook.
    pub not_leader: bool,
    /// `status-get`, read once.
    pub status: Option<StatusInfo>,
    /// Ports to open (true) or to close.
    pub ports: Vec<(bool, String)>,
    /// `juju-reboot`
    pub reboot: Reboot,
    /// `action-set`
    pub results: Value,
    /// `action-fail`
    pub failed: Option<String>,
}

impl Context {
    /// The context of a hook, an action or a command line; `nonce` makes its id unique.
    pub fn new(world: &mut World, unit: &str, job: Job) -> Self {
        let nonce = world.rng.hex(32);
        let (hook, name) = match &job {
            Job::Hook(hook) => (Some(hook.clone()), hook.name()),
            Job::Action(id) => (None, world.actions.get(id).map_or(String::new(), |a| a.name.clone())),
            Job::Exec(_) => (None, "run-commands".to_owned()),
        };
        let mut context = Self {
            id: format!("{unit}-{name}-{nonce}"),
            unit: unit.to_owned(),
            app: World::app_of(unit).to_owned(),
            job,
            relation: hook.as_ref().and_then(|h| h.relation),
            remote_unit: hook.as_ref().and_then(|h| h.remote_unit.clone()),
            remote_app: hook.as_ref().and_then(|h| h.remote_app.clone()),
            known: BTreeMap::new(),
            members: BTreeMap::new(),
            own_unit: BTreeMap::new(),
            own_app: BTreeMap::new(),
            once: BTreeMap::new(),
            config: None,
            state: None,
            state_written: false,
            not_leader: false,
            status: None,
            ports: Vec::new(),
            reboot: Reboot::No,
            results: Value::Object(serde_json::Map::new()),
            failed: None,
        };
        let Some(agent) = world.units.get_mut(unit).map(|u| &mut u.uniter) else { return context };
        for (id, state) in &agent.relations {
            if state.implicit || state.broken {
                continue;
            }
            context.known.insert(*id, state.endpoint.clone());
            context.members.insert(*id, state.members.keys().cloned().collect());
        }
        if let Some(hook) = hook
            && let Some(id) = hook.relation
        {
            context.enter_hook(&hook, id);
            let cache = agent.cache.entry(id).or_default();
            if let Some(remote) = &hook.remote_unit {
                cache.remove(remote);
            }
        }
        // Databags of units that are no members any more are forgotten.
        for (id, cache) in &mut agent.cache {
            let members = context.members.get(id);
            cache.retain(|unit, _| members.is_some_and(|m| m.contains(unit)));
        }
        context
    }

    fn enter_hook(&mut self, hook: &HookInfo, id: u32) {
        let members = self.members.entry(id).or_default();
        match (hook.kind, &hook.remote_unit) {
            (HookKind::RelationJoined, Some(remote)) => {
                members.insert(remote.clone());
            }
            (HookKind::RelationDeparted, Some(remote)) => {
                members.remove(remote);
            }
            (HookKind::RelationBroken, _) => members.clear(),
            (_, _) => {}
        }
    }

    /// Whether the hook is the `-relation-broken` of this relation.
    pub fn is_breaking(&self, id: u32) -> bool {
        matches!(&self.job, Job::Hook(hook) if hook.kind == HookKind::RelationBroken && hook.relation == Some(id))
    }

    /// `peers:3`
    pub fn relation_id(&self, id: u32) -> String {
        format!("{}:{id}", self.known.get(&id).map_or("", String::as_str))
    }

    /// `is-leader` with its memory.
    pub fn is_leader(&mut self, world: &mut World) -> bool {
        if self.not_leader {
            return false;
        }
        let leader = world.ask_leadership(&self.unit);
        self.not_leader = !leader;
        leader
    }
}
