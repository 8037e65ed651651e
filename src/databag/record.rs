//! What a principal tells on `cos-agent`, and its copy in our peer databag.
//!
//! Formats: canonical/grafana-agent-operator `lib/charms/grafana_agent/v0/cos_agent.py`. A value is
//! split, not decoded: rules and dashboards are kept as texts by digest, so that equal contents of a
//! hundred units are one. Scrape jobs and log slots are never looked at here: they do not travel,
//! and they may hold secrets, so a fault in them must not stop the rules.

use super::json::{self, Kind, Object};
use super::{Digest, Fault, Values};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The key of a principal's own value, and of a peer record of the first generation of that library.
pub const CONFIG: &str = "config";
const PREFIX: &str = "config-";
const METRIC_RULES: &str = "metrics_alert_rules";
const LOG_RULES: &str = "log_alert_rules";
const DASHBOARDS: &str = "dashboards";

/// JSON path of the metric rules in a `config` value and in a peer record.
pub const METRIC_RULES_PATH: &str = "$.metrics_alert_rules";
/// JSON path of the log rules.
pub const LOG_RULES_PATH: &str = "$.log_alert_rules";

/// Bytes of one value that are looked at. Real ones stay below 1 MiB; Juju itself takes at most 16 MiB
/// in one document.
const MAX_VALUE: usize = 16 << 20;

/// Dashboards of one value that are looked at.
const MAX_DASHBOARDS: usize = 500;

/// What is forwarded of one principal unit, as digests of texts in [`Values`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The `metrics_alert_rules` object as compact JSON; `{}` when there is none.
    pub metric_rules: Digest,
    /// The `log_alert_rules` object likewise.
    pub log_rules: Digest,
    /// Each dashboard, encoded as it came.
    pub dashboards: Vec<Digest>,
    /// For each entry of `dashboards` its index in the value that was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indices: Vec<usize>,
    /// Items that were left out while reading, because they are not even texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
}

impl Content {
    /// The JSON path of the dashboard at that place in `dashboards`.
    pub fn dashboard_path(&self, place: usize) -> String {
        let index = self.indices.get(place).copied().unwrap_or(place);
        format!("$.{DASHBOARDS}[{index}]")
    }

    /// Leaves out the dashboard at that place.
    pub fn leave_out(&mut self, place: usize) {
        if self.indices.is_empty() {
            self.indices = (0..self.dashboards.len()).collect();
        }
        if place < self.dashboards.len() && place < self.indices.len() {
            self.dashboards.remove(place);
            self.indices.remove(place);
        }
    }
}

/// A peer record: one principal's content, and where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The principal unit.
    pub unit: UnitName,
    /// The number of the cos-agent relation; a text, as every reader expects.
    pub relation_number: String,
    /// The local endpoint, `cos-agent`.
    pub relation_name: String,
    /// What it told.
    pub content: Content,
}

/// Whether a key of a peer databag holds a record. The prefix alone is not enough: the reference takes
/// any key that begins with `config` and dies of a foreign one.
pub fn is_record_key(key: &str) -> bool {
    key == CONFIG || unit_of_key(key).is_some()
}

/// The principal unit that a record's key names; none for the bare `config`.
pub fn unit_of_key(key: &str) -> Option<UnitName> {
    key.strip_prefix(PREFIX)?.parse().ok()
}

/// The key of a principal unit's record.
pub fn record_key(unit: &UnitName) -> String {
    format!("{PREFIX}{unit}")
}

/// Reads a principal's `config` value, of any generation.
///
/// # Errors
/// The value as a whole is no use: no JSON object, or a field that every generation sends is missing,
/// null or of the wrong type.
pub fn read_config(text: &str, values: &mut Values) -> Result<Content, Fault> {
    let object = bounded(text)?;
    for field in [METRIC_RULES, LOG_RULES, DASHBOARDS] {
        match object.get(field).map(json::kind) {
            None => return Err(Fault::new("$", format!("has no field {field}"))),
            Some(Kind::Null) => return Err(Fault::new(json::child("$", field), "is null")),
            Some(_) => {}
        }
    }
    content(&object, values)
}

