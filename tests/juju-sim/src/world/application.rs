//! Applications, their config and their leadership lease.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{Charm, Life, StatusInfo, Time};

/// Who leads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Lease {
    /// The unit that holds it.
    pub holder: Option<String>,
    /// When it ends unless it is renewed.
    pub expires: Option<Time>,
    /// `is-leader` said True: until then it cannot be lost to another unit.
    pub promised_until: Option<Time>,
}

/// What a config-changed hook is compared with.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigSeen {
    /// All options with a value.
    pub config: BTreeMap<String, Value>,
    /// `juju trust`.
    pub trust: bool,
    /// The machine's address.
    pub address: String,
}

/// An application.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Application {
    /// Name.
    pub name: String,
    /// What units are to run.
    pub charm: Charm,
    /// Grows when the same charm is to be unpacked again.
    pub charm_modified: u32,
    /// `refresh --force-units`: units in error take the files too.
    pub force_units: bool,
    /// Alive, or dying until the last unit went.
    pub life: Life,
    /// What the admin set.
    pub settings: BTreeMap<String, Value>,
    /// `juju trust`.
    pub trust: bool,
    /// The number of the next unit.
    pub next_unit: u32,
    /// Leadership.
    pub lease: Lease,
    /// What the leader set; else it is derived from the units.
    pub status: Option<StatusInfo>,
    /// Every status that the leader set.
    pub status_history: Vec<StatusInfo>,
    /// `leader-set`, up to 3.6.
    pub leader_settings: super::Bag,
}

impl Application {
    /// Options with a value: what was set, else the default.
    pub fn config(&self) -> BTreeMap<String, Value> {
        let mut config = BTreeMap::new();
        for (name, option) in &self.charm.config.options {
            let value = self.settings.get(name).unwrap_or(&option.default);
            if !value.is_null() {
                config.insert(name.clone(), value.clone());
            }
        }
        config
    }
}
