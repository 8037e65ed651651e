//! Typed values out of an untyped map, with the error texts of juju/schema.

use serde_json::{Map, Value};

use crate::wire::go_text::typed_literal;
use crate::wire::yaml_v2;

/// A required string.
pub(super) fn string(map: &Map<String, Value>, key: &str) -> Result<String, String> {
    as_string(map.get(key).unwrap_or(&Value::Null), key)
}

/// An optional string; a null is not one.
pub(super) fn optional_string(map: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    map.get(key).map(|value| as_string(value, key)).transpose()
}

pub(super) fn as_string(value: &Value, path: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| unexpected(path, "string", value))
}

/// An optional bool, also as text.
pub(super) fn boolean(map: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    let Some(value) = map.get(key) else {
        return Ok(None);
    };
    as_bool(value).map(Some).ok_or_else(|| unexpected(key, "bool", value))
}

pub(super) fn as_bool(value: &Value) -> Option<bool> {
    match value.as_str() {
        Some("1" | "t" | "T" | "TRUE" | "true" | "True") => Some(true),
        Some("0" | "f" | "F" | "FALSE" | "false" | "False") => Some(false),
        Some(_) | None => value.as_bool(),
    }
}

/// A whole number, also as text in any base.
pub(super) fn as_int(value: &Value) -> Option<i64> {
    match value.as_str() {
        Some(text) => yaml_v2::resolve::int(text).and_then(|number| number.as_i64()),
        None => value.as_i64(),
    }
}

/// A list of strings; a missing one is empty.
pub(super) fn strings(map: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = map.get(key) else {
        return Ok(Vec::new());
    };
    let items = value.as_array().ok_or_else(|| unexpected(key, "list", value))?;
    items.iter().enumerate().map(|(at, item)| as_string(item, &format!("{key}[{at}]"))).collect()
}

/// A map; a missing one is empty.
pub(super) fn map<'a>(
    map: &'a Map<String, Value>,
    key: &str,
) -> Result<Vec<(&'a String, &'a Value)>, String> {
    match map.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Object(entries)) => Ok(entries.iter().collect()),
        Some(value) => Err(unexpected(key, "map", value)),
    }
}

pub(super) fn unexpected(path: &str, wanted: &str, got: &Value) -> String {
    format!("{path}: expected {wanted}, got {}", typed_literal(got))
}