/// Reads a peer record. Field names of the generations 0.3 to 0.6 and a numeric relation id are taken
/// too; null or absent content is empty.
///
/// # Errors
/// The record is no use: no JSON object, a wrong type, or another unit than the key names.
pub fn read_peer(key: &str, text: &str, values: &mut Values) -> Result<Record, Fault> {
    let object = bounded(text)?;
    let named = |new: &'static str, old: &'static str| {
        [new, old].into_iter().find_map(|field| Some((json::child("$", field), object.present(field)?)))
    };
    let (path, value) =
        named("unit_name", "principal_unit_name").ok_or_else(|| Fault::new("$", "has no field unit_name"))?;
    let unit: UnitName = text_of(value)
        .and_then(|name| name.parse().ok())
        .ok_or_else(|| Fault::new(path.clone(), "is not the name of a unit"))?;
    if unit_of_key(key).is_some_and(|named| named != unit) {
        return Err(Fault::new(path, "is another unit than the key names"));
    }
    let (path, value) = named("relation_id", "principal_relation_id")
        .ok_or_else(|| Fault::new("$", "has no field relation_id"))?;
    let relation_number = match json::kind(value) {
        Kind::Number => Some(value.get().to_owned()),
        Kind::Text => text_of(value),
        Kind::Object | Kind::List | Kind::Boolean | Kind::Null => None,
    }
    .ok_or_else(|| Fault::new(path, "is neither a text nor a number"))?;
    let relation_name = match named("relation_name", "principal_relation_name") {
        Some((path, value)) => text_of(value).ok_or_else(|| Fault::new(path, "is not a text"))?,
        None => "cos-agent".to_owned(),
    };
    let content = content(&object, values)?;
    Ok(Record { unit, relation_number, relation_name, content })
}

/// Writes a peer record as the newest library does: compact, fields in its order, dashboards unchanged.
pub fn write_peer(record: &Record, values: &Values) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    let rules = |digest: &Digest| values.get(digest).unwrap_or("{}");
    let dashboards: Vec<String> =
        record.content.dashboards.iter().filter_map(|digest| values.get(digest)).map(text).collect();
    format!(
        r#"{{"unit_name":{},"relation_id":{},"relation_name":{},"{METRIC_RULES}":{},"{LOG_RULES}":{},"{DASHBOARDS}":[{}]}}"#,
        text(&record.unit.to_string()),
        text(&record.relation_number),
        text(&record.relation_name),
        rules(&record.content.metric_rules),
        rules(&record.content.log_rules),
        dashboards.join(",")
    )
}

fn bounded(text: &str) -> Result<Object<'_>, Fault> {
    if text.len() > MAX_VALUE {
        let reason = format!("is {} MiB, more than {}", text.len() >> 20, MAX_VALUE >> 20);
        return Err(Fault::new("$", reason));
    }
    Object::read(text)
}

/// The three content fields; null or absent is empty.
fn content(object: &Object<'_>, values: &mut Values) -> Result<Content, Fault> {
    let metric_rules = rules(object, METRIC_RULES, values)?;
    let log_rules = rules(object, LOG_RULES, values)?;
    let mut content =
        Content { metric_rules, log_rules, dashboards: Vec::new(), indices: Vec::new(), faults: Vec::new() };
    let Some(value) = object.present(DASHBOARDS) else {
        return Ok(content);
    };
    let path = json::child("$", DASHBOARDS);
    let kind = json::kind(value);
    if kind != Kind::List {
        return Err(Fault::new(path, format!("is {kind}, not a list")));
    }
    let items: Vec<&RawValue> = serde_json::from_str(value.get())
        .map_err(|error| Fault::new(&path, format!("is not JSON: {error}")))?;
    for (index, item) in items.into_iter().enumerate() {
        if index == MAX_DASHBOARDS {
            let reason = format!("and what follows is more than {MAX_DASHBOARDS} dashboards");
            let path = format!("{path}[{index}]");
            content.faults.push(Fault::new(path, reason));
            break;
        }
        match text_of(item) {
            Some(text) => {
                content.dashboards.push(values.keep(&text));
                content.indices.push(index);
            }
            None => {
                let reason = match json::kind(item) == Kind::Text {
                    true => "is a text with a broken escape".to_owned(),
                    false => format!("is {}, not a text", json::kind(item)),
                };
                let path = format!("{path}[{index}]");
                content.faults.push(Fault::new(path, reason));
            }
        }
    }
    if content.faults.is_empty() {
        content.indices.clear(); // the place is the index
    }
    Ok(content)
}

fn rules(object: &Object<'_>, field: &str, values: &mut Values) -> Result<Digest, Fault> {
    let text = match object.present(field) {
        None => "{}".to_owned(),
        Some(value) => match (json::kind(value), json::compact(value.get())) {
            (Kind::Object, text) => text,
            // What pydantic 1 made of a model's empty list, and took back.
            (Kind::List, text) if text == "[]" => "{}".to_owned(),
            (kind, _) => {
                let reason = format!("is {kind}, not an object");
                return Err(Fault::new(json::child("$", field), reason));
            }
        },
    };
    Ok(values.keep(&text))
}

fn text_of(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
