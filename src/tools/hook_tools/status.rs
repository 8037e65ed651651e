//! `status-set`, `application-version-set`, `juju-log`.

use super::{HookTools, failed_with};
use crate::juju::{Scope, Status};
use crate::tools::ToolError;

impl HookTools {
    /// Sets the status of the unit or of the application, at once. False: not the leader (any more).
    pub fn status_set(&self, scope: Scope, status: &Status) -> Result<bool, ToolError> {
        let level = status.level.to_string();
        let args: &[&str] = match scope {
            Scope::Unit => &["--", &level, &status.line],
            Scope::App => &["--application", "--", &level, &status.line],
        };
        match self.run("status-set", args) {
            Ok(_) => Ok(true),
            Err(error) if scope == Scope::App && failed_with(&error, &["not the leader"]) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sets the workload version that `juju status` shows, at once.
    pub fn application_version_set(&self, version: &str) -> Result<(), ToolError> {
        self.run("application-version-set", &["--", version]).map(|_| ())
    }

    /// Writes to Juju's log, at once. A text of several lines is one record.
    pub fn juju_log(&self, level: &str, text: &str) -> Result<(), ToolError> {
        self.run("juju-log", &["--log-level", level, "--", text]).map(|_| ())
    }
}
