//! Metrics: one receiver for each principal, so that each can be validated alone, one for the collector
//! itself, and an exporter for each URL.

use super::render::{Config, Wanted, exporter_id, id_of, tls};
use super::shared;
use crate::databag::scrape::Job;
use crate::juju::UnitName;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Adds what metrics need; gives the principal units whose jobs are in it.
pub(super) fn add(wanted: &Wanted, config: &mut Config) -> BTreeSet<UnitName> {
    if wanted.remote_write.is_empty() {
        return BTreeSet::new();
    }
    let unit = id_of(&wanted.unit);
    let mut receivers = Vec::new();
    let mut collected = BTreeSet::new();
    for (principal, jobs) in wanted.jobs.iter().filter(|(_, jobs)| !jobs.is_empty()) {
        let (id, receiver) = of_principal(wanted, principal, jobs);
        config.receivers.insert(id.clone(), receiver);
        receivers.push(id);
        collected.insert(principal.clone());
    }
    let own = format!("prometheus/{unit}/self");
    config.receivers.insert(own.clone(), itself(wanted));
    receivers.push(own);
    let mut exporters = Vec::new();
    for url in &wanted.remote_write {
        let id = exporter_id("prometheusremotewrite", &wanted.unit, url);
        let mut exporter = json!({
            "endpoint": url.as_str(),
            // Names of metrics stay as they were scraped.
            "add_metric_suffixes": false,
            "remote_write_queue": {"enabled": true, "queue_size": 1000},
            "retry_on_failure": {"max_elapsed_time": "5m"},
        });
        set(&mut exporter, "tls", tls(wanted, url));
        config.exporters.insert(id.clone(), exporter);
        exporters.push(id);
    }
    config.pipeline(format!("metrics/{unit}"), receivers, &[shared::MEMORY], exporters);
    collected
}

/// The receiver of one principal, by its id.
pub(super) fn of_principal(wanted: &Wanted, principal: &UnitName, jobs: &[Job]) -> (String, Value) {
    let labels = labels(wanted, principal);
    let jobs: Vec<Value> = jobs
        .iter()
        .map(|job| {
            let mut fields = job.expose().clone();
            fields.insert("job_name".to_owned(), Value::from(job.name.as_str()));
            if let Some(Value::Array(targets)) = fields.get_mut("static_configs") {
                targets.iter_mut().for_each(|target| label(target, &labels));
            }
            Value::from(fields)
        })
        .collect();
    let id = format!("prometheus/{}/{}", id_of(&wanted.unit), id_of(principal));
    // A default only: a job's own interval wins.
    let global = json!({"scrape_interval": "60s", "scrape_timeout": "10s"});
    (id, json!({"config": {"global": global, "scrape_configs": jobs}}))
}

/// The labels that tell whose a principal's metrics and log lines are.
pub(super) fn labels(wanted: &Wanted, principal: &UnitName) -> Map<String, Value> {
    let labels = [
        ("juju_model", wanted.topology.model.clone()),
        ("juju_model_uuid", wanted.topology.model_uuid.clone()),
        ("juju_application", principal.application().to_string()),
        ("juju_unit", principal.to_string()),
    ];
    labels.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
}

/// Labels the targets of one `static_configs` entry; labels of other names stay.
fn label(target: &mut Value, labels: &Map<String, Value>) {
    let Some(target) = target.as_object_mut() else { return };
    let there = target.entry("labels").or_insert_with(|| json!({}));
    if !there.is_object() {
        *there = json!({});
    }
    if let Some(there) = there.as_object_mut() {
        there.extend(labels.clone());
    }
}

/// The collector's own metrics, as this unit's.
fn itself(wanted: &Wanted) -> Value {
    let mut labels = labels(wanted, &wanted.unit);
    labels.insert("juju_charm".to_owned(), Value::from(wanted.topology.charm.as_str()));
    labels.insert("instance".to_owned(), Value::from(wanted.host.as_str()));
    let (host, port) = shared::OWN_METRICS;
    json!({"config": {"scrape_configs": [{
        "job_name": "lockstep-collector",
        "scrape_interval": "60s",
        "static_configs": [{"targets": [format!("{host}:{port}")], "labels": labels}],
    }]}})
}

/// Sets a field that there may be.
pub(super) fn set(object: &mut Value, field: &str, value: Option<Value>) {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(field.to_owned(), value);
    }
}
