//! Compares databags with a golden case of `tests/cos_agent/` on meaning.
//!
//! The rules are those of the cases' README; the numbers in the comments are its own. A test of the real
//! executable includes this file too, so it knows databags and cases only, nothing of `src`.

#![expect(clippy::indexing_slicing, reason = "a missing field of a JSON value is null")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

/// A databag.
pub type Bag = BTreeMap<String, String>;

/// What the unit under test wrote.
#[derive(Debug, Default)]
pub struct Written {
    /// Its unit databag on `peers`.
    pub peers: Bag,
    /// Its application databag on `send-remote-write`.
    pub remote_write: Bag,
    /// Its application databag on `logging-consumer`.
    pub loki: Bag,
    /// Its application databag on `grafana-dashboards-provider`.
    pub dashboards: Bag,
}

/// All differences in meaning; empty when the case is met.
pub fn differences(case: &Value, written: &Written) -> Vec<String> {
    let expected = match case["wanted_expected"].is_object() {
        true => &case["wanted_expected"],
        false => &case["expected"],
    };
    let mut found = Vec::new();
    peers(&expected["peer_databag"], &written.peers, &mut found);
    let input = Input::of(case);
    if case["leader"] == json!(false) {
        for (name, bag) in [
            ("send-remote-write", &written.remote_write),
            ("logging-consumer", &written.loki),
            ("grafana-dashboards-provider", &written.dashboards),
        ] {
            if !bag.is_empty() {
                found.push(format!("a follower writes the app databag of {name}"));
            }
        }
        return found;
    }
    let app = &expected["remote_write_app"];
    rules("remote write", &input, app, &written.remote_write, &mut found);
    let app = &expected["loki_app"];
    rules("loki", &input, app, &written.loki, &mut found);
    metadata(app, &written.loki, &mut found);
    dashboards(&input, &expected["dashboards_app"], &written.dashboards, &mut found);
    found
}

/// What went into a case: the records and `config` values of all units.
struct Input {
    local: String,
    rules: Vec<Value>,
    dashboards: Vec<Value>,
}

impl Input {
    fn of(case: &Value) -> Self {
        let local = case["local_unit"].as_str().unwrap_or_default();
        let mut input = Self {
            local: local.split('/').next().unwrap_or_default().to_owned(),
            rules: Vec::new(),
            dashboards: Vec::new(),
        };
        for principal in list(&case["principals"]) {
            input.take(&principal["databag"]["config"]);
        }
        let peers = case["peers"].as_object().into_iter().flatten();
        for bag in peers.map(|(_, bag)| bag).chain([&case["own_peer_databag_before"]]) {
            for (key, value) in bag.as_object().into_iter().flatten() {
                if key.starts_with("config") {
                    input.take(value);
                }
            }
        }
        input
    }

    fn take(&mut self, value: &Value) {
        let value = parsed(value);
        for kind in ["metrics_alert_rules", "log_alert_rules"] {
            for group in list(&value[kind]["groups"]) {
                self.rules.extend(list(&group["rules"]).iter().cloned());
            }
        }
        for dashboard in list(&value["dashboards"]) {
            self.dashboards.extend(decoded(dashboard));
        }
    }

    /// Whether some rule of that name came without that label (11).
    fn lacks_label(&self, rule: &Value, label: &str) -> bool {
        let same = |other: &&Value| name(other) == name(rule);
        let mut same = self.rules.iter().filter(same);
        same.any(|rule| rule["labels"][label].is_null())
    }

    fn has_uid(&self, uid: &str) -> bool {
        hex40(uid) && self.dashboards.iter().any(|d| d["uid"] == json!(uid))
    }
}

fn name(rule: &Value) -> (&Value, &Value) {
    (&rule["alert"], &rule["record"])
}

