//! Groups for Prometheus and Loki out of the chosen rules.
//!
//! Expressions stay as they are but for the placeholder `%%juju_topology%%`: both far sides add label
//! matchers from each rule's labels themselves, so right labels are all that a forwarder owes them.

use super::budget::Item;
use super::gather::Gathered;
use super::workshop::Workshop;
use crate::databag::rules::{Group, Query, is_label_name, is_v4_uuid};
use crate::databag::{Digest, remote_write};
use crate::juju::AppName;
use crate::observed::observability::{HostHealth, Observability};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

type Fields = Map<String, Value>;

/// The groups of one outgoing databag in their order, our own first.
pub(super) fn groups(
    query: Query,
    observed: &Observability,
    gathered: &Gathered<'_>,
    known: &[&BTreeMap<String, String>],
    workshop: &mut Workshop<'_>,
) -> Vec<Item> {
    if !observed.options.alert_rules {
        return Vec::new();
    }
    let mut items = Vec::new();
    for (application, chosen) in &gathered.chosen {
        let rules = workshop.rules(chosen.rules(query), query);
        let groups = rules.groups.iter().filter(|group| wanted(observed, application, group));
        items.extend(application_groups(query, observed, application, groups));
    }
    for application in &gathered.held {
        items.extend(held_groups(observed, application, known));
    }
    items.sort_by(|a, b| (&a.application, &a.name).cmp(&(&b.application, &b.name)));
    let first = match query {
        Query::Metrics => Some(info_group(observed)),
        Query::Logs => (!items.is_empty()).then(|| silent_group(observed)),
    };
    items.splice(0..0, first);
    items
}

/// Alerts on a host's health fire for ever where nobody collects the host's metrics.
fn wanted(observed: &Observability, application: &AppName, group: &Group) -> bool {
    match observed.options.host_health {
        HostHealth::On => true,
        HostHealth::Auto if observed.collected.contains(application) => true,
        HostHealth::Auto | HostHealth::Off => !group.is_host_health(),
    }
}

/// The groups of one application under names that are unique and stable. Of groups that would have one
/// name each gets a piece of its content's digest, so that their order does not matter; a group that is
/// there twice, word for word, is there once.
fn application_groups<'a>(
    query: Query,
    observed: &Observability,
    application: &AppName,
    groups: impl Iterator<Item = &'a Group>,
) -> Vec<Item> {
    let mut by_name: BTreeMap<String, BTreeMap<Digest, (Fields, Vec<Value>)>> = BTreeMap::new();
    for group in groups {
        let rules: Vec<Value> = group
            .rules
            .iter()
            .map(|rule| Value::from(forwarded(query, observed, application, rule.clone())))
            .collect();
        let fields = group.fields.clone();
        let content = remote_write::render_group("", fields.clone(), rules.clone());
        let name = remote_write::group_rest(&observed.topology, application, &group.name);
        let same_name = by_name.entry(name).or_default();
        same_name.insert(Digest::of(&content), (fields, rules));
    }
    let prefix = remote_write::group_prefix(&observed.topology, application);
    let mut taken: BTreeSet<String> = by_name.keys().cloned().collect();
    let mut items = Vec::new();
    for (name, contents) in by_name {
        let several = contents.len() > 1;
        for (digest, (fields, rules)) in contents {
            let mut name = name.clone();
            if several {
                let digest: String = digest.to_string().chars().take(8).collect();
                name = format!("{name}_{digest}");
                while !taken.insert(name.clone()) {
                    name.push('_');
                }
            }
            let full = format!("{prefix}{name}");
            let text = remote_write::render_group(&full, fields, rules);
            items.push(Item::of(application, full, text));
        }
    }
    items
}

/// One rule as it goes out.
fn forwarded(query: Query, observed: &Observability, application: &AppName, mut rule: Fields) -> Fields {
    if let Some(Value::String(expr)) = rule.get_mut("expr") {
        *expr = without_placeholder(query, expr);
    }
    let mut labels = match rule.remove("labels") {
        Some(Value::Object(labels)) => labels,
        _ => Fields::new(),
    };
    for (name, value) in [
        ("juju_model", observed.topology.model.as_str()),
        ("juju_model_uuid", observed.topology.model_uuid.as_str()),
        ("juju_application", application.as_str()),
    ] {
        let label = labels.entry(name);
        label.or_insert_with(|| Value::from(value));
    }
    labels.extend(extra_labels(observed));
    rule.insert("labels".to_owned(), Value::from(labels));
    rule
}

