//! The time: the machine's, or the one of a simulated machine.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the time")]

use crate::juju::Timestamp;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Tells the time, and how much of it has passed.
#[derive(Debug, Clone)]
pub struct Clock {
    /// A file that holds the time of a simulated machine, read at each use.
    file: Option<PathBuf>,
    start: Instant,
}

impl Clock {
    /// The machine's clock where `root` is empty, else the one in the file `run/clock` below it.
    pub fn new(root: &Path) -> Self {
        let file = (!root.as_os_str().is_empty()).then(|| root.join("run/clock"));
        Self { file, start: Instant::now() }
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        Timestamp(self.since_epoch().as_secs())
    }

    /// A reading that only differences of are of use: for time limits. Steps of the machine's
    /// clock do not move it.
    pub fn ticks(&self) -> Duration {
        match self.file {
            Some(_) => self.since_epoch(),
            None => self.start.elapsed(),
        }
    }

    fn since_epoch(&self) -> Duration {
        match &self.file {
            None => SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default(),
            Some(file) => std::fs::read_to_string(file)
                .ok()
                .and_then(|text| text.trim().parse::<f64>().ok())
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or_default(),
        }
    }
}
