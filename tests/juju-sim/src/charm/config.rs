//! config.yaml: the options of a charm and the values they take (juju/charm config.go).

use std::collections::BTreeMap;

use serde_json::{Number, Value};

use super::schema;
use crate::wire::go_text::{literal, quote};
use crate::wire::yaml_v2;
use crate::wire::yaml_v2::tree::Node;

/// The options of a charm, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// By name.
    pub options: BTreeMap<String, ConfigOption>,
}

/// One option.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigOption {
    /// Of its values.
    pub kind: OptionKind,
    /// `null` if there is none.
    pub default: Value,
    /// For people.
    pub description: String,
}

/// The type of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text.
    String,
    /// A whole number of 64 bits.
    Int,
    /// A number.
    Float,
    /// `true` or `false`.
    Boolean,
    /// A secret's URI.
    Secret,
}

impl OptionKind {
    /// As config.yaml names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Int => "int",
            Self::Float => "float",
            Self::Boolean => "boolean",
            Self::Secret => "secret",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        match name {
            // A missing type is valid.
            "" | "string" => Some(Self::String),
            "int" => Some(Self::Int),
            "float" => Some(Self::Float),
            "boolean" => Some(Self::Boolean),
            "secret" => Some(Self::Secret),
            _ => None,
        }
    }
}

impl Config {
    /// Read and check the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let empty = || "invalid config: empty configuration".to_owned();
        let root = yaml_v2::document(text.as_bytes())?.filter(|root| !root.is_null()).ok_or_else(empty)?;
        let options =
            root.entries_as("charm.Config")?.iter().rev().find(|(key, _)| key.text() == Some("options"));
        let (_, options) = options.ok_or_else(empty)?;
        let mut config = Self::default();
        for (name, entry) in options.entries_as("map[string]charm.Option")? {
            let name = name.required_text()?;
            config.options.insert(name.to_owned(), ConfigOption::parse(name, entry)?);
        }
        Ok(config)
    }

    /// The value of `juju config NAME=TEXT`.
    pub fn parse_setting(&self, name: &str, text: &str) -> Result<Value, String> {
        let option = self.options.get(name).ok_or_else(|| format!("unknown option {}", quote(name)))?;
        let parsed = match option.kind {
            OptionKind::String | OptionKind::Secret => Some(text.into()),
            OptionKind::Int => text.parse::<i64>().ok().map(Value::from),
            OptionKind::Float => text.parse().ok().and_then(Number::from_f64).map(Value::from),
            OptionKind::Boolean => schema::as_bool(&text.into()).map(Value::from),
        };
        parsed.ok_or_else(|| mismatch(name, option.kind, &text.into()))
    }

    /// The value as the option's type, where it is given typed; null resets and fits every option.
    pub fn validate_setting(&self, name: &str, value: &Value) -> Result<Value, String> {
        let option = self.options.get(name).ok_or_else(|| format!("unknown option {}", quote(name)))?;
        coerce(option.kind, value).ok_or_else(|| mismatch(name, option.kind, value))
    }
}

impl ConfigOption {
    fn parse(name: &str, entry: &Node) -> Result<Self, String> {
        let fields = entry.entries_as("charm.Option")?;
        let field = |key: &str| {
            let found = fields.iter().rev().find(|(name, _)| name.text() == Some(key));
            found.map(|(_, value)| value)
        };
        let text = |key: &str| field(key).map_or(Ok(""), Node::required_text);
        let kind = text("type")?;
        let description = text("description")?.to_owned();
        let Some(kind) = OptionKind::from_name(kind) else {
            return Err(format!("invalid config: option {} has unknown type {}", quote(name), quote(kind)));
        };
        let default = field("default").map_or(Ok(Value::Null), Node::value)?;
        let typed = coerce(kind, &default)
            .ok_or_else(|| format!("invalid config default: {}", mismatch(name, kind, &default)))?;
        Ok(Self { kind, default: typed, description })
    }
}

fn coerce(kind: OptionKind, value: &Value) -> Option<Value> {
    if value.is_null() {
        return Some(Value::Null);
    }
    match kind {
        OptionKind::String => value.as_str().map(Value::from),
        OptionKind::Int => schema::as_int(value).map(Value::from),
        OptionKind::Float => value.as_f64().and_then(Number::from_f64).map(Value::from),
        OptionKind::Boolean => schema::as_bool(value).map(Value::from),
        OptionKind::Secret => {
            value.as_str().filter(|uri| uri.is_empty() || uri.starts_with("secret:")).map(Value::from)
        }
    }
}

