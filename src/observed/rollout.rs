//! What the rollout looks at: this machine, the store, the peers, and what the leader has written.
//!
//! What could not be read is a value here, never an error. What a pass reads only when it is asked
//! to (the effects of a plan) is absent until then.

use crate::databag::Unread;
use crate::databag::charm_state::RolloutMemory;
use crate::databag::cohorts::{Offer, Versions};
use crate::databag::granted::{GRANTED, Granted};
use crate::databag::history::{HISTORY, History};
use crate::databag::node::{NODE, NODES, Node, Nodes, Role};
use crate::databag::progress::{PROGRESS, Progress};
use crate::databag::skipped::{SKIPPED, Skipped};
use crate::databag::target::{TARGET, Target};
use crate::juju::{AppName, RelationId, Timestamp, UnitName};
use crate::kube;
use crate::snap::{
    Alteration, Answer, Architecture, Change, CohortKey, Info, Installed, Packed, Service, SnapName,
    SnapdVersion, Trouble,
};
use std::collections::{BTreeMap, BTreeSet};

/// Observed data of the rollout.
#[derive(Debug, Clone, PartialEq)]
pub struct Rollout {
    /// When the pass began.
    pub now: Timestamp,
    /// What this pass runs in.
    pub occasion: Occasion,
    /// False after a hook that was not committed.
    pub committed: bool,
    /// This unit.
    pub unit: UnitName,
    /// The principal beside it; none in a principal charm.
    pub principal: Option<UnitName>,
    /// The id of its machine.
    pub machine: String,
    /// The machine's architecture.
    pub architecture: Architecture,
    /// The charm build.
    pub build: String,
    /// Its role by the option `role` or the container endpoints; none also where there are two.
    pub role: Option<Role>,
    /// Whether this is a principal charm (the option `role` is set): goal-state lists its own units.
    pub as_principal: bool,
    /// What the charm's own file `snaps.yaml` says, or what is wrong with it; none where there is none.
    pub packed: Option<Result<Packed, String>>,
    /// Whether another lockstep application owns this machine (the lock file): no effect on it.
    pub foreign_owner: Option<String>,
    /// Whether this unit leads, as last asked in this pass.
    pub leader: bool,
    /// Whether the peer relation is there.
    pub related: bool,
    /// What its own peer unit databag held when the pass began, as committed.
    pub own: Told,
    /// The other units that are listed in the peer relation.
    pub peers: BTreeMap<UnitName, Told>,
    /// The peers application databag.
    pub app: AppBag,
    /// `goal-state`, if it was read in this pass.
    pub goal: Option<Result<Goal, String>>,
    /// The relation at `follow-cohorts`.
    pub source: Option<Source>,
    /// The relations at `cohorts`.
    pub followers: BTreeMap<RelationId, Follower>,
    /// This machine. Read again after each effect on it.
    pub snapd: Snapd,
    /// The Kubernetes cluster, as far as it is seen from this machine.
    pub kube: Kube,
    /// The store's answers in this pass.
    pub store: Store,
    /// The effects on the machine that were carried out in this pass, in order, with their outcome.
    pub done: Vec<(Alteration, Result<Answer, Trouble>)>,
    /// What the last committed pass remembered.
    pub memory: RolloutMemory,
}

impl Rollout {
    /// What a unit sees that has a peer relation, no peers and no snaps, in a hook.
    pub fn of_unit(unit: UnitName, build: &str) -> Self {
        Self {
            now: Timestamp(0),
            occasion: Occasion::Hook,
            committed: true,
            unit,
            principal: None,
            machine: String::new(),
            architecture: Architecture::of_this_machine(),
            build: build.to_owned(),
            role: None,
            as_principal: false,
            packed: None,
            foreign_owner: None,
            leader: false,
            related: true,
            own: Told::default(),
            peers: BTreeMap::new(),
            app: AppBag::default(),
            goal: None,
            source: None,
            followers: BTreeMap::new(),
            snapd: Snapd::default(),
            kube: Kube::default(),
            store: Store::default(),
            done: Vec::new(),
            memory: RolloutMemory::default(),
        }
    }
}

/// What a pass runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occasion {
    /// The hook `update-status`.
    UpdateStatus,
    /// Any other hook of a unit that stays.
    Hook,
    /// A hook that tells that this unit is departing (it is the departing unit of a relation).
    Departing,
    /// The hooks `stop` and `remove`: removal's effects on the machine, and no other.
    Removing,
    /// No hook: an action, `juju exec`, the follow-up pass.
    Outside,
}

/// What one unit's databag tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Told {
    /// Its key `node`; none where it is not there.
    pub node: Option<Result<Node, Unread>>,
    /// Its key `progress`; likewise.
    pub progress: Option<Result<Progress, Unread>>,
    /// Its key `nodes`; likewise.
    pub nodes: Option<Result<Nodes, Unread>>,
}

impl Told {
    /// Takes over what a key of the databag says, none where it is not there. Other keys are no concern here.
    pub fn put(&mut self, key: &str, text: Option<&str>) {
        match key {
            NODE => self.node = text.map(Node::read),
            PROGRESS => self.progress = text.map(Progress::read),
            NODES => self.nodes = text.map(Nodes::read),
            _ => {}
        }
    }
}