/// The option's labels, but for one that would make the far side fail.
fn extra_labels(observed: &Observability) -> impl Iterator<Item = (String, Value)> {
    let labels = observed.options.extra_labels.iter();
    labels
        .filter(|(name, value)| is_label_name(name) && (*name != "juju_model_uuid" || is_v4_uuid(value)))
        .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
}

/// `%%juju_topology%%` marks where a library would put label matchers. PromQL takes an empty selector,
/// so there it goes, with the comma behind it; a LogQL selector needs one matcher that is not empty.
fn without_placeholder(query: Query, expr: &str) -> String {
    const PLACEHOLDER: &str = "%%juju_topology%%";
    if query == Query::Logs {
        return expr.replace(PLACEHOLDER, r#"job=~".+""#);
    }
    let mut parts = expr.split(PLACEHOLDER);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start();
        out.push_str(rest.strip_prefix(',').unwrap_or(part));
    }
    out
}

/// What the databag already holds of an application whose records cannot be read now, with the extra
/// labels of now.
fn held_groups(
    observed: &Observability,
    application: &AppName,
    known: &[&BTreeMap<String, String>],
) -> Vec<Item> {
    let prefix = remote_write::group_prefix(&observed.topology, application);
    let held =
        known.iter().map(|bag| remote_write::groups_of(bag, &prefix)).find(|groups| !groups.is_empty());
    let mut items: BTreeMap<String, Item> = BTreeMap::new();
    for (name, mut fields) in held.unwrap_or_default() {
        let Some(Value::Array(rules)) = fields.remove("rules") else {
            continue;
        };
        let rules: Vec<Value> = rules.into_iter().filter_map(|r| relabelled(observed, r)).collect();
        let group = Group { name: name.clone(), fields: fields.clone(), rules: Vec::new() };
        if wanted(observed, application, &group) && !rules.is_empty() {
            let text = remote_write::render_group(&name, fields, rules);
            items.insert(name.clone(), Item::of(application, name, text));
        }
    }
    items.into_values().collect()
}

fn relabelled(observed: &Observability, mut rule: Value) -> Option<Value> {
    let labels = rule.get_mut("labels")?.as_object_mut()?;
    labels.extend(extra_labels(observed));
    Some(rule)
}

/// Our own group for Prometheus: an info series about the forwarder.
fn info_group(observed: &Observability) -> Item {
    let mut labels = own_labels(observed);
    for (name, value) in observed.rollout.iter().flatten() {
        labels.insert(name.clone(), Value::from(value.as_str()));
    }
    let rule = json!({"record": "lockstep_forwarder_info", "expr": "vector(1)", "labels": labels});
    own_group(observed, rule)
}

/// Our own group for Loki. It matches no stream and can never fire; what counts is its labels.
fn silent_group(observed: &Observability) -> Item {
    let rule = json!({
        "alert": "LockstepForwarder",
        "expr": r#"count_over_time({lockstep_forwarder="identity"}[1m]) > 0"#,
        "labels": own_labels(observed),
        "annotations": {
            "summary": "Never fires: names the rules that lockstep forwards, so that no other forwarder overwrites them.",
        },
    });
    own_group(observed, rule)
}

fn own_group(observed: &Observability, rule: Value) -> Item {
    let application = &observed.topology.application;
    let prefix = remote_write::group_prefix(&observed.topology, application);
    let name = format!("{prefix}lockstep_rules");
    let text = remote_write::render_group(&name, Fields::new(), vec![rule]);
    Item::own(application, name, text)
}

/// Our topology, without a unit. Of the extra labels only those that cannot change whose group this is.
fn own_labels(observed: &Observability) -> Fields {
    let topology = &observed.topology;
    let mut labels: Fields = extra_labels(observed).filter(|(name, _)| !name.starts_with("juju_")).collect();
    for (name, value) in [
        ("juju_model", topology.model.as_str()),
        ("juju_model_uuid", topology.model_uuid.as_str()),
        ("juju_application", topology.application.as_str()),
        ("juju_charm", topology.charm.as_str()),
    ] {
        labels.insert(name.to_owned(), Value::from(value));
    }
    labels
}
