//! Alert rules: an `AlertRules` object read item by item, so that one bad rule costs that rule alone.
//!
//! The far sides check a whole relation's rules strictly and refuse all of them for one unknown field,
//! bad duration or broken expression (canonical/cos-tool `pkg/tool/validate.go`, prometheus
//! `model/rulefmt/rulefmt.go`). What is read here passes those checks as far as they can be made without
//! their expression parsers. A bad rule or group is left out whole and named: to drop only its unknown
//! field would turn a misspelt `for` into an alert that fires at once.

mod check;
mod labels;

pub use labels::{ExtraLabelsError, is_label_name, is_v4_uuid, read_extra_labels};

use super::json;
use super::{Fault, Faults, grammar};
use serde_json::{Map, Value};

/// Bytes of one rules object; the records budget of a unit is 1 MiB, so more can never be sent.
const MAX_RULES: usize = 2 << 20;

/// Which language a rule's expression is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Query {
    /// PromQL, for Prometheus or Mimir.
    Metrics,
    /// LogQL, for Loki.
    Logs,
}

/// The good groups of an `AlertRules` object, and what is wrong with the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AlertRules {
    /// Groups with at least one good rule each, in the order of the input.
    pub groups: Vec<Group>,
    /// What was left out, with paths below `$`, the object itself.
    pub faults: Faults,
}

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Its name as it came.
    pub name: String,
    /// The other fields of the group but `rules`: `interval`, `limit`, ...
    pub fields: Map<String, Value>,
    /// The good rules in their order.
    pub rules: Vec<Map<String, Value>>,
}

impl Group {
    /// Whether this is the group that newer providers add by themselves: `HostDown` and
    /// `HostMetricsMissing`, which fire for ever where no metrics of the principal arrive. The ending
    /// depends on the cosl version that the provider was built with.
    pub fn is_host_health(&self) -> bool {
        ["_HostHealth_rules", "_HostHealth_alerts"].iter().any(|ending| self.name.ends_with(ending))
    }
}

impl AlertRules {
    /// Reads a rules object: `{"groups": [...]}`, a single rule, or nothing.
    pub fn read(text: &str) -> Self {
        let mut rules = Self::default();
        if text.len() > MAX_RULES {
            let reason = format!("has {} KiB, more than {}", text.len() >> 10, MAX_RULES >> 10);
            rules.fault("$", reason);
            return rules;
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => rules.object(object),
            Ok(other) => rules.fault("$", format!("is {}, not an object", json::kind_of(&other))),
            Err(error) => rules.fault("$", format!("is not JSON: {error}")),
        }
        rules
    }

    fn fault(&mut self, path: impl Into<String>, reason: impl Into<String>) {
        self.faults.push(Fault::new(path, reason));
    }

    fn object(&mut self, mut object: Map<String, Value>) {
        match object.remove("groups") {
            Some(Value::Array(groups)) => {
                for (index, group) in groups.into_iter().enumerate() {
                    self.group(&format!("$.groups[{index}]"), group);
                }
            }
            Some(Value::Null) => {}
            Some(other) => {
                let reason = format!("is {}, not a list", json::kind_of(&other));
                self.fault("$.groups", reason);
            }
            None if object.is_empty() => {}
            // A rule set may be one rule without a group (cosl `rules.py`, "single rule").
            None if ["alert", "record", "expr"].iter().any(|f| object.contains_key(*f)) => {
                let name = ["alert", "record"].iter().find_map(|f| object.get(*f));
                let name = name.and_then(Value::as_str).unwrap_or("rule").to_owned();
                if let Some(rule) = check::rule("$", object, &mut self.faults) {
                    self.groups.push(Group { name, fields: Map::new(), rules: vec![rule] });
                }
            }
            None => self.fault("$", "has no groups and is no rule"),
        }
    }

    fn group(&mut self, path: &str, group: Value) {
        let Value::Object(mut fields) = group else {
            return self.fault(path, format!("is {}, not a group", json::kind_of(&group)));
        };
        let before = self.faults.count();
        let name = match fields.remove("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name,
            Some(Value::Null) | None => {
                self.fault(path, "has no name");
                String::new()
            }
            Some(_) => {
                self.fault(format!("{path}.name"), "is not a text with something in it");
                String::new()
            }
        };
        let rules = match fields.remove("rules") {
            Some(Value::Array(rules)) => rules,
            Some(Value::Null) | None => return self.fault(path, "has no rules"),
            Some(other) => {
                let reason = format!("is {}, not a list", json::kind_of(&other));
                return self.fault(format!("{path}.rules"), reason);
            }
        };
        fields.retain(|_, value| !value.is_null());
        check::group(path, &fields, &mut self.faults);
        let sound = self.faults.count() == before;
        let mut good = Vec::new();
        for (index, rule) in rules.into_iter().enumerate() {
            let path = format!("{path}.rules[{index}]");
            let kind = json::kind_of(&rule);
            if let Value::Object(rule) = rule {
                good.extend(check::rule(&path, rule, &mut self.faults));
            } else {
                self.fault(path, format!("is {kind}, not a rule"));
            }
        }
        // A group that is empty from the start is no fault, but the far side can die of it.
        if sound && !good.is_empty() {
            self.groups.push(Group { name, fields, rules: good });
        }
    }
}

/// Checks that a field holds a text, and gives it.
fn text<'a>(path: &str, value: &'a Value, faults: &mut Faults) -> Option<&'a str> {
    match value.as_str() {
        Some(text) if !text.trim().is_empty() => return Some(text),
        Some(_) => faults.push(Fault::new(path, "is empty")),
        None => faults.push(check::not_a_text(path.to_owned(), value)),
    }
    None
}

/// Checks a duration field.
fn duration(path: &str, value: &Value, faults: &mut Faults) {
    if let Some(text) = text(path, value, faults)
        && !grammar::is_duration(text)
    {
        faults.push(Fault::new(path, "is not a duration like 5m or 1h30m"));
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
