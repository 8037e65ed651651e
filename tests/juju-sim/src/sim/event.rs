//! What happened, as data: the timeline, `--json` and expectations are made from it.

use serde::Serialize;

use crate::world::{LogRecord, Owner, StatusInfo, Time};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// An admin, or a scenario, did something.
    Step {
        /// When.
        time: Time,
        /// What.
        text: String,
    },
    /// The simulator did something: a fault came true, the clock had to move.
    Note {
        /// When.
        time: Time,
        /// What.
        text: String,
    },
    /// A hook, an action or a command line was run.
    Hook(Box<HookRecord>),
}

impl Event {
    /// Whether a fault whose description begins so came true in this hook.
    pub fn fault_came_true(&self, what: &str) -> bool {
        match self {
            Self::Hook(record) => record.faults.iter().any(|fault| fault.starts_with(what)),
            Self::Step { .. } | Self::Note { .. } => false,
        }
    }
}

/// How a hook ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome", content = "why")]
pub enum Outcome {
    /// It succeeded and its changes were applied.
    Done,
    /// There is no such file: done without running anything.
    Missing,
    /// It failed, or what it wrote was refused.
    Failed(String),
    /// It was killed and runs again.
    Killed(String),
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallRecord {
    /// Name of the tool.
    pub tool: String,
    /// Arguments.
    pub args: Vec<String>,
    /// Size of the standard input that it read.
    pub stdin: Option<usize>,
    /// Exit status; none if the caller was killed before the answer.
    pub code: Option<u8>,
    /// Standard output, shortened.
    pub stdout: String,
    /// Standard error, shortened.
    pub stderr: String,
}

/// A databag that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BagRecord {
    /// `peers:3`, as the writer names it.
    pub relation: String,
    /// Whose.
    pub owner: Owner,
    /// Keys in order.
    pub keys: Vec<KeyChange>,
}

/// A key of a databag that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KeyChange {
    /// Which.
    pub key: String,
    /// Bytes before, if it was there.
    pub was: Option<usize>,
    /// Bytes now, unless it was removed.
    pub is: Option<usize>,
    /// The value, shortened.
    pub value: String,
}

/// A status that was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusChange {
    /// Unit or application.
    pub of: String,
    /// What it became.
    pub info: StatusInfo,
}

/// A hook that was run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookRecord {
    /// When it began.
    pub time: Time,
    /// When it ended.
    pub ended: Time,
    /// Where.
    pub unit: String,
    /// Name of the hook or of the action, `run-commands` for a command line.
    pub name: String,
    /// `hook`, `action` or `exec`.
    pub kind: String,
    /// `peers:3`
    pub relation: Option<String>,
    /// The unit or application that it is about.
    pub remote: Option<String>,
    /// `JUJU_DEPARTING_UNIT`
    pub departing: Option<String>,
    /// This is the n-th try after failures.
    pub retry: u32,
    /// It ran inside a tool call of this other job.
    pub during: Option<String>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Every call.
    pub calls: Vec<CallRecord>,
    /// Databags that it changed.
    pub bags: Vec<BagRecord>,
    /// Keys of charm state that it changed.
    pub state: Vec<String>,
    /// Ports that it opened (true) or closed.
    pub ports: Vec<(bool, String)>,
    /// Statuses that it set.
    pub statuses: Vec<StatusChange>,
    /// The workload version that it set.
    pub version: Option<String>,
    /// What it logged.
    pub log: Vec<LogRecord>,
    /// The action, or the command line: standard output.
    pub stdout: String,
    /// The action, or the command line: standard error.
    pub stderr: String,
    /// Changes of snaps that it began.
    pub snaps: Vec<String>,
    /// Faults that came true in it.
    pub faults: Vec<String>,
}

/// A text of at most so many characters, with its size if it is longer.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    format!("{head}... ({} bytes)", text.len())
}
