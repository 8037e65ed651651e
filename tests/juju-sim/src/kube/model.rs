//! The state of the cluster as plain data, and what follows from the machines' snaps.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::snapd::Snap;
use crate::world::{Machine, World};

/// What a machine is to the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// It runs an API server, and is a node.
    ControlPlane,
    /// It is a node.
    Worker,
    /// Nothing.
    None,
}

/// Whether there is a `kubectl` program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kubectl {
    /// Where the snap kubectl is; the snap k8s has one of its own.
    #[default]
    BySnaps,
    /// It is there.
    Present,
    /// It is not there, and neither is `k8s`.
    Absent,
    /// It never answers, whatever it is told of time-outs.
    Hangs,
}

/// What the bearer of a kubeconfig may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Everything.
    Admin,
    /// What a kubelet may: its own node.
    Node,
    /// Nothing but the health endpoints.
    Nothing,
    /// It is not known to the API server.
    Unauthorized,
    /// There is no such file.
    Absent,
}

/// How the API server of a machine is, beside what its service is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Api {
    /// In a word.
    Word(ApiWord),
    /// More of it.
    More(ApiMore),
    /// As its service is.
    #[default]
    AsItsService,
}

/// A word about an API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApiWord {
    /// It answers as soon as its service runs.
    Up,
    /// It refuses connections.
    Down,
}

/// More about an API server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ApiMore {
    /// Every answer takes so many seconds.
    Slow(u64),
    /// It answers, and these of its checks fail.
    Failing(Vec<String>),
}

/// How a node is, beside what its kubelet is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NodeIs {
    /// In a word.
    Word(NodeWord),
    /// Its kubelet says why it is not.
    NotReady(NotReady),
    /// As its kubelet is.
    #[default]
    AsItsKubelet,
}

/// A word about a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeWord {
    /// Ready as soon as its kubelet runs.
    Ready,
    /// Not Ready: its network plugin is not up.
    NotReady,
    /// Its kubelet has not been heard of for a while.
    Unknown,
    /// It has not registered.
    Absent,
}

/// A node that is not Ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct NotReady {
    /// `KubeletNotReady`, or another reason.
    pub reason: String,
    /// For people.
    #[serde(default)]
    pub message: String,
}

/// What a scenario says about one machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct KubeMachine {
    /// None: by its snaps.
    pub part: Option<Part>,
    /// The name of its node; none: its host name.
    pub name: Option<String>,
    /// Whether there is a `kubectl` program.
    pub kubectl: Kubectl,
    /// Files by their place, and what their bearer may do.
    pub kubeconfigs: BTreeMap<String, Access>,
    /// Its API server.
    pub api: Api,
    /// Its node.
    pub node: NodeIs,
}

/// What a scenario says about the cluster as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Kube {
    /// The pods of `kube-system` by name.
    pub pods: BTreeMap<String, Pod>,
}

impl Default for Kube {
    fn default() -> Self {
        let names = ["coredns-59b8f9c7d-x2lqn", "metrics-server-6b8f9d7c4-9kqzd"];
        let pods = names.map(|name| (name.to_owned(), Pod { name: name.to_owned(), ..Pod::default() }));
        Self { pods: pods.into() }
    }
}

/// A pod of `kube-system`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Pod {
    /// Its name.
    pub name: String,
    /// `Running`, `Pending`, `Succeeded`, `Failed`, `Unknown`.
    pub phase: String,
    /// How many containers it has.
    pub containers: u32,
    /// How many of them are ready; all of a running pod if it is left out.
    pub ready: Option<u32>,
    /// Why those that are not ready wait: `CrashLoopBackOff`, `ImagePullBackOff`.
    pub waiting: Option<String>,
    /// Why the pod as a whole is as it is: `Evicted`, `Unschedulable`.
    pub reason: Option<String>,
    /// How often its containers were started anew.
    pub restarts: u32,
}

impl Default for Pod {
    fn default() -> Self {
        Self {
            name: String::new(),
            phase: "Running".to_owned(),
            containers: 1,
            ready: None,
            waiting: None,
            reason: None,
            restarts: 0,
        }
    }
}

impl Pod {
    /// How many of its containers are ready.
    pub fn ready(&self) -> u32 {
        let all = if self.phase == "Running" && self.waiting.is_none() { self.containers } else { 0 };
        self.ready.unwrap_or(all)
    }
}

/// The host name of a machine, as Juju's cloud-init gives it: the end of the model's UUID and the machine's id.
pub fn hostname(uuid: &str, machine: &str) -> String {
    let tail: String = uuid.chars().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect();
    format!("juju-{tail}-{}", machine.replace('/', "-"))
}

impl Machine {
    fn first_snap<'a>(&'a self, names: &'a [&str]) -> Option<&'a Snap> {
        names.iter().find_map(|name| self.snapd.snaps.get(*name))
    }

    /// What it is to the cluster.
    pub fn part(&self) -> Part {
        let by_snaps = || match () {
            () if self.first_snap(&["kube-apiserver", "k8s"]).is_some() => Part::ControlPlane,
            () if self.first_snap(&["kubelet", "k8s-worker"]).is_some() => Part::Worker,
            () => Part::None,
        };
        self.kube.part.unwrap_or_else(by_snaps)
    }

