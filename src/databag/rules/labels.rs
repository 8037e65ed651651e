//! Labels: of rules, and those that an option adds to every rule.

use super::check::not_a_text;
use crate::databag::json::{self, child};
use crate::databag::{Fault, Faults, grammar};
use serde_json::Value;
use std::collections::BTreeMap;

/// What the values of a label object may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Any text.
    Plain,
    /// Go templates: an alert's labels and annotations.
    Templates,
}

/// Checks an object of labels or annotations.
pub(super) fn check(path: &str, value: &Value, values: Values, faults: &mut Faults) {
    let Value::Object(labels) = value else {
        let reason = format!("is {}, not an object", json::kind_of(value));
        return faults.push(Fault::new(path, reason));
    };
    for (name, value) in labels {
        let path = child(path, name);
        if !is_label_name(name) {
            faults.push(Fault::new(path, "is not the name of a label"));
            continue;
        }
        let Some(text) = value.as_str() else {
            faults.push(not_a_text(path, value));
            continue;
        };
        if name == "juju_model_uuid" && !is_v4_uuid(text) {
            // Another version than 4 makes the hook of prometheus-k8s fail (cosl `JujuTopology`).
            faults.push(Fault::new(path, "is not a version 4 UUID in lower case"));
        } else if values == Values::Templates && grammar::open_template(text) {
            faults.push(Fault::new(path, "has a {{ without its }}"));
        }
    }
}

/// Whether a text can name a label. UTF-8 names of newer Prometheus are refused, since an older far
/// side would refuse the whole relation for one; so is `__name__`, which only the metric itself has.
pub fn is_label_name(text: &str) -> bool {
    text != "__name__"
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a text is a version 4 UUID as cosl's topology demands it: canonical, in lower case.
pub fn is_v4_uuid(text: &str) -> bool {
    let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, b)| match at {
            8 | 13 | 18 | 23 => b == b'-',
            14 => b == b'4',
            19 => matches!(b, b'8' | b'9' | b'a' | b'b'),
            _ => hex(b),
        })
}

/// Why a text is no list of extra labels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{item:?} is not a label like severity:page")]
pub struct ExtraLabelsError {
    item: String,
}

/// Reads `extra-alert-labels`: `k:v,k2:v2`; `=` does for `:`, as in the reference's own option. A value
/// may hold colons, not commas.
///
/// # Errors
/// An item without a colon, with a name that no label can have, or a `juju_model_uuid` that the far
/// side would die of.
pub fn read_extra_labels(text: &str) -> Result<BTreeMap<String, String>, ExtraLabelsError> {
    let items = text.split(',').map(str::trim).filter(|i| !i.is_empty());
    items
        .map(|item| {
            let error = || ExtraLabelsError { item: item.chars().take(60).collect() };
            let (name, value) = item.split_once([':', '=']).ok_or_else(error)?;
            let (name, value) = (name.trim(), value.trim());
            let uuid_ok = name != "juju_model_uuid" || is_v4_uuid(value);
            if is_label_name(name) && !value.is_empty() && uuid_ok {
                Ok((name.to_owned(), value.to_owned()))
            } else {
                Err(error())
            }
        })
        .collect()
}
