//! `cos-agent`: the scrape jobs and log slots in a principal's `config`. They stay on this machine.
//!
//! Formats: canonical/grafana-agent-operator `lib/charms/grafana_agent/v0/cos_agent.py`. Jobs hold
//! secrets (tokens): messages name a job and a field, never a value, and nothing here is kept in the
//! cache but a digest. One bad job, or slot, stops neither the others nor the rules beside them.

mod check;
mod slot;
#[cfg(test)]
mod tests;

pub use slot::Slot;

use super::json::{self, Kind, Object};
use super::{Digest, Fault};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const JOBS: &str = "metrics_scrape_jobs";
const SLOTS: &str = "log_slots";
/// How often a job is scraped that does not say it, in milliseconds: a minute.
pub const INTERVAL: u64 = 60_000;
/// Bytes of all jobs of one principal; real ones are a few KiB.
const MAX_JOBS: usize = 1 << 20;
/// Jobs, and slots, of one principal that are looked at.
const MOST: usize = 200;

/// One scrape job in the form of Prometheus, checked, without its name.
#[derive(Clone, PartialEq)]
pub struct Job {
    /// Its name, unlike that of any other job of its principal.
    pub name: String,
    fields: Map<String, Value>,
}

impl Job {
    /// Its fields but the name. They may hold secrets.
    pub fn expose(&self) -> &Map<String, Value> {
        &self.fields
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Job {:?} ({} fields)", self.name, self.fields.len())
    }
}

/// What a principal wants to have collected.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Jobs {
    /// The good jobs, in order of their names.
    pub jobs: Vec<Job>,
    /// The good slots.
    pub slots: BTreeSet<Slot>,
    /// What was left out, and why.
    pub faults: Vec<Fault>,
}

/// By which it is seen that jobs or slots have changed: a digest of what was told of them.
pub fn digest(text: &str) -> Digest {
    match Object::read(text) {
        Ok(object) => {
            let part = |name| object.present(name).map_or("", RawValue::get);
            Digest::of_parts([part(JOBS), part(SLOTS)])
        }
        Err(_) => Digest::of(text),
    }
}

/// Reads the jobs and slots of a `config` value.
///
/// # Errors
/// The value as a whole is no JSON object. The record of the same value tells that too.
pub fn read(text: &str) -> Result<Jobs, Fault> {
    let object = Object::read(text)?;
    let mut found = Jobs::default();
    let items = list(&object, JOBS, &mut found.faults);
    if items.iter().map(|item| item.get().len()).sum::<usize>() > MAX_JOBS {
        let reason = format!("are more than {} KiB", MAX_JOBS >> 10);
        found.faults.push(Fault::new(json::child("$", JOBS), reason));
    } else {
        read_jobs(&items, &mut found);
    }
    for (index, item) in list(&object, SLOTS, &mut found.faults).into_iter().enumerate() {
        let text: Option<String> = serde_json::from_str(item.get()).ok();
        match text.ok_or("is not a text").and_then(|text| text.parse()) {
            Ok(slot) => drop(found.slots.insert(slot)),
            Err(why) => found.faults.push(Fault::new(format!("$.{SLOTS}[{index}]"), why)),
        }
    }
    Ok(found)
}

fn read_jobs(items: &[&RawValue], found: &mut Jobs) {
    let mut named: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("$.{JOBS}[{index}]");
        let job = match serde_json::from_str::<Value>(item.get()) {
            Ok(Value::Object(job)) => standard(job, &path).and_then(|job| check::job(&path, job)),
            Ok(other) => Err(Fault::new(&path, format!("is {}, not an object", json::kind_of(&other)))),
            Err(_) => Err(Fault::new(&path, "is not JSON, or nested too deep")),
        };
        match job {
            Ok((name, fields)) => drop(named.insert(free(&name, &named), fields)),
            Err(fault) => found.faults.push(fault),
        }
    }
    found.jobs = named.into_iter().map(|(name, fields)| Job { name, fields }).collect();
}

/// Prometheus refuses two jobs of one name: the later one is renamed.
fn free(name: &str, taken: &BTreeMap<String, Map<String, Value>>) -> String {
    let mut candidates = (2..).map(|number| format!("{name}_{number}"));
    if !taken.contains_key(name) {
        return name.to_owned();
    }
    candidates.find(|candidate| !taken.contains_key(candidate)).unwrap_or_default()
}

/// A job of the first generations, `{job_name, path, port}`, in the form of Prometheus.
fn standard(mut job: Map<String, Value>, path: &str) -> Result<Map<String, Value>, Fault> {
    if !["job_name", "path", "port"].iter().all(|field| job.contains_key(*field)) {
        return Ok(job);
    }
    let port = match job.remove("port") {
        Some(Value::Number(number)) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
        Some(Value::String(text)) => text.parse().ok(),
        _ => None,
    };
    let port =
        port.filter(|port| *port > 0).ok_or_else(|| Fault::new(format!("{path}.port"), "is no port"))?;
    let metrics_path = job.remove("path").unwrap_or_default();
    job.insert("metrics_path".to_owned(), metrics_path);
    job.insert("static_configs".to_owned(), json!([{"targets": [format!("localhost:{port}")]}]));
    job.insert("tls_config".to_owned(), json!({"insecure_skip_verify": true}));
    Ok(job)
}

/// The items of a list; null and an absent field are none.
fn list<'a>(object: &Object<'a>, field: &str, faults: &mut Vec<Fault>) -> Vec<&'a RawValue> {
    let Some(value) = object.present(field) else { return Vec::new() };
    let path = json::child("$", field);
    if json::kind(value) != Kind::List {
        faults.push(Fault::new(path, format!("is {}, not a list", json::kind(value))));
        return Vec::new();
    }
    let mut items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    if items.len() > MOST {
        faults.push(Fault::new(format!("{path}[{MOST}]"), format!("and what follows is more than {MOST}")));
        items.truncate(MOST);
    }
    items
}
