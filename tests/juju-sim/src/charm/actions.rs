//! actions.yaml: the actions of a charm and the parameters they take (juju/charm actions.go).

mod params;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::wire::go_text::quote;
use crate::wire::key_values::is_action_name;
use crate::wire::yaml_v2;
use crate::wire::yaml_v2::tree::Node;

pub use params::Undeclared;

/// The actions of a charm, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Actions {
    /// By name.
    pub actions: BTreeMap<String, Action>,
}

/// One action.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// For people.
    pub description: String,
    /// May run beside hooks and other actions.
    pub parallel: bool,
    /// Actions of one group run one after the other.
    pub execution_group: String,
    /// The JSON schema (draft 4) of all parameters together.
    pub schema: Map<String, Value>,
}

impl Actions {
    /// Read and check the file.
    pub fn parse(charm_name: &str, text: &str) -> Result<Self, String> {
        let mut result = Self::default();
        let Some(root) = yaml_v2::document(text.as_bytes())? else {
            return Ok(result);
        };
        for (name, entry) in root.entries_as("map[string]map[string]interface {}")? {
            let name = name.required_text()?;
            let fields = entry.entries_as("map[string]interface {}")?;
            check_name(charm_name, name)?;
            result.actions.insert(name.to_owned(), Action::parse(name, fields)?);
        }
        Ok(result)
    }
}

impl Action {
    fn parse(name: &str, fields: &[(Node, Node)]) -> Result<Self, String> {
        let mut action = Self {
            description: "No description".to_owned(),
            parallel: false,
            execution_group: String::new(),
            schema: Map::new(),
        };
        action.schema.insert("description".into(), action.description.as_str().into());
        action.schema.insert("type".into(), "object".into());
        action.schema.insert("title".into(), name.into());
        action.schema.insert("properties".into(), json!({}));
        for (key, value) in fields {
            action.set(key.required_text()?, value.value()?)?;
        }
        params::check_schema(&action.schema)
            .map_err(|why| format!("invalid params schema for action schema {name}: {why}"))?;
        Ok(action)
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        let wrong = |wanted: &str| format!("value for schema key {} must be {wanted}", quote(key));
        let string = |value: &Value| value.as_str().map(str::to_owned).ok_or_else(|| wrong("a string"));
        match key {
            "description" => self.description = string(&value)?,
            "title" => {
                string(&value)?;
            }
            "required" if !value.is_array() => return Err(wrong("a YAML list")),
            "parallel" => {
                self.parallel = value.as_bool().ok_or_else(|| wrong("a bool"))?;
                return Ok(());
            }
            "execution-group" => {
                self.execution_group = string(&value)?;
                return Ok(());
            }
            "params" => {
                refuse_references(&value)?;
                if !value.is_object() {
                    return Err("params failed to parse as a map".to_owned());
                }
                self.schema.insert("properties".into(), value);
                return Ok(());
            }
            _ => refuse_references(&value)?,
        }
        self.schema.insert(key.to_owned(), value);
        Ok(())
    }

    /// The declared parameters: schema with `type`, `default`, `description` of each.
    pub fn params(&self) -> impl Iterator<Item = (&str, &Value)> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema))
    }

    /// The parameters that a call must give.
    pub fn required(&self) -> Vec<&str> {
        let listed = self.schema.get("required").and_then(Value::as_array);
        listed.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Whether undeclared parameters are taken, if the file says so.
    pub fn additional_properties(&self) -> Option<bool> {
        self.schema.get("additionalProperties").and_then(Value::as_bool)
    }
}

fn check_name(charm_name: &str, name: &str) -> Result<(), String> {
    if !is_action_name(name) {
        return Err(format!("bad action name {name}"));
    }
    if charm_name.starts_with("juju-") {
        return Ok(());
    }
    let reason = match name {
        "juju" => "\"juju\" is a reserved name",
        _ if name.starts_with("juju-") => "the \"juju-\" prefix is reserved",
        _ => return Ok(()),
    };
    Err(format!("cannot use action name {name}: {reason}"))
}

/// `$ref` and `$schema` at any depth. Within a list the text is another.
fn refuse_references(value: &Value) -> Result<(), String> {
    match value {
        Value::Object(map) => map.iter().try_for_each(|(key, value)| match key.as_str() {
            "$ref" | "$schema" => {
                Err(format!("schema key {} not compatible with this version of juju", quote(key)))
            }
            _ => refuse_references(value),
        }),
        Value::Array(items) => items
            .iter()
            .try_for_each(refuse_references)
            .map_err(|_| "map keyed with non-string value".to_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
