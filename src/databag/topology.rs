//! Who we are, in the words of COS: the topology that labels and identifiers are made of.

use crate::juju::AppName;
use serde::{Deserialize, Serialize};

/// The topology of the local application. It names no unit on purpose: whatever is written into an
/// outgoing databag must not change with the leader that writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    /// The model's name.
    pub model: String,
    /// The model's UUID, as Juju gives it: version 4, lower case.
    pub model_uuid: String,
    /// The local application.
    pub application: AppName,
    /// The charm's name, from `metadata.yaml`.
    pub charm: String,
}

impl Topology {
    /// `<model>_<first 8 of the uuid>_<application>`, as cosl's `JujuTopology.identifier` has it
    /// (canonical/cos-lib `src/cosl/juju_topology.py`); dashes stay.
    ///
    /// ```
    /// # use lockstep::databag::Topology;
    /// let topology = Topology {
    ///     model: "harbor".into(),
    ///     model_uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".into(),
    ///     application: "lockstep".parse().unwrap(),
    ///     charm: "lockstep".into(),
    /// };
    /// assert_eq!(topology.identifier(&"ledger-db".parse().unwrap()), "harbor_7d1f3c2a_ledger-db");
    /// ```
    pub fn identifier(&self, application: &AppName) -> String {
        format!("{}{application}", self.identifier_start())
    }

    /// What stands before the application in an identifier.
    pub fn identifier_start(&self) -> String {
        let uuid8: String = self.model_uuid.chars().take(8).collect();
        format!("{}_{uuid8}_", self.model)
    }

    /// The unit that stands where the reference writes its leader (`metadata.unit`,
    /// `juju_topology.unit`): always `<application>/0`. The far sides use its key, never its value,
    /// and a fixed value spares a rewrite of everything at each change of leader.
    pub fn fixed_unit(&self) -> String {
        format!("{}/0", self.application)
    }
}
