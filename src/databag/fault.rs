//! What is wrong in somebody else's data, and where.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One thing wrong in a value that came from outside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fault {
    /// Where: a JSON path that exists in the input, `$.dashboards[2]`; `$` is the whole value.
    pub path: String,
    /// What is wrong there, in lower case, without a final period and without secret content.
    pub reason: String,
}

impl Fault {
    /// A fault at that path.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

/// Faults of one value: all counted, the first thousand kept. A value of 16 MiB can have millions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    kept: Vec<Fault>,
    count: usize,
}

impl Faults {
    const KEPT: usize = 1000;

    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.count += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(fault);
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Those that are kept.
    pub fn kept(&self) -> &[Fault] {
        &self.kept
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.reason)
    }
}
