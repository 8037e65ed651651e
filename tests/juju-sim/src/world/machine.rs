//! Machines and the programs on them that are not Juju's.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kube::KubeMachine;
use crate::machine::Transient;
use crate::snapd::Snapd;

/// A machine of the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// `3`, or `3/lxd/0`.
    pub id: String,
    /// Its one address.
    pub address: String,
    /// The network of it.
    pub cidr: String,
    /// Availability zone, may be empty.
    pub zone: String,
    /// A dead machine runs nothing and renews no lease.
    pub up: bool,
    /// How often it was started anew.
    pub boots: u32,
    /// `amd64`, as Debian names it.
    pub arch: String,
    /// Programs with fixed answers.
    pub programs: BTreeMap<String, Stub>,
    /// Snaps and their changes.
    pub snapd: Snapd,
    /// Transient timers and their services, by name without the suffix.
    pub transient: BTreeMap<String, Transient>,
    /// What it is to the Kubernetes cluster.
    pub kube: KubeMachine,
}

/// A program that always answers the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stub {
    /// Exit status.
    pub exit: u8,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Machine {
    /// The n-th machine of a model; the address follows from the number.
    pub fn new(id: String, number: u32) -> Self {
        let (net, host) = (number / 200, number % 200 + 10);
        Self {
            id,
            address: format!("10.1.{net}.{host}"),
            cidr: format!("10.1.{net}.0/24"),
            zone: String::new(),
            up: true,
            boots: 0,
            arch: "amd64".to_owned(),
            programs: BTreeMap::new(),
            snapd: Snapd::default(),
            transient: BTreeMap::new(),
            kube: KubeMachine::default(),
        }
    }

    /// What `egress-subnets` says.
    pub fn egress(&self) -> String {
        format!("{}/32", self.address)
    }
}