/// Records: fields, types and strings (3, 5, 13).
fn peers(expected: &Value, written: &Bag, found: &mut Vec<String>) {
    let mut expected: BTreeMap<String, Value> = expected
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.clone(), record(&parsed(value))))
        .collect();
    let mut actual: BTreeMap<String, Value> = written
        .iter()
        .filter(|(key, _)| key.starts_with("config"))
        .map(|(key, value)| (key.clone(), record(&parsed(&json!(value)))))
        .collect();
    for records in [&mut expected, &mut actual] {
        records.retain(|_, record| {
            let empty = |field: &str| record[field] == json!({}) || record[field] == json!([]);
            !["metrics_alert_rules", "log_alert_rules", "dashboards"].iter().all(|f| empty(f))
        });
    }
    for key in expected.keys().chain(actual.keys()).collect::<BTreeSet<_>>() {
        compare(&format!("peers {key}"), expected.get(key), actual.get(key), found);
    }
}

fn record(value: &Value) -> Value {
    let mut value = value.clone();
    for (field, empty) in
        [("metrics_alert_rules", json!({})), ("log_alert_rules", json!({})), ("dashboards", json!([]))]
    {
        if value[field].is_null() || value[field] == json!({"groups": []}) {
            value[field] = empty;
        }
    }
    value
}

/// Groups of one outgoing databag (2, 5, 6, 7, 11, 12).
fn rules(what: &str, input: &Input, expected: &Value, written: &Bag, found: &mut Vec<String>) {
    let expected = groups(&parsed(&expected["alert_rules"]));
    let mut actual = groups(&parsed(&json!(written.get("alert_rules"))));
    let mut names = BTreeSet::new();
    for group in &actual {
        let name = group["name"].as_str().unwrap_or_default();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b':';
        if !names.insert(name) || name.is_empty() || !name.bytes().all(plain) {
            found.push(format!("{what}: group name {name:?} is repeated or has odd letters"));
        }
    }
    // 7: a group of our own, known by its labels.
    let ours = |group: &Value| {
        let rules = list(&group["rules"]);
        let local = |rule: &Value| rule["labels"]["juju_application"] == json!(input.local);
        !rules.is_empty() && rules.iter().all(local)
    };
    if actual.first().is_some_and(ours) {
        actual.remove(0);
    }
    let meaning = |groups: Vec<Value>| -> Vec<Value> {
        let mut groups: Vec<Value> = groups.iter().map(|group| group_meaning(input, group)).collect();
        groups.sort_by_key(Value::to_string);
        groups
    };
    for group in &actual {
        for rule in list(&group["rules"]) {
            principal_labels(what, input, rule, found);
        }
    }
    let (expected, actual) = (meaning(expected), meaning(actual));
    compare(what, Some(&Value::from(expected)), Some(&Value::from(actual)), found);
}

fn groups(rules: &Value) -> Vec<Value> {
    let groups = list(&rules["groups"]).iter();
    groups.filter(|group| !list(&group["rules"]).is_empty()).cloned().collect()
}

/// 11: where a label was absent, the principal's own value is right, and never the forwarder's.
fn principal_labels(what: &str, input: &Input, rule: &Value, found: &mut Vec<String>) {
    for label in ["juju_model", "juju_model_uuid", "juju_application"] {
        if !rule["labels"][label].is_string() {
            found.push(format!("{what}: {} has no {label}", rule["alert"]));
        }
    }
    if rule["labels"]["juju_application"] == json!(input.local) {
        found.push(format!("{what}: {} has the forwarder's application", rule["alert"]));
    }
}

fn group_meaning(input: &Input, group: &Value) -> Value {
    let mut group = group.clone();
    if let Some(fields) = group.as_object_mut() {
        fields.remove("name");
    }
    if let Some(rules) = group["rules"].as_array_mut() {
        for rule in rules {
            let expr = rule["expr"].as_str().unwrap_or_default();
            rule["expr"] = json!(expression(expr));
            for label in ["juju_model", "juju_model_uuid", "juju_application", "juju_charm"] {
                if input.lacks_label(rule, label)
                    && let Some(labels) = rule["labels"].as_object_mut()
                {
                    labels.remove(label);
                }
            }
        }
    }
    group
}

