//! `state-get`, `state-set`, `state-delete`, `config-get`, `goal-state`.

use super::HookTools;
use crate::tools::{ToolError, string_map};
use serde_json::Value;
use std::collections::BTreeMap;

/// What `goal-state` lists: names of units and applications, at each endpoint.
#[derive(Debug, Clone, Default, serde::Deserialize)]
pub struct GoalState {
    /// The units of this application; of a subordinate none.
    #[serde(default)]
    pub units: BTreeMap<String, serde::de::IgnoredAny>,
    /// The applications and units at the other side, by endpoint.
    #[serde(default)]
    pub relations: BTreeMap<String, BTreeMap<String, serde::de::IgnoredAny>>,
}

impl HookTools {
    /// What the model is to become. One call to the controller each time.
    pub fn goal_state(&self) -> Result<GoalState, ToolError> {
        self.json("goal-state", &[])
    }

    /// Everything in the charm state of this unit. Nothing stored is the JSON `null`.
    pub fn state_get(&self) -> Result<BTreeMap<String, String>, ToolError> {
        let state: Option<BTreeMap<String, String>> = self.json("state-get", &[])?;
        Ok(state.unwrap_or_default())
    }

    /// Stores values in the charm state. A value holds at most 65,536 bytes.
    pub fn state_set(&self, values: &BTreeMap<String, String>) -> Result<(), ToolError> {
        let changes = values.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
        self.feed("state-set", &["--file", "-"], &string_map::render(&changes)).map(|_| ())
    }

    /// Removes a key of the charm state; one that is not there is fine.
    pub fn state_delete(&self, key: &str) -> Result<(), ToolError> {
        self.run("state-delete", &["--", key]).map(|_| ())
    }

    /// The options that have a value or a default.
    pub fn config_get(&self) -> Result<BTreeMap<String, Value>, ToolError> {
        self.json("config-get", &[])
    }
}
