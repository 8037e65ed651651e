//! `relation-ids`, `relation-list`, `relation-get`, `relation-set`, `is-leader`.

use super::{HookTools, failed_with};
use crate::juju::{AppName, Endpoint, RelationId, Scope, UnitName};
use crate::tools::{ToolError, string_map};
use std::collections::BTreeMap;

/// What became of a `relation-set`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Buffered by the agent until the hook succeeds.
    Buffered,
    /// The relation is gone.
    Vanished,
    /// This unit is not the leader (any more).
    NotLeader,
}

/// Texts of a relation that one side has already dropped.
const VANISHED: [&str; 4] = ["not found", "permission denied", "is not valid", "is dead"];

impl HookTools {
    /// The relations at an endpoint, in order of their numbers.
    pub fn relation_ids(&self, endpoint: Endpoint) -> Result<Vec<RelationId>, ToolError> {
        let mut ids: Vec<RelationId> = self.json("relation-ids", &[endpoint.name()])?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// The units of the other side (of a peer relation: the other units) that this unit has met.
    pub fn relation_list(&self, id: RelationId) -> Result<Vec<UnitName>, ToolError> {
        let id = id.to_string();
        let units: Option<Vec<UnitName>> = known(self.json("relation-list", &["-r", &id]))?;
        let mut units = units.unwrap_or_default();
        units.sort_unstable();
        Ok(units)
    }

    /// The application at the other side.
    pub fn relation_app(&self, id: RelationId) -> Result<Option<AppName>, ToolError> {
        let name: Option<Option<String>> =
            known(self.json("relation-list", &["-r", &id.to_string(), "--app"]))?;
        Ok(name.flatten().and_then(|name| name.parse().ok()))
    }

    /// A unit's databag, the own one included; none if the relation or the unit is gone.
    pub fn relation_get(
        &self,
        id: RelationId,
        unit: &UnitName,
    ) -> Result<Option<BTreeMap<String, String>>, ToolError> {
        known(self.json("relation-get", &["-r", &id.to_string(), "-", &unit.to_string()]))
    }

    /// An application's databag. Of the own application only the leader may read it, but on peers.
    pub fn relation_get_app(
        &self,
        id: RelationId,
        application: &AppName,
    ) -> Result<Option<BTreeMap<String, String>>, ToolError> {
        known(self.json("relation-get", &["-r", &id.to_string(), "--app", "-", application.as_str()]))
    }

    /// Changes keys of an own databag; `None` deletes a key. Whatever its size, a value travels on
    /// standard input, since Linux allows 128 KiB for an argument.
    pub fn relation_set(
        &self,
        id: RelationId,
        scope: Scope,
        changes: &BTreeMap<String, Option<String>>,
    ) -> Result<Written, ToolError> {
        let id = id.to_string();
        let args: &[&str] = match scope {
            Scope::Unit => &["-r", &id, "--file", "-"],
            Scope::App => &["-r", &id, "--app", "--file", "-"],
        };
        match self.feed("relation-set", args, &string_map::render(changes)) {
            Ok(_) => Ok(Written::Buffered),
            Err(error) if scope == Scope::App && failed_with(&error, &["cannot write relation settings"]) => {
                Ok(Written::NotLeader)
            }
            Err(error) if failed_with(&error, &VANISHED) => Ok(Written::Vanished),
            Err(error) => Err(error),
        }
    }

    /// Whether this unit is the leader, and stays it for 30 s. What cannot be found out is "no".
    pub fn is_leader(&self) -> Result<bool, ToolError> {
        match self.json("is-leader", &[]) {
            Err(error) if failed_with(&error, &["leadership status unknown"]) => Ok(false),
            answer => answer,
        }
    }
}

fn known<T>(answer: Result<T, ToolError>) -> Result<Option<T>, ToolError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if failed_with(&error, &VANISHED) => Ok(None),
        Err(error) => Err(error),
    }
}
