//! A status: a level and one line.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The four levels that a charm may set, worst first. Maintenance stands above waiting, as ops has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A human must act; the line says how.
    Blocked,
    /// Work that is worth watching is under way.
    Maintenance,
    /// Clears by itself when another part of the model acts.
    Waiting,
    /// Works; a line is a remark.
    Active,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocked => "blocked",
            Self::Maintenance => "maintenance",
            Self::Waiting => "waiting",
            Self::Active => "active",
        })
    }
}

/// One status of one concern.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Status {
    /// How bad it is.
    pub level: Level,
    /// What is wrong, on what, what to do: one line, stable, without clock times.
    pub line: String,
}

impl Status {
    /// A status at that level.
    pub fn new(level: Level, line: impl Into<String>) -> Self {
        Self { level, line: line.into() }
    }
}