/// 12: an expression without white space and without the matchers that a library may add.
fn expression(expr: &str) -> String {
    let mut expr: String = expr.chars().filter(|c| !c.is_whitespace()).collect();
    for label in ["juju_model", "juju_model_uuid", "juju_application"] {
        let matcher = format!("{label}=\"");
        while let Some(at) = expr.find(&matcher) {
            let value = expr.get(at + matcher.len()..).unwrap_or_default();
            let end = at + matcher.len() + value.find('"').map_or(value.len(), |quote| quote + 1);
            let end = end + usize::from(expr.get(end..).is_some_and(|rest| rest.starts_with(',')));
            expr.replace_range(at..end, "");
        }
    }
    expr.replace(",}", "}").replace("{}", "")
}

/// 10: the keys of the metadata count, and every value but the unit's.
fn metadata(expected: &Value, written: &Bag, found: &mut Vec<String>) {
    let mut expected = parsed(&expected["metadata"]);
    let mut actual = parsed(&json!(written.get("metadata")));
    for metadata in [&mut expected, &mut actual] {
        if metadata["unit"].is_string() {
            metadata["unit"] = json!("any");
        }
    }
    compare("loki metadata", Some(&expected), Some(&actual), found);
}

/// Templates (2, 3, 4, 5, 8, 9, 10).
fn dashboards(input: &Input, expected: &Value, written: &Bag, found: &mut Vec<String>) {
    let expected = parsed(&expected["dashboards"]);
    let actual = parsed(&json!(written.get("dashboards")));
    let mut uids = BTreeSet::new();
    for template in values(&actual["templates"]) {
        let uid = decoded(&template["content"]).map(|d| d["uid"].clone());
        let uid = uid.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
        if !hex40(&uid) || !uids.insert(uid.clone()) {
            found.push(format!("dashboards: uid {uid:?} is repeated or no 40 hex digits"));
        }
    }
    let meaning = |written: &Value| -> Value {
        let templates = values(&written["templates"]);
        let mut all: Vec<Value> = templates.iter().map(|t| template(input, t)).collect();
        all.sort_by_key(Value::to_string);
        Value::from(all)
    };
    let (expected, actual) = (meaning(&expected), meaning(&actual));
    compare("dashboards", Some(&expected), Some(&actual), found);
}

fn template(input: &Input, template: &Value) -> Value {
    let mut content = decoded(&template["content"]).unwrap_or_default();
    let uid = content["uid"].as_str().unwrap_or_default().to_owned();
    let source = input.dashboards.iter().find(|source| match input.has_uid(&uid) {
        true => source["uid"] == content["uid"],
        false => source["title"] == content["title"],
    });
    if !input.has_uid(&uid) {
        content["uid"] = json!("any");
    }
    let charm = |tag: &Value| tag.as_str().is_some_and(|tag| tag.starts_with("charm: "));
    let had_tag = source.is_some_and(|source| list(&source["tags"]).iter().any(charm));
    if let (false, Some(tags)) = (had_tag, content["tags"].as_array_mut()) {
        for tag in tags.iter_mut().filter(|tag| charm(tag)) {
            *tag = json!("charm: any");
        }
    }
    let topology: Vec<&String> =
        template["juju_topology"].as_object().into_iter().flatten().map(|(key, _)| key).collect();
    json!({
        "charm": template["charm"],
        "inject_dropdowns": template["inject_dropdowns"],
        "juju_topology": topology,
        "dashboard": content,
    })
}

fn compare(what: &str, expected: Option<&Value>, actual: Option<&Value>, found: &mut Vec<String>) {
    if expected != actual {
        let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
        found.push(format!("{what}:\n  expected {}\n  written  {}", text(expected), text(actual)));
    }
}

/// The JSON in a databag value; null where there is none.
fn parsed(value: &Value) -> Value {
    let text = value.as_str().unwrap_or_default();
    serde_json::from_str(text).unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn values(value: &Value) -> Vec<Value> {
    let empty = Map::new();
    value.as_object().unwrap_or(&empty).values().cloned().collect()
}

fn hex40(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A dashboard: base64 of xz of JSON.
pub fn decoded(content: &Value) -> Option<Value> {
    let bytes = STANDARD.decode(content.as_str()?).ok()?;
    let mut json = Vec::new();
    let mut reader = lzma_rust2::XzReader::new(bytes.as_slice(), true);
    reader.read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}
