//! The parameters of a call against the schema of its action, with the texts of juju/gojsonschema.
//!
//! Implemented: `type`, `enum`, `properties`, `required`, `additionalProperties` as a flag, `items` as one schema,
//! `minimum`, `maximum`, `minLength`, `maxLength`. A schema with another constraint is refused when it is read, so
//! that no call passes for want of a check.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Action;
use crate::wire::format::{Format, render};
use crate::wire::go_text::general_float;

/// What becomes of parameters that actions.yaml does not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undeclared {
    /// Before Juju 4.0, unless the action says `additionalProperties: false`.
    Accepted,
    /// Since Juju 4.0, unless the action says `additionalProperties: true`.
    Rejected,
}

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const UNSUPPORTED: [&str; 14] = [
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "dependencies",
    "patternProperties",
    "pattern",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "additionalItems",
    "minProperties",
    "maxProperties",
];

impl Action {
    /// Check the parameters of a call. The error text is `validation failed: ...`.
    pub fn validate(&self, params: &Map<String, Value>, undeclared: Undeclared) -> Result<(), String> {
        let mut schema = self.schema.clone();
        if undeclared == Undeclared::Rejected {
            schema.entry("additionalProperties").or_insert(Value::Bool(false));
        }
        let mut faults = Vec::new();
        check(&schema, &Value::Object(params.clone()), "(root)", &mut faults);
        if faults.is_empty() { Ok(()) } else { Err(format!("validation failed: {}", faults.join("; "))) }
    }

    /// The parameters as the action sees them: what is missing has its default, also within given objects.
    pub fn with_defaults(&self, params: &Map<String, Value>) -> Map<String, Value> {
        let mut result = params.clone();
        insert_defaults(&mut result, &self.schema);
        result
    }
}

fn insert_defaults(into: &mut Map<String, Value>, schema: &Map<String, Value>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let Some(property) = property.as_object() else {
            continue;
        };
        match (into.get_mut(name), property.get("default")) {
            (Some(Value::Object(inner)), _) => insert_defaults(inner, property),
            (Some(_), _) => {}
            (None, Some(default)) => {
                into.insert(name.clone(), default.clone());
            }
            (None, None) => {
                let mut inner = Map::new();
                insert_defaults(&mut inner, property);
                if !inner.is_empty() {
                    into.insert(name.clone(), inner.into());
                }
            }
        }
    }
}