/// The peers application databag.
#[derive(Debug, Clone, PartialEq)]
pub struct AppBag {
    /// Whether it was read in this hook, and after the last query to the store. A leader has asked
    /// `is-leader` again just before.
    pub fresh: bool,
    /// The key `target`; none: there is no target yet.
    pub target: Result<Option<Target>, Unread>,
    /// The key `granted`.
    pub granted: Result<Granted, Unread>,
    /// The key `skipped`.
    pub skipped: Result<Skipped, Unread>,
    /// The key `history`.
    pub history: Result<History, Unread>,
    /// The unit that wrote last.
    pub leader: Option<UnitName>,
}

impl AppBag {
    /// Takes over what a key of the databag says, none where it is not there. Other keys are no concern here.
    pub fn put(&mut self, key: &str, text: Option<&str>) {
        match key {
            TARGET => self.target = Target::read(text),
            GRANTED => self.granted = Granted::read(text),
            SKIPPED => self.skipped = Skipped::read(text),
            HISTORY => self.history = History::read(text),
            _ => {}
        }
    }
}

/// What `goal-state` lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Goal {
    /// The units of the application itself; empty for a subordinate.
    pub units: BTreeSet<UnitName>,
    /// The principal units at the endpoint `control-plane`.
    pub control_plane: BTreeSet<UnitName>,
    /// The principal units at the endpoint `worker`.
    pub worker: BTreeSet<UnitName>,
}

/// The application that is followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The relation.
    pub relation: RelationId,
    /// Its name as it is known here; across models it is a made-up one.
    pub app: Option<AppName>,
    /// Its databag; none where it has told nothing yet. The fault names the key.
    pub offer: Option<Result<Offer, (&'static str, Unread)>>,
}

/// An application that follows.
#[derive(Debug, Clone, PartialEq)]
pub struct Follower {
    /// Its name as it is known here.
    pub app: Option<AppName>,
    /// What it tells back; none where it has told nothing yet.
    pub versions: Option<Result<Versions, Unread>>,
}

/// What snapd says about this machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapd {
    /// `snap list`: all snaps.
    pub installed: Result<BTreeMap<SnapName, Installed>, Trouble>,
    /// Changes that are in flight, by the managed snap that they touch.
    pub changes: Result<BTreeMap<SnapName, Vec<Change>>, Trouble>,
    /// `snap services`.
    pub services: Result<BTreeMap<SnapName, Vec<Service>>, Trouble>,
    /// The version of the running snapd; none where it does not tell, and where nothing is left to hold.
    pub version: Option<SnapdVersion>,
}

/// What can be seen of the Kubernetes cluster from this machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kube {
    /// The machine's host name in lower case.
    pub host: Option<String>,
    /// The machine's address, where Juju has told it.
    pub address: Option<String>,
    /// Whether there is a kubeconfig: without one nothing is looked at.
    pub kubeconfig: bool,
    /// What the API server answered in this pass, since the last move; none: it was not asked.
    pub seen: Option<Seen>,
}

/// What the API server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Whether it is ready; none where only the own node was asked for.
    pub api_server: Option<Result<(), kube::Trouble>>,
    /// The own node.
    pub own: Result<kube::Node, kube::Trouble>,
    /// All nodes, by name.
    pub nodes: Result<Vec<kube::Node>, kube::Trouble>,
    /// The pods of `kube-system`.
    pub pods: Result<kube::Pods, kube::Trouble>,
}

impl Seen {
    /// Nothing but why. `whole`: of everything, else of the own node.
    pub fn nothing(trouble: &kube::Trouble, whole: bool) -> Self {
        let seen = Self { own: Err(trouble.clone()), ..Self::default() };
        if !whole {
            return seen;
        }
        let api_server = Some(Err(trouble.clone()));
        Self { api_server, nodes: Err(trouble.clone()), pods: Err(trouble.clone()), ..seen }
    }
}

impl Default for Seen {
    /// Nothing was asked.
    fn default() -> Self {
        let trouble = kube::Trouble { kind: kube::TroubleKind::Other, text: "not asked".to_owned() };
        Self { api_server: None, own: Err(trouble.clone()), nodes: Err(trouble.clone()), pods: Err(trouble) }
    }
}

/// What the store answered in this pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Store {
    /// Seconds left for queries to the store.
    pub left: u64,
    /// `snap info --verbose`, by name: the heads, and the stored key of an installed snap.
    pub infos: BTreeMap<SnapName, Result<Info, Trouble>>,
    /// Each `snap create-cohort`, in order: for which names, and the keys.
    pub created: Vec<Created>,
}

/// The outcome of one `snap create-cohort`.
pub type Created = (BTreeSet<SnapName>, Result<BTreeMap<SnapName, CohortKey>, Trouble>);

impl Default for AppBag {
    /// The bag of an application in which no leader has written yet.
    fn default() -> Self {
        Self {
            fresh: false,
            target: Ok(None),
            granted: Ok(Granted::default()),
            skipped: Ok(Skipped::default()),
            history: Ok(History::default()),
            leader: None,
        }
    }
}

impl Default for Snapd {
    /// A machine without snaps.
    fn default() -> Self {
        Self {
            installed: Ok(BTreeMap::new()),
            changes: Ok(BTreeMap::new()),
            services: Ok(BTreeMap::new()),
            version: None,
        }
    }
}
