//! `snap changes` and `snap tasks`.

use super::{Reach, Snap, args, text};
use crate::snap::{Change, ChangeId, SnapName, Task, Trouble};
use std::collections::{BTreeMap, BTreeSet};

const CHANGES: [&str; 5] = ["ID", "Status", "Spawn", "Ready", "Summary"];
const TASKS: [&str; 4] = ["Status", "Spawn", "Ready", "Summary"];

impl Snap {
    /// All changes that snapd remembers, oldest first.
    pub fn changes(&self) -> Result<Vec<Change>, Trouble> {
        Ok(self.read(args(&["changes", "--abs-time"]), Reach::Local, parse_changes)?.0)
    }

    /// The changes that touch one snap, oldest first.
    pub fn changes_of(&self, name: &SnapName) -> Result<Vec<Change>, Trouble> {
        let args = args(&["changes", "--abs-time", name.as_str()]);
        Ok(self.read(args, Reach::Local, parse_changes)?.0)
    }

    /// The changes of these snaps that have not ended; a snap without one is left out. One command
    /// where nothing is at work on the machine, else one more per snap.
    pub fn in_flight(&self, names: &BTreeSet<SnapName>) -> Result<BTreeMap<SnapName, Vec<Change>>, Trouble> {
        let mut found = BTreeMap::new();
        if names.is_empty() || self.changes()?.iter().all(|change| change.ready) {
            return Ok(found);
        }
        for name in names {
            let open: Vec<Change> =
                self.changes_of(name)?.into_iter().filter(|change| !change.ready).collect();
            if !open.is_empty() {
                found.insert(name.clone(), open);
            }
        }
        Ok(found)
    }

    /// The tasks of one change, in order.
    pub fn tasks(&self, id: ChangeId) -> Result<Vec<Task>, Trouble> {
        let args = args(&["tasks", "--abs-time", &id.to_string()]);
        Ok(self.read(args, Reach::Local, parse_tasks)?.0)
    }
}

/// Reads the table of `snap changes --abs-time`.
pub fn parse_changes(stdout: &str) -> Result<Vec<Change>, String> {
    let read = |([id, status, spawn, ready, _], summary): ([&str; 5], &str)| {
        let id = id.parse().map(ChangeId).map_err(|_| format!("{id:?} is no number of a change"))?;
        let ready = ended(spawn, ready)?;
        Ok(Change { id, status: status.to_owned(), ready, summary: summary.to_owned() })
    };
    text::rows(stdout, &CHANGES)?.into_iter().map(read).collect()
}

/// Reads the table of `snap tasks --abs-time`; the logs below it are left out.
pub fn parse_tasks(stdout: &str) -> Result<Vec<Task>, String> {
    let read = |([status, spawn, ready, _], summary): ([&str; 4], &str)| {
        ended(spawn, ready)?;
        Ok(Task { status: status.to_owned(), summary: summary.to_owned() })
    };
    text::rows(stdout, &TASKS)?.into_iter().map(read).collect()
}

/// Whether there is a time in the column `Ready`. Times in several words would shift the columns.
fn ended(spawn: &str, ready: &str) -> Result<bool, String> {
    let is_time = |text: &str| text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('T');
    match (is_time(spawn), ready) {
        (true, "-") => Ok(false),
        (true, ready) if is_time(ready) => Ok(true),
        (true | false, _) => Err(format!("{spawn:?} and {ready:?} are not both times")),
    }
}
