//! The fields of a group and of a rule, as strictly as the far sides read them.
//!
//! Field lists: prometheus `model/rulefmt/rulefmt.go` (`RuleGroup`, `Rule`), decoded with unknown
//! fields refused.

use super::{duration, labels, text};
use crate::databag::json::{self, child};
use crate::databag::{Fault, Faults, grammar};
use serde_json::{Map, Value};

/// Checks the fields of a group but `name` and `rules`; null ones are gone already.
pub(super) fn group(path: &str, fields: &Map<String, Value>, faults: &mut Faults) {
    for (field, value) in fields {
        let path = child(path, field);
        match field.as_str() {
            "interval" | "query_offset" => duration(&path, value, faults),
            "limit" if value.as_u64().is_some_and(|n| i32::try_from(n).is_ok()) => {}
            "limit" => faults.push(Fault::new(path, "is not a whole number from 0 up")),
            "labels" => labels::check(&path, value, labels::Values::Plain, faults),
            _ => faults.push(unknown_field(path, "group")),
        }
    }
}

/// Checks a rule and gives it without its null fields, or nothing if it has a fault.
pub(super) fn rule(
    path: &str,
    mut rule: Map<String, Value>,
    faults: &mut Faults,
) -> Option<Map<String, Value>> {
    let before = faults.count();
    rule.retain(|_, value| !value.is_null());
    match (rule.get("alert"), rule.get("record")) {
        (Some(_), Some(_)) => faults.push(Fault::new(path, "has both alert and record")),
        (None, None) => faults.push(Fault::new(path, "has neither alert nor record")),
        (Some(_), None) | (None, Some(_)) => {}
    }
    if !rule.contains_key("expr") {
        faults.push(Fault::new(path, "has no expr"));
    }
    let recording = rule.contains_key("record");
    let templates = if recording { labels::Values::Plain } else { labels::Values::Templates };
    for (field, value) in &rule {
        let path = child(path, field);
        match field.as_str() {
            "alert" => {
                text(&path, value, faults);
            }
            "record" => {
                if text(&path, value, faults).is_some_and(|name| !grammar::is_metric_name(name)) {
                    faults.push(Fault::new(path, "is not the name of a metric"));
                }
            }
            "expr" => {
                if let Some(expr) = text(&path, value, faults)
                    && let Some(reason) = grammar::expression_fault(expr)
                {
                    faults.push(Fault::new(path, reason));
                }
            }
            "for" | "keep_firing_for" => {
                duration(&path, value, faults);
                // `0m` on a recording rule is as good as absent; rulefmt refuses any other.
                if recording && value.as_str().is_some_and(|t| !grammar::is_zero(t)) {
                    faults.push(Fault::new(path, "is not for a recording rule"));
                }
            }
            "labels" => labels::check(&path, value, templates, faults),
            "annotations" => {
                labels::check(&path, value, labels::Values::Templates, faults);
                if recording && value.as_object().is_some_and(|object| !object.is_empty()) {
                    faults.push(Fault::new(path, "is not for a recording rule"));
                }
            }
            _ => faults.push(unknown_field(path, "rule")),
        }
    }
    (faults.count() == before).then_some(rule)
}

fn unknown_field(path: String, of: &str) -> Fault {
    Fault::new(path, format!("is not a field of a {of}"))
}

/// The kind of a value, for a message.
pub(super) fn not_a_text(path: String, value: &Value) -> Fault {
    Fault::new(path, format!("is {}, not a text", json::kind_of(value)))
}
