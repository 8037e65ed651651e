//! What is the same in every lockstep unit's file, and where things are: constants, no option in them.
//!
//! While the charm is refreshed two versions stand side by side on one machine: whoever changes one of the
//! shared parts changes its id with it.

use super::render::id_of;
use crate::juju::UnitName;
use crate::snap::{Architecture, Revision, SnapName};
use serde_json::{Value, json};

/// `service.extensions`, a list: of two files that differ in it one would win.
pub const EXTENSIONS: [&str; 1] = [STORAGE];
/// Where offsets of log files and queues of log lines are kept.
pub const STORAGE: &str = "file_storage/lockstep";
pub const MEMORY: &str = "memory_limiter/lockstep";
pub const RESOURCE: &str = "resource/lockstep-loki";
pub const ATTRIBUTES: &str = "attributes/lockstep-loki";
/// Attributes of log lines that become labels in Loki.
const LABELS: &str = "job, filename, snap_name, instance, juju_model, juju_model_uuid, juju_application, \
                      juju_charm, juju_unit, collected_by";
/// Where the collector tells its own metrics, on the loopback address.
pub const OWN_METRICS: (&str, u16) = ("127.0.0.1", 8888);
/// Where the snap sees the files of log slots; `current`, since a refresh changes the number.
pub const SHARED_LOGS: &str = "/snap/opentelemetry-collector/current/shared-logs";
/// What the service may write to.
const COMMON: &str = "/var/snap/opentelemetry-collector/common";

/// The snap.
pub fn snap() -> SnapName {
    #[expect(clippy::unwrap_used, reason = "a constant, read by a test")]
    "opentelemetry-collector".parse().unwrap()
}

/// The revision of version 0.130 for an architecture: the last version that can write to Loki's push
/// API, which is all that `loki_push_api` gives (canonical/opentelemetry-collector-operator
/// `src/snap_management.py`).
pub fn revision(architecture: Architecture) -> Option<Revision> {
    match architecture {
        Architecture::Amd64 => Some(Revision::Store(80)),
        Architecture::Arm64 => Some(Revision::Store(81)),
        Architecture::Ppc64el => Some(Revision::Store(82)),
        Architecture::S390x => Some(Revision::Store(83)),
        Architecture::Riscv64 => None,
    }
}

/// The unit's bundle of certificates: the sandbox sees no other place that is not a configuration.
pub fn bundle(unit: &UnitName) -> String {
    format!("{COMMON}/{}-ca.pem", id_of(unit))
}

pub fn extensions() -> Value {
    json!({STORAGE: {"directory": format!("{COMMON}/lockstep"), "create_directory": true}})
}

pub fn processors() -> Value {
    json!({
        MEMORY: {"check_interval": "1s", "limit_mib": 512, "spike_limit_mib": 102},
        // Without it lines arrive wrapped in JSON.
        RESOURCE: {"attributes": [{"action": "insert", "key": "loki.format", "value": "raw"}]},
        ATTRIBUTES: {"actions": [{"action": "upsert", "key": "loki.attribute.labels", "value": LABELS}]},
    })
}

pub fn telemetry() -> Value {
    let (host, port) = OWN_METRICS;
    json!({"metrics": {
        "level": "normal",
        "readers": [{"pull": {"exporter": {"prometheus": {"host": host, "port": port}}}}],
    }})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snap_has_a_name_and_a_revision_for_each_architecture_that_it_is_built_for() {
        assert_eq!(snap().as_str(), "opentelemetry-collector");
        let known = Architecture::ALL.into_iter().filter_map(revision).count();
        assert_eq!(known, 4);
    }
}
