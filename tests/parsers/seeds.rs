//! Good texts: what released charms wrote, what principals send, what the real `snap` printed.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// A text of what released charms wrote.
pub fn release(name: &str) -> String {
    std::fs::read_to_string(dir("compat/0.1.0").join(name)).unwrap()
}

/// The same as JSON.
pub fn released(name: &str) -> Value {
    serde_json::from_str(&release(name)).unwrap()
}

/// The values of a key in what released charms wrote.
pub fn of_key(key: &str) -> Vec<String> {
    let files = ["peers-application.json", "peers-units.json", "cohorts.json", "follow-cohorts.json"];
    let mut found = Vec::new();
    for file in files {
        texts(&released(file), &mut |name, text| {
            if name == key {
                found.push(text.to_owned());
            }
        });
    }
    found
}

/// All texts of a value with the names of their fields.
pub fn texts(value: &Value, told: &mut impl FnMut(&str, &str)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                value.as_str().into_iter().for_each(|text| told(name, text));
                texts(value, told);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, told)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What principals send and peers keep: the values of keys that begin so.
pub fn of_principals(prefix: &str) -> Vec<String> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(dir("cos_agent")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files.iter().filter(|path| path.extension().is_some_and(|ext| ext == "json")) {
        let value: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        texts(&value, &mut |name, text| {
            if name.starts_with(prefix) && text.starts_with('{') {
                found.push(text.to_owned());
            }
        });
    }
    found.sort();
    found.dedup();
    found
}

/// The parts of what principals send.
pub fn parts(field: &str) -> Vec<String> {
    let mut found = Vec::new();
    for config in of_principals("config") {
        let Ok(value) = serde_json::from_str::<Value>(&config) else { continue };
        if let Some(items) = value[field].as_array() {
            found.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
        } else if !value[field].is_null() {
            found.push(value[field].to_string());
        }
    }
    found.sort();
    found.dedup();
    found
}

/// What the real `snap` printed for a command: standard output, or else standard error.
pub fn snap(command: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut tell = |step: &Value| {
        let wanted = command.is_none_or(|command| step["argv"][1] == command);
        let stream = if command.is_some() { "stdout" } else { "stderr" };
        if let Some(text) = step[stream].as_str().filter(|text| wanted && !text.is_empty()) {
            found.push(text.to_owned());
        }
    };
    let read =
        |path: PathBuf| serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap();
    for entry in std::fs::read_dir(dir("snap/client")).unwrap() {
        tell(&read(entry.unwrap().path()));
    }
    for version in ["2.57.6", "2.68.3"] {
        let session = read(dir("snap").join(format!("real-daemon-{version}.json")));
        session["steps"].as_array().unwrap().iter().for_each(&mut tell);
    }
    found.sort();
    found.dedup();
    found
}

/// A node and a pod as an API server writes them.
pub fn kube(kind: &str) -> Value {
    let condition = |kind: &str, status: &str, reason: &str| json!({"lastTransitionTime": "2025-11-05T12:00:00Z", "message": "m", "type": kind, "status": status, "reason": reason});
    let metadata = json!({"name": "juju-9d0c41-3", "namespace": "kube-system", "deletionTimestamp": null,
        "labels": {"kubernetes.io/hostname": "juju-9d0c41-3", "kubernetes.io/arch": "amd64"}});
    let status = if kind == "Node" {
        json!({"addresses": [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "10.0.0.1"}],
            "conditions": [condition("Ready", "True", "KubeletReady")]})
    } else {
        json!({"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable")],
            "initContainerStatuses": [{"name": "i", "ready": false, "state": {"waiting": {"reason": "ImagePullBackOff"}}}],
            "containerStatuses": [{"name": "c", "ready": true, "restartCount": 4, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}]})
    };
    json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "status": status})
}