/// Refuse a schema that is wrong, or that [`check`] would not fully apply.
pub(super) fn check_schema(schema: &Map<String, Value>) -> Result<(), String> {
    let must = |text: &str| Err(text.to_owned());
    for (key, value) in schema {
        match (key.as_str(), value) {
            (key, _) if UNSUPPORTED.contains(&key) => {
                return Err(format!("juju-sim: schema keyword not supported: {key}"));
            }
            ("type", Value::String(_) | Value::Array(_)) => {
                if let Some(kind) = types(schema).into_iter().find(|kind| !TYPES.contains(kind)) {
                    return Err(format!("{kind} is not a valid type"));
                }
            }
            ("type", _) => return must("type must be of type string/array of strings"),
            ("properties", Value::Object(properties)) => properties.values().try_for_each(check_subschema)?,
            ("properties", _) => return must("properties must be of type object"),
            ("items", Value::Array(_)) => {
                return must("juju-sim: schema keyword not supported: items in a list");
            }
            ("items", Value::Object(items)) => check_schema(items)?,
            ("items", _) => return must("items must be of type schema/array of schemas"),
            ("additionalProperties", Value::Object(_)) => {
                return must("juju-sim: schema keyword not supported: additionalProperties with a schema");
            }
            ("additionalProperties", value) if !value.is_boolean() => {
                return must("additionalProperties must be of type boolean/schema");
            }
            ("required", Value::Array(names)) if names.iter().any(|name| !name.is_string()) => {
                return must("required items must be string");
            }
            ("required", value) if !value.is_array() => {
                return must("required must be of an array");
            }
            ("enum", Value::Array(allowed)) => {
                let distinct: BTreeSet<String> = allowed.iter().map(json).collect();
                if distinct.len() < allowed.len() {
                    return must("enum items must be unique");
                }
            }
            ("enum", _) => return must("enum must be of an array"),
            ("minimum" | "maximum", value) if !value.is_number() => {
                return Err(format!("{key} must be of a number"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_subschema(schema: &Value) -> Result<(), String> {
    check_schema(schema.as_object().ok_or("schema must be of type object")?)
}

fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    }
}

fn check(schema: &Map<String, Value>, value: &Value, place: &str, faults: &mut Vec<String>) {
    let types = types(schema);
    if !types.is_empty() && !types.iter().any(|kind| has_type(value, kind)) {
        return faults.push(fault(place, &format!("must be of type {}", types.join(",")), value));
    }
    match value {
        Value::Object(map) => check_object(schema, map, value, place, faults),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items").and_then(Value::as_object) {
                let items = items.iter().enumerate();
                items.for_each(|(at, item)| check(schema, item, &format!("{place}.{at}"), faults));
            }
        }
        Value::Number(_) => check_number(schema, value, place, faults),
        Value::String(text) => check_length(schema, text, value, place, faults),
        Value::Null | Value::Bool(_) => {}
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.iter().any(|allowed| json(allowed) == json(value))
    {
        let allowed: Vec<String> = allowed.iter().map(json).collect();
        faults.push(fault(
            place,
            &format!("must match one of the enum values [{}]", allowed.join(",")),
            value,
        ));
    }
    if let Value::Object(map) = value {
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            if let (Some(property), Some(value)) = (property.as_object(), map.get(name)) {
                check(property, value, &format!("{place}.{name}"), faults);
            }
        }
    }
}

fn check_object(
    schema: &Map<String, Value>,
    map: &Map<String, Value>,
    value: &Value,
    place: &str,
    faults: &mut Vec<String>,
) {
    for name in
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !map.contains_key(name) {
            faults.push(fault(place, &format!("\"{name}\" property is missing and required"), value));
        }
    }
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        let declared = schema.get("properties").and_then(Value::as_object);
        for name in map.keys().filter(|name| !declared.is_some_and(|declared| declared.contains_key(*name))) {
            faults.push(fault(place, &format!("additional property \"{name}\" is not allowed"), value));
        }
    }
}

/// gojsonschema's texts name the two kinds of bound the wrong way round.
fn check_number(schema: &Map<String, Value>, value: &Value, place: &str, faults: &mut Vec<String>) {
    let Some(number) = value.as_f64() else { return };
    let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
    let mut report = |text: &str, bound: f64| {
        faults.push(fault(place, &format!("{text} {}", short(bound)), &short(number).into()))
    };
    if let Some(bound) = schema.get("maximum").and_then(Value::as_f64) {
        match flag("exclusiveMaximum") {
            true if number >= bound => report("must be lower than or equal to", bound),
            false if number > bound => report("must be lower than", bound),
            true | false => {}
        }
    }
    if let Some(bound) = schema.get("minimum").and_then(Value::as_f64) {
        match flag("exclusiveMinimum") {
            true if number <= bound => report("must be greater than or equal to", bound),
            false if number < bound => report("must be greater than", bound),
            true | false => {}
        }
    }
}

fn check_length(
    schema: &Map<String, Value>,
    text: &str,
    value: &Value,
    place: &str,
    faults: &mut Vec<String>,
) {
    let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    if let Some(least) = bound("minLength").filter(|least| length < *least) {
        faults.push(fault(place, &format!("string length must be greater or equal to {least}"), value));
    }
    if let Some(most) = bound("maxLength").filter(|most| length > *most) {
        faults.push(fault(place, &format!("string length must be lower or equal to {most}"), value));
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            kind == "number" || (kind == "integer" && number.as_f64().is_some_and(|n| n.fract() == 0.0))
        }
    }
}

fn short(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9e15 { format!("{number}") } else { general_float(number) }
}

fn fault(place: &str, text: &str, value: &Value) -> String {
    format!("{place} : {text}, given {}", json(value))
}

fn json(value: &Value) -> String {
    render(&value.clone().into(), Format::Json).trim_end().to_owned()
}