    /// The kubelet's version, with a `v`.
    pub(super) fn kubelet_version(&self) -> String {
        let snap = self.first_snap(&["kubelet", "k8s", "k8s-worker", "kube-apiserver"]);
        snap.map_or("v0.0.0".to_owned(), |snap| format!("v{}", snap.version.trim_start_matches('v')))
    }

    /// Whether the API server takes connections.
    pub(super) fn api_is_up(&self) -> bool {
        let snap = self.first_snap(&["kube-apiserver", "k8s"]);
        let runs = snap.is_none_or(|snap| runs(snap, "kube-apiserver"));
        let refreshing = self.snapd.running().any(|change| {
            let of = |name: &str| snap.is_some_and(|snap| snap.name == name);
            change.moves.iter().any(|m| of(&m.snap) && m.moves_revision())
        });
        self.up && runs && !refreshing && self.kube.api != Api::Word(ApiWord::Down)
    }

    /// Status, reason and message of the node's condition Ready.
    pub(super) fn readiness(&self) -> (&'static str, String, String) {
        let silent = || {
            let message = "Kubelet stopped posting node status.";
            ("Unknown", "NodeStatusUnknown".to_owned(), message.to_owned())
        };
        let snap = self.first_snap(&["kubelet", "k8s", "k8s-worker"]);
        match &self.kube.node {
            NodeIs::Word(NodeWord::Unknown) => silent(),
            _ if !self.up || snap.is_some_and(|snap| !runs(snap, "kubelet")) => silent(),
            NodeIs::Word(NodeWord::NotReady) => {
                let message = "container runtime network not ready: NetworkReady=false \
                               reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not \
                               initialized";
                ("False", "KubeletNotReady".to_owned(), message.to_owned())
            }
            NodeIs::NotReady(why) => ("False", why.reason.clone(), why.message.clone()),
            NodeIs::Word(NodeWord::Ready | NodeWord::Absent) | NodeIs::AsItsKubelet => {
                ("True", "KubeletReady".to_owned(), "kubelet is posting ready status".to_owned())
            }
        }
    }

    /// Whether `kubectl` can be called here, by itself or as a command of `k8s`.
    pub(crate) fn has_kubectl(&self, program: &str) -> bool {
        match (self.kube.kubectl, program) {
            (Kubectl::Absent, _) => false,
            (_, "k8s") => self.first_snap(&["k8s", "k8s-worker"]).is_some(),
            (Kubectl::Present | Kubectl::Hangs, _) => true,
            (Kubectl::BySnaps, _) => self.first_snap(&["kubectl"]).is_some(),
        }
    }

    /// Where a kubeconfig is if a scenario does not say.
    pub fn usual_kubeconfig(&self) -> &'static str {
        let k8s = self.first_snap(&["k8s", "k8s-worker"]).is_some();
        match (self.part(), k8s) {
            (Part::ControlPlane, true) => "/etc/kubernetes/admin.conf",
            (_, true) => "/etc/kubernetes/kubelet.conf",
            (Part::ControlPlane, false) => "/root/.kube/config",
            (_, false) => "/root/cdk/kubeconfig",
        }
    }
}

/// Whether a service runs, or where the snap has none of that name, all that it has.
fn runs(snap: &Snap, service: &str) -> bool {
    match snap.services.get(service) {
        Some(service) => service.active,
        None => snap.services.values().all(|service| service.active || !service.enabled),
    }
}

impl World {
    /// The name of the node that a machine is.
    pub fn node_name(&self, machine: &Machine) -> String {
        machine.kube.name.clone().unwrap_or_else(|| hostname(&self.model.uuid, &machine.id).to_lowercase())
    }

    /// The machines that have registered as nodes, by the names of these.
    pub(super) fn nodes(&self) -> BTreeMap<String, &Machine> {
        let absent = NodeIs::Word(NodeWord::Absent);
        let nodes = self.machines.values().filter(|m| m.part() != Part::None && m.kube.node != absent);
        nodes.map(|machine| (self.node_name(machine), machine)).collect()
    }

    /// The API server that a machine's kubeconfig leads to, and its address: its own, or else the first that is up,
    /// as a load balancer would choose.
    pub(crate) fn api_server(&self, machine: &str) -> Option<(&Machine, String)> {
        let own = self.machines.get(machine).filter(|m| m.part() == Part::ControlPlane);
        if let Some(own) = own {
            return Some((own, "127.0.0.1:6443".to_owned()));
        }
        let servers = || self.machines.values().filter(|m| m.part() == Part::ControlPlane);
        let server = servers().find(|m| m.api_is_up()).or_else(|| servers().next())?;
        Some((server, format!("{}:6443", server.address)))
    }

    /// Gives a machine a kubeconfig.
    pub fn set_kubeconfig(&mut self, machine: &str, path: Option<&str>, access: Access) {
        if let Some(of) = self.machines.get_mut(machine) {
            let path = path.unwrap_or_else(|| of.usual_kubeconfig()).to_owned();
            of.kube.kubeconfigs.insert(path, access);
        }
    }
}
