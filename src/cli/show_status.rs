//! The action `show-status`: every scoped status, as a table and as structured results.

use super::table::table;
use crate::decide::{CONCERNS, aggregate};
use crate::juju::{Level, Status};
use crate::observed::Observed;
use crate::plan::Plan;
use std::collections::BTreeMap;

/// What the action gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// For a person.
    pub text: String,
    /// For a machine: keys as `action-set` takes them.
    pub results: BTreeMap<String, String>,
}

/// The statuses that a pass would leave.
pub fn show_status(observed: &Observed, plan: &Plan) -> Shown {
    let scoped = &plan.remember.statuses;
    let unit = aggregate(scoped);
    let mut rows = vec![["Concern", "Status", "Message"].map(str::to_owned)];
    let mut results = BTreeMap::from([
        ("unit.status".to_owned(), unit.level.to_string()),
        ("unit.message".to_owned(), unit.line.clone()),
        ("unit.leader".to_owned(), observed.leader.to_string()),
    ]);
    for concern in CONCERNS {
        let statuses = scoped.get(concern.name).cloned().unwrap_or_default();
        let quiet = [Status::new(Level::Active, "")];
        let shown = if statuses.is_empty() { &quiet[..] } else { &statuses[..] };
        for (number, status) in shown.iter().enumerate() {
            let name = if number == 0 { concern.name } else { "" };
            rows.push([name.to_owned(), status.level.to_string(), status.line.clone()]);
            let key = |part| format!("concerns.{}.{number}.{part}", concern.name);
            results.insert(key("status"), status.level.to_string());
            results.insert(key("message"), status.line.clone());
        }
    }
    rows.push(["unit".to_owned(), unit.level.to_string(), unit.line]);
    Shown { text: table(&rows), results }
}
