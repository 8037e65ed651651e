//! The model as plain data: what a controller's database and the agents' own files hold.
//!
//! Everything here is `Clone` and serializes, so a world can be forked, dumped after a hook, and judged by code that
//! knows nothing of the simulator. No rule of Juju lives here beyond look-ups.

mod application;
mod charm;
mod hook;
mod machine;
mod relation;
mod status;
mod time;
mod unit;
mod version;

use std::collections::BTreeMap;

use serde::Serialize;

pub use application::{Application, ConfigSeen, Lease};
pub use charm::{Charm, EndpointDef, Role};
pub use hook::{HookInfo, HookKind};
pub use machine::{Machine, Stub};
pub use relation::{Bag, Owner, Relation, RelationEnd, RelationUnit, Scope};
pub use status::{Level, LogRecord, StatusInfo, StatusRecord};
pub use time::Time;
pub use unit::{Life, Pending, RelationState, Unit, Uniter, tag as unit_tag};
pub use version::Version;

use crate::kube::{Access, Kube};
use crate::rng::Rng;
use crate::snapd::SnapTimes;
use crate::store::Store;

/// The name and the UUID that hooks see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Model {
    /// `JUJU_MODEL_NAME`
    pub name: String,
    /// `JUJU_MODEL_UUID`
    pub uuid: String,
}

/// Sizes that a commit is refused for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// One databag, keys and values together.
    pub bag: usize,
    /// The charm state of one unit.
    pub state: usize,
}

/// An action that was run, or is running.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActionRun {
    /// `JUJU_ACTION_UUID`
    pub id: u32,
    /// On which unit.
    pub unit: String,
    /// Name in actions.yaml.
    pub name: String,
    /// What the admin gave.
    pub params: BTreeMap<String, serde_json::Value>,
    /// `running`, `completed` or `failed`.
    pub status: String,
    /// Why it failed.
    pub message: String,
    /// What `action-set` collected, with `return-code`, `stdout` and `stderr`.
    pub results: serde_json::Value,
    /// Progress lines.
    pub log: Vec<String>,
}

/// What an application's new machines and scripted units are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Provision {
    /// Architecture of its machines.
    pub arch: Option<String>,
    /// Snaps on its machines.
    #[serde(skip)]
    pub snaps: Vec<crate::snapd::SnapSpec>,
    /// What scripted units run on their machines, in each of their hooks.
    pub commands: Vec<Vec<String>>,
    /// What the bearers of its machines' kubeconfigs may do, by place; none: at the usual one.
    #[serde(skip)]
    pub kubeconfigs: BTreeMap<Option<String>, Access>,
}

/// The whole model.
#[derive(Debug, Clone, Serialize)]
pub struct World {
    /// The version of the agents.
    pub juju: Version,
    /// Name and UUID.
    pub model: Model,
    /// Simulated time.
    pub clock: Time,
    /// Where Juju's order is free, this decides.
    pub rng: Rng,
    /// By id.
    pub machines: BTreeMap<String, Machine>,
    /// By name.
    pub applications: BTreeMap<String, Application>,
    /// By name, and so in Juju's own string order.
    pub units: BTreeMap<String, Unit>,
    /// By id.
    pub relations: BTreeMap<u32, Relation>,
    /// By id.
    pub actions: BTreeMap<u32, ActionRun>,
    /// The id of the next machine.
    pub next_machine: u32,
    /// The id of the next relation.
    pub next_relation: u32,
    /// The id of the next action.
    pub next_action: u32,
    /// Sizes that a commit is refused for.
    pub limits: Limits,
    /// Model config `automatically-retry-hooks`.
    pub retry_hooks: bool,
    /// Model config `update-status-hook-interval`, in milliseconds.
    pub update_status_interval: u64,
    /// By application: what its new machines and its scripted units are given.
    pub provisions: BTreeMap<String, Provision>,
    /// The snap store.
    pub store: Store,
    /// The Kubernetes cluster.
    pub kube: Kube,
    /// How long changes of snaps take.
    pub snap_times: SnapTimes,
    /// Transient timers fire.
    pub timers: bool,
    /// `juju debug-log`, from the start.
    #[serde(skip)]
    pub log: Vec<LogRecord>,
}

impl World {
    /// An empty model.
    pub fn new(juju: Version, model: Model, seed: u64) -> Self {
        let limits = Limits {
            // 16 MiB is one MongoDB document; the limit of 4.0.12 is not known, so a low one is taken.
            bag: if juju.at_least(4, 0, 12) { 512 << 10 } else { 16 << 20 },
            state: 2 << 20,
        };
        Self {
            juju,
            model,
            clock: Time::START,
            rng: Rng::new(seed),
            machines: BTreeMap::new(),
            applications: BTreeMap::new(),
            units: BTreeMap::new(),
            relations: BTreeMap::new(),
            actions: BTreeMap::new(),
            next_machine: 0,
            next_relation: 0,
            next_action: 1,
            limits,
            retry_hooks: true,
            update_status_interval: 300_000,
            provisions: BTreeMap::new(),
            store: Store::new(seed),
            kube: Kube::default(),
            snap_times: SnapTimes::default(),
            timers: true,
            log: Vec::new(),
        }
    }