fn mismatch(name: &str, kind: OptionKind, value: &Value) -> String {
    format!("option {} expected {}, got {}", quote(name), kind.name(), literal(value))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_have_the_type_of_their_option() {
        let config = Config::parse(
            "options:\n  a: {type: string, default: '', description: x}\n  b: {type: int, default: 0x10}\n\
             \x20 c: {type: float, default: 2}\n  d: {type: boolean, default: no}\n  e: {default: stable}\n\
             \x20 f: {type: secret, default: 'secret:x'}\n  g: {type: int}\n  h: {type: int, default: '7'}\n  yes:\n",
        )
        .unwrap();
        let defaults: BTreeMap<_, _> =
            config.options.iter().map(|(name, option)| (name, &option.default)).collect();
        assert_eq!(
            json!(defaults),
            json!({"a": "", "b": 16, "c": 2.0, "d": false, "e": "stable", "f": "secret:x", "g": null, "h": 7, "yes": null})
        );
        assert_eq!(
            (config.options["e"].kind, config.options["a"].description.as_str()),
            (OptionKind::String, "x")
        );
    }

    #[test]
    fn bad_files_are_refused() {
        for (text, expected) in [
            ("", "invalid config: empty configuration"),
            ("# x", "invalid config: empty configuration"),
            ("{}", "invalid config: empty configuration"),
            ("settings: {}", "invalid config: empty configuration"),
            ("options: {x: {type: y}}", "invalid config: option \"x\" has unknown type \"y\""),
            (
                "options: {x: {type: int, default: a}}",
                "invalid config default: option \"x\" expected int, got \"a\"",
            ),
            (
                "options: {x: {type: int, default: 1.5}}",
                "invalid config default: option \"x\" expected int, got 1.5",
            ),
            (
                "options: {x: {type: string, default: 5}}",
                "invalid config default: option \"x\" expected string, got 5",
            ),
            (
                "options: {x: {type: string, default: no}}",
                "invalid config default: option \"x\" expected string, got false",
            ),
            (
                "options: {x: {type: boolean, default: ''}}",
                "invalid config default: option \"x\" expected boolean, got \"\"",
            ),
            (
                "options: {x: {type: float, default: '1'}}",
                "invalid config default: option \"x\" expected float, got \"1\"",
            ),
            (
                "options: {x: {type: secret, default: tok}}",
                "invalid config default: option \"x\" expected secret, got \"tok\"",
            ),
            (
                "options: {x: {type: []}}",
                "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into string",
            ),
            (
                "options: {x: z}",
                "yaml: unmarshal errors:\n  line 1: cannot unmarshal !!str `z` into charm.Option",
            ),
        ] {
            assert_eq!(Config::parse(text).unwrap_err(), expected, "{text}");
        }
        assert_eq!(Config::parse("options:").unwrap(), Config::default());
        assert_eq!(Config::parse("options: {}").unwrap(), Config::default());
    }

    #[test]
    fn settings_are_parsed_by_type() {
        let config =
            Config::parse("options: {s: {}, i: {type: int}, f: {type: float}, b: {type: boolean}}").unwrap();
        for (name, text, expected) in [
            ("s", "", Ok(json!(""))),
            ("i", "-5", Ok(json!(-5))),
            ("i", "a", Err("option \"i\" expected int, got \"a\"".to_owned())),
            ("i", "0x10", Err("option \"i\" expected int, got \"0x10\"".to_owned())),
            ("f", "0.5", Ok(json!(0.5))),
            ("b", "True", Ok(json!(true))),
            ("b", "yes", Err("option \"b\" expected boolean, got \"yes\"".to_owned())),
            ("x", "1", Err("unknown option \"x\"".to_owned())),
        ] {
            assert_eq!(config.parse_setting(name, text), expected);
        }
        assert_eq!(config.validate_setting("i", &json!(null)), Ok(Value::Null));
        assert_eq!(
            config.validate_setting("s", &json!(1)),
            Err("option \"s\" expected string, got 1".to_owned())
        );
    }
}
