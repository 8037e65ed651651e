//! `logging-consumer`: what we write into our application databag, and where the other side takes lines.
//!
//! canonical/loki-k8s-operator `lib/charms/loki_k8s/v1/loki_push_api.py`.

use super::Topology;
use super::remote_write::{ALERT_RULES, alert_rules};
use serde_json::json;
use std::collections::BTreeMap;

const METADATA: &str = "metadata";
/// In each unit databag of the other side: where it takes log lines.
pub const ENDPOINT: &str = "endpoint";

/// The application databag: the rules, and the local application's topology with a fixed unit.
pub fn app_bag(groups: &[String], topology: &Topology) -> BTreeMap<String, String> {
    let metadata = json!({
        "model": topology.model,
        "model_uuid": topology.model_uuid,
        "application": topology.application,
        "unit": topology.fixed_unit(),
        "charm_name": topology.charm,
    });
    BTreeMap::from([
        (ALERT_RULES.to_owned(), alert_rules(groups)),
        (METADATA.to_owned(), metadata.to_string()),
    ])
}
