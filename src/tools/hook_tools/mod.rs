//! One function per hook tool, named after it. Facts: Juju 3.1 to 4.0, `cmd/jujuc` of juju/juju.
//!
//! A relation that has vanished is an answer here (`None`, or "not written"), never an error: the
//! agent may still list a relation that the controller has dropped.

mod action;
mod relation;
mod state;
mod status;

pub use relation::Written;
pub use state::GoalState;

use super::line::line;
use super::{Call, Exit, Manner, Runner, ToolError};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// A hook tool that has not answered after this long will not.
const LIMIT: Duration = Duration::from_secs(60);
/// The largest databag is a document of 16 MiB in the controller; escapes may double it.
const OUTPUT_LIMIT: usize = 64 << 20;
/// Characters of an error that quotes a tool's answer.
const ERROR_LIMIT: usize = 200;

/// The hook tools of the running hook, action or `juju exec`.
#[derive(Debug, Clone)]
pub struct HookTools {
    runner: Runner,
}

impl HookTools {
    /// The hook tools that this runner finds.
    pub fn new(runner: Runner) -> Self {
        Self { runner }
    }

    fn run(&self, tool: &str, args: &[&str]) -> Result<String, ToolError> {
        self.runner.text(&call(tool, args, None))
    }

    fn feed(&self, tool: &str, args: &[&str], input: &str) -> Result<String, ToolError> {
        self.runner.text(&call(tool, args, Some(input.as_bytes())))
    }

    /// Runs a tool that prints JSON.
    fn json<T: DeserializeOwned>(&self, tool: &str, args: &[&str]) -> Result<T, ToolError> {
        let mut all = vec!["--format=json"];
        all.extend(args);
        let text = self.run(tool, &all)?;
        parse(&text).map_err(|why| ToolError::NotUnderstood { call: call(tool, args, None).line(), why })
    }
}

/// Reads what a tool has printed. The error names the place.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let reader = &mut serde_json::Deserializer::from_str(text);
    // The tool's own words are in it: a databag may hold anything, of any length.
    serde_path_to_error::deserialize(reader).map_err(|error| line(&error.to_string(), ERROR_LIMIT))
}

fn call<'a>(tool: &'a str, args: &[&str], input: Option<&'a [u8]>) -> Call<'a> {
    Call {
        program: tool,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        input,
        limit: LIMIT,
        output_limit: OUTPUT_LIMIT,
        manner: Manner::default(),
    }
}

/// Whether a tool failed with one of these texts. Versions differ in case and append codes in
/// parentheses, so parts are looked for.
fn failed_with(error: &ToolError, parts: &[&str]) -> bool {
    match error {
        ToolError::Failed { exit: Exit::Status(_), stderr, .. } => {
            let stderr = stderr.to_lowercase();
            parts.iter().any(|part| stderr.contains(part))
        }
        ToolError::Failed { exit: Exit::Signal(_), .. }
        | ToolError::NotFound { .. }
        | ToolError::Io { .. }
        | ToolError::TimedOut { .. }
        | ToolError::NotUnderstood { .. } => false,
    }
}
