//! `send-remote-write`: what we write into our application databag, and how rules are named in it.
//!
//! canonical/prometheus-k8s-operator `lib/charms/prometheus_k8s/v1/prometheus_remote_write.py`. The same
//! `alert_rules` value goes to Loki; the names and what can be read back of them stand here for both.

use super::Topology;
use crate::juju::AppName;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The key of the rules, here and on `logging-consumer`.
pub const ALERT_RULES: &str = "alert_rules";
/// In each unit databag of the other side: where it takes metrics.
pub const REMOTE_WRITE: &str = "remote_write";

/// What stands before the name of each group of an application: its identifier in the letters that a
/// group name may have, and a colon, which no Juju name can contain. So no group of `db` can be taken
/// for one of `db-replica`.
///
/// ```
/// # use lockstep::databag::{Topology, remote_write::group_prefix};
/// let topology = Topology {
///     model: "harbor".into(),
///     model_uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".into(),
///     application: "lockstep".parse().unwrap(),
///     charm: "lockstep".into(),
/// };
/// let prefix = group_prefix(&topology, &"ledger-db".parse().unwrap());
/// assert_eq!(prefix, "harbor_7d1f3c2a_ledger_db:");
/// ```
pub fn group_prefix(topology: &Topology, application: &AppName) -> String {
    format!("{}:", plain(&topology.identifier(application)))
}

/// The part behind the prefix: the group's own name without the prefix that a provider has put there
/// (`<model>_<uuid8>_<app>_`), in the letters `[a-zA-Z0-9_:]`.
pub fn group_rest(topology: &Topology, application: &AppName, name: &str) -> String {
    let name = plain(name);
    let before = plain(&topology.identifier(application));
    let rest = name
        .strip_prefix(&before)
        .and_then(|rest| rest.strip_prefix(['_', ':']))
        .filter(|rest| !rest.is_empty());
    rest.unwrap_or(&name).to_owned()
}

fn plain(text: &str) -> String {
    let plain = |c: char| {
        let keep = c.is_ascii_alphanumeric() || c == '_' || c == ':';
        if keep { c } else { '_' }
    };
    text.chars().map(plain).collect()
}

/// One group, rendered with sorted keys.
pub fn render_group(name: &str, mut fields: Map<String, Value>, rules: Vec<Value>) -> String {
    fields.insert("name".to_owned(), Value::from(name));
    fields.insert("rules".to_owned(), Value::from(rules));
    Value::from(fields).to_string()
}

/// The value of `alert_rules`: rendered groups in their order; no groups are `{}`.
pub fn alert_rules(groups: &[String]) -> String {
    if groups.is_empty() { "{}".to_owned() } else { format!(r#"{{"groups":[{}]}}"#, groups.join(",")) }
}

/// The application databag.
pub fn app_bag(groups: &[String]) -> BTreeMap<String, String> {
    BTreeMap::from([(ALERT_RULES.to_owned(), alert_rules(groups))])
}

/// The applications whose groups are in a databag that we wrote earlier, by the labels of their rules.
pub fn applications_of(bag: &BTreeMap<String, String>) -> BTreeSet<AppName> {
    let groups = groups_of(bag, "").into_iter();
    let rules = groups.filter_map(|(_, group)| group.get("rules")?.as_array().cloned()).flatten();
    rules.filter_map(|rule| rule.get("labels")?.get("juju_application")?.as_str()?.parse().ok()).collect()
}

/// The groups of one application in a databag that we wrote earlier. What we did not write, or cannot
/// read, is nothing.
pub fn groups_of(bag: &BTreeMap<String, String>, prefix: &str) -> Vec<(String, Map<String, Value>)> {
    let text = bag.get(ALERT_RULES).map(String::as_str).unwrap_or_default();
    let Ok(Value::Object(mut rules)) = serde_json::from_str(text) else {
        return Vec::new();
    };
    let Some(Value::Array(groups)) = rules.remove("groups") else {
        return Vec::new();
    };
    groups
        .into_iter()
        .filter_map(|group| match group {
            Value::Object(group) => {
                let name = group.get("name")?.as_str()?.to_owned();
                name.starts_with(prefix).then_some((name, group))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_so_that_equal_data_are_equal_bytes() {
        // This fails when some dependency turns on serde_json's `preserve_order`.
        let rule = json!({"expr": "up", "alert": "A", "labels": {"b": "2", "a": "1"}});
        let Value::Object(fields) = json!({"limit": 1, "interval": "5m"}) else {
            panic!("an object");
        };
        let group = render_group("x:g", fields, vec![rule]);
        assert_eq!(
            group,
            r#"{"interval":"5m","limit":1,"name":"x:g","rules":[{"alert":"A","expr":"up","labels":{"a":"1","b":"2"}}]}"#
        );
        let bag = app_bag(&[group]);
        assert_eq!(groups_of(&bag, "x:").len(), 1);
        assert_eq!(groups_of(&bag, "xx:").len(), 0);
        assert_eq!(app_bag(&[])[ALERT_RULES], "{}");
        for junk in ["", "junk", "[]", r#"{"groups":7}"#, r#"{"groups":[7,{}]}"#] {
            let bag = BTreeMap::from([(ALERT_RULES.to_owned(), junk.to_owned())]);
            assert_eq!(groups_of(&bag, "x:").len(), 0, "{junk}");
        }
    }
}
