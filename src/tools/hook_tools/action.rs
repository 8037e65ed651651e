//! `action-get`, `action-set`, `action-fail`.

use super::HookTools;
use crate::tools::ToolError;
use serde_json::Value;
use std::collections::BTreeMap;

impl HookTools {
    /// The parameters of the running action.
    pub fn action_get(&self) -> Result<BTreeMap<String, Value>, ToolError> {
        self.json("action-get", &[])
    }

    /// Sets results of the running action; dots in a key nest.
    pub fn action_set(&self, results: &BTreeMap<String, String>) -> Result<(), ToolError> {
        let pairs: Vec<String> = results.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut args = vec!["--"];
        args.extend(pairs.iter().map(String::as_str));
        self.run("action-set", &args).map(|_| ())
    }

    /// Marks the running action as failed; it may go on.
    pub fn action_fail(&self, why: &str) -> Result<(), ToolError> {
        self.run("action-fail", &["--", why]).map(|_| ())
    }
}
