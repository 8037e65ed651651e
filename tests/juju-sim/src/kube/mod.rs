//! The Kubernetes cluster that the machines of a model form, as `kubectl` and `k8s kubectl` show it.
//!
//! What a machine is follows from its snaps unless a scenario says otherwise: one with kube-apiserver or k8s runs an
//! API server, one with kubelet or k8s-worker alone is a worker. Nodes are Ready and pods run unless a scenario says
//! otherwise. Texts and exit statuses are those of the real client (1.27 to 1.32).

mod cli;
mod json;
mod model;
#[cfg(test)]
mod tests;

pub(crate) use cli::call;
pub use model::{Access, Api, ApiWord, Kube, KubeMachine, Kubectl, NodeIs, NodeWord, Part, Pod, hostname};