    /// The world as one JSON value.
    pub fn dump(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or(serde_json::Value::Null)
    }

    /// What a model comes to, without the way there: databags, statuses, versions and ports, but no times,
    /// no counters and no charm state. Two runs that must end alike are compared by it.
    pub fn end_state(&self) -> serde_json::Value {
        use serde_json::{Map, Value, json};
        let status = |info: &StatusInfo| json!({"status": info.status, "message": info.message});
        let units: Map<String, Value> = self
            .units
            .iter()
            .map(|(name, unit)| {
                let workload = status(unit.shown_status());
                let value = json!({"workload": workload, "version": unit.version, "ports": unit.ports, "life": unit.life});
                (name.clone(), value)
            })
            .collect();
        let apps: Map<String, Value> =
            self.applications.keys().map(|name| (name.clone(), status(&self.app_status(name)))).collect();
        let relations: Map<String, Value> = self
            .relations
            .values()
            .map(|relation| {
                let units =
                    relation.units.iter().map(|(name, state)| (name.clone(), json!(state.bag.values)));
                let apps = relation.apps.iter().map(|(name, bag)| (name.clone(), json!(bag.values)));
                (relation.key.clone(), Value::Object(units.chain(apps).collect()))
            })
            .collect();
        let snaps: Map<String, Value> = self
            .machines
            .iter()
            .filter(|(_, machine)| !machine.snapd.snaps.is_empty())
            .map(|(id, machine)| {
                let one = |snap: &crate::snapd::Snap| {
                    json!({"revision": snap.revision, "tracking": snap.tracking, "in-cohort": snap.cohort_key.is_some()})
                };
                let snaps = machine.snapd.snaps.iter().map(|(name, snap)| (name.clone(), one(snap)));
                (id.clone(), Value::Object(snaps.collect()))
            })
            .collect();
        json!({"applications": apps, "units": units, "databags": relations, "snaps": snaps})
    }

    /// Whether a scripted unit has commands to run in its hooks.
    pub fn has_commands(&self, unit: &str) -> bool {
        let provision = self.provisions.get(Self::app_of(unit));
        provision.is_some_and(|provision| !provision.commands.is_empty())
    }

    /// The application of a unit name, `k8s` of `k8s/0`.
    pub fn app_of(unit: &str) -> &str {
        unit.rsplit_once('/').map_or(unit, |(app, _)| app)
    }

    /// The units of an application by number.
    pub fn units_of(&self, app: &str) -> Vec<&Unit> {
        let mut units: Vec<&Unit> = self.units.values().filter(|u| u.application == app).collect();
        units.sort_by_key(|u| u.number);
        units
    }

    /// The subordinates beside a principal.
    pub fn subordinates_of(&self, principal: &str) -> Vec<&Unit> {
        self.units.values().filter(|u| u.principal.as_deref() == Some(principal)).collect()
    }

    /// Who leads, by the lease.
    pub fn leader_of(&self, app: &str) -> Option<&str> {
        self.applications.get(app)?.lease.holder.as_deref()
    }

    /// Whether the lease says that this unit leads.
    pub fn is_leader(&self, unit: &str) -> bool {
        self.leader_of(Self::app_of(unit)) == Some(unit)
    }

    /// The relation between two endpoints as they are written in a scenario (`app:endpoint`), or a peer relation.
    pub fn find_relation(&self, ends: &[String]) -> Option<u32> {
        self.relations
            .values()
            .find(|r| {
                r.endpoints.len() == ends.len()
                    && ends.iter().all(|end| {
                        r.endpoints
                            .iter()
                            .any(|e| *end == format!("{}:{}", e.application, e.name) || *end == e.application)
                    })
            })
            .map(|r| r.id)
    }

    /// The other side's units that `unit` can ever see in a relation, in scope now, with their bag versions.
    ///
    /// For a container scope these are the ones beside the same principal.
    pub fn counterparts(&self, relation: u32, unit: &str) -> BTreeMap<String, u64> {
        let Some(relation) = self.relations.get(&relation) else { return BTreeMap::new() };
        let app = Self::app_of(unit);
        let scope = self.scope_key(relation, unit);
        relation
            .units
            .iter()
            .filter(|(name, state)| {
                name.as_str() != unit
                    && state.scope == Scope::In
                    && state.container == scope
                    && (relation.is_peer() || Self::app_of(name) != app)
            })
            .map(|(name, state)| (name.clone(), state.bag.version))
            .collect()
    }

    /// The principal unit whose container a unit's scope is; none in a global relation.
    pub fn scope_key(&self, relation: &Relation, unit: &str) -> Option<String> {
        if !relation.container {
            return None;
        }
        let principal = self.units.get(unit).and_then(|u| u.principal.clone());
        Some(principal.unwrap_or_else(|| unit.to_owned()))
    }

    /// Adds a line to the model's log.
    pub fn log(&mut self, unit: &str, module: &str, level: Level, text: &str) {
        self.log.push(LogRecord {
            time: self.clock,
            unit: unit.to_owned(),
            module: module.to_owned(),
            level,
            text: text.to_owned(),
        });
    }
}
