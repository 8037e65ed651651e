//! Log lines: one receiver for each directory that a log slot shows, one for `/var/log` on one unit of a
//! machine, and an exporter for each URL.

use super::metrics::{labels, set};
use super::render::{Config, Wanted, exporter_id, host_logs, id_of, tls};
use super::shared;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The machine's log files.
const VAR_LOG: &str = "/var/log/**/*log";
/// Kubernetes' own, one file by several names, and by far the most: the cluster has its own way for them.
const PODS: [&str; 2] = ["/var/log/pods/**", "/var/log/containers/**"];

pub(super) fn add(wanted: &Wanted, config: &mut Config) {
    if wanted.loki.is_empty() {
        return;
    }
    let unit = id_of(&wanted.unit);
    let mut receivers = Vec::new();
    let mut named = BTreeSet::new();
    for (slot, principal) in &wanted.slots {
        for mount in wanted.mounts.iter().filter(|mount| mount.snap == slot.snap) {
            let job = match mount.place.as_str() {
                "" => slot.snap.to_string(),
                place => format!("{}-{place}", slot.snap),
            };
            // Two slots of one snap show the same mounts: which is whose, snapd does not tell.
            if !named.insert(mount) {
                continue;
            }
            let place = if mount.place.is_empty() { String::new() } else { format!("/{}", mount.place) };
            let mut attributes = labels(wanted, principal);
            attributes.insert("snap_name".to_owned(), Value::from(slot.snap.as_str()));
            let include = format!("{}{place}/**", shared::SHARED_LOGS);
            let id = format!("filelog/{unit}/{}{place}", slot.snap);
            config.receivers.insert(id.clone(), files(wanted, &[&include], &[], &job, attributes));
            receivers.push(id);
        }
    }
    if host_logs(wanted) {
        let id = format!("filelog/{unit}/var-log");
        config.receivers.insert(id.clone(), files(wanted, &[VAR_LOG], &PODS, "var-log", of_host(wanted)));
        receivers.push(id);
    }
    if receivers.is_empty() {
        return;
    }
    let mut exporters = Vec::new();
    for url in &wanted.loki {
        let id = exporter_id("loki", &wanted.unit, url);
        let mut exporter = json!({
            "endpoint": url.as_str(),
            "default_labels_enabled": {"exporter": false, "job": true},
            "sending_queue": {"enabled": true, "queue_size": 1000, "storage": shared::STORAGE},
            "retry_on_failure": {"max_elapsed_time": "5m"},
        });
        set(&mut exporter, "tls", tls(wanted, url));
        config.exporters.insert(id.clone(), exporter);
        exporters.push(id);
    }
    let processors = [shared::MEMORY, shared::RESOURCE, shared::ATTRIBUTES];
    config.pipeline(format!("logs/{unit}"), receivers, &processors, exporters);
}

/// Labels of the machine's own lines. Where there is one principal they are its lines too, so that its
/// log rules match; who collected them is told beside. Where there are several they are lockstep's.
fn of_host(wanted: &Wanted) -> Map<String, Value> {
    if let Some(principal) = &wanted.sole {
        return labels(wanted, principal);
    }
    let mut labels = labels(wanted, &wanted.unit);
    labels.remove("juju_unit");
    labels.insert("juju_charm".to_owned(), Value::from(wanted.topology.charm.as_str()));
    labels
}

fn files(
    wanted: &Wanted,
    include: &[&str],
    exclude: &[&str],
    job: &str,
    mut attributes: Map<String, Value>,
) -> Value {
    attributes.insert("job".to_owned(), Value::from(job));
    attributes.insert("instance".to_owned(), Value::from(wanted.host.as_str()));
    attributes.insert("collected_by".to_owned(), Value::from(wanted.topology.application.as_str()));
    let mut receiver = json!({
        "include": include,
        "start_at": "beginning",
        // Without the offsets every restart would read all files again.
        "storage": shared::STORAGE,
        // Without it lines are lost while Loki is slow.
        "retry_on_failure": {"enabled": true, "max_elapsed_time": 0},
        "include_file_path": true,
        "attributes": attributes,
        "operators": [{
            "type": "copy",
            "from": "attributes[\"log.file.path\"]",
            "to": "attributes[\"filename\"]",
        }],
    });
    set(&mut receiver, "exclude", (!exclude.is_empty()).then(|| json!(exclude)));
    receiver
}
