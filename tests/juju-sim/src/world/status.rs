//! Statuses and log records.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Time;

/// One status: of a unit's workload, of its agent, or of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusInfo {
    /// `active`, `blocked`, ...
    pub status: String,
    /// May be empty.
    pub message: String,
    /// Since when.
    pub since: Time,
}

impl StatusInfo {
    /// A status that begins now.
    pub fn new(status: &str, message: &str, since: Time) -> Self {
        Self { status: status.to_owned(), message: message.to_owned(), since }
    }

    /// How bad it is, for what an application derives from its units (juju/core/status, `DeriveStatus`).
    pub fn severity(&self) -> u32 {
        match self.status.as_str() {
            "error" => 100,
            "blocked" => 90,
            "maintenance" => 80,
            "waiting" => 70,
            "active" => 60,
            "terminated" => 50,
            _ => 40,
        }
    }
}

impl fmt::Display for StatusInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => f.write_str(&self.status),
            message => write!(f, "{}: {message}", self.status),
        }
    }
}

/// One entry of `juju show-status-log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusRecord {
    /// `workload` or `juju-unit`.
    pub kind: String,
    /// What it became.
    #[serde(flatten)]
    pub info: StatusInfo,
}

/// Levels of Juju's log, least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// Finest.
    Trace,
    /// Normally not kept: a hook's stdout.
    Debug,
    /// Normally the lowest that is kept.
    Info,
    /// A hook's stderr.
    Warning,
    /// A hook failed.
    Error,
    /// Never seen from Juju itself.
    Critical,
}

impl Level {
    /// From its name in any case.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "TRACE" => Self::Trace,
            "DEBUG" => Self::Debug,
            "INFO" => Self::Info,
            "WARNING" | "WARN" => Self::Warning,
            "ERROR" => Self::Error,
            "CRITICAL" => Self::Critical,
            _ => return None,
        })
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trace => "TRACE",
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warning => "WARNING",
            Self::Error => "ERROR",
            Self::Critical => "CRITICAL",
        })
    }
}

/// A line of `juju debug-log`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogRecord {
    /// When.
    pub time: Time,
    /// From which unit.
    pub unit: String,
    /// The logger behind `unit.NAME.`: a hook's name or `juju-log`.
    pub module: String,
    /// How important.
    pub level: Level,
    /// One line.
    pub text: String,
}
