//! What a tool prints for a value, in the format asked for, as juju/cmd does it.

mod emitter;
mod json;
mod scalar;
mod yaml;

use serde_json::Value;

use super::go_text::json_float;

/// The three formats that every tool knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Readable: strings bare, lists one item a line, the rest as YAML. The usual default.
    Smart,
    /// One line, keys sorted, Go's HTML escapes.
    Json,
    /// As gopkg.in/yaml.v2 writes it.
    Yaml,
}

impl Format {
    /// The format of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "smart" => Some(Self::Smart),
            "json" => Some(Self::Json),
            "yaml" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// What a tool has found. Go tells a missing value from a nil map, and prints them differently.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// A value; `null` is a missing one.
    Value(Value),
    /// A map that was never made: `state-get` when nothing is stored.
    NilMap,
}

impl From<Value> for Output {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

/// The exact bytes on stdout, with the closing newline if there is any output.
pub fn render(output: &Output, format: Format) -> String {
    match (output, format) {
        (Output::NilMap, Format::Json) => "null\n".to_owned(),
        (Output::NilMap, Format::Smart | Format::Yaml) => "{}\n".to_owned(),
        (Output::Value(value), Format::Json) => json::line(value),
        (Output::Value(value), Format::Yaml) => yaml::document(value),
        (Output::Value(value), Format::Smart) => smart(value),
    }
}

fn smart(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) => match items.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() {
            Some(lines) => lines.join("\n"),
            None => return yaml::document(value),
        },
        Value::Null | Value::Number(_) | Value::Object(_) => return yaml::document(value),
    };
    if text.is_empty() { text } else { text + "\n" }
}

/// Whole numbers as they are, others by this Go formatter.
fn number(number: &serde_json::Number, float: fn(f64) -> String) -> String {
    match number.as_f64() {
        Some(value) if number.is_f64() => float(value),
        Some(_) | None => number.to_string(),
    }
}

#[cfg(test)]
mod tests;
