//! `state-get`, `state-set`, `state-delete`, `config-get`.

use super::HookTools;
use crate::tools::{ToolError, string_map};
use serde_json::Value;
use std::collections::BTreeMap;

impl HookTools {
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
