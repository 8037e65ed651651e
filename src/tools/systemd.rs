//! A transient systemd timer for a pass that is due sooner than the next update-status.

use super::{Call, Manner, Runner, ToolError};
use crate::juju::UnitName;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(20);
/// A pass waits at most ten minutes for a refresh, and a minute each for the store and for tools.
const RUN_TIME: &str = "--property=RuntimeMaxSec=15min";

/// Schedules one pass of that unit in so many seconds, in place of one that is pending.
pub fn schedule_pass(
    runner: &Runner,
    unit: &UnitName,
    charm_dir: &Path,
    seconds: u64,
) -> Result<(), ToolError> {
    // Only one can be pending: a timer of that name is taken off first. That there is none is no fault.
    let _ = cancel_pass(runner, unit);
    let executable = charm_dir.join("lockstep");
    let args = vec![
        format!("--unit={}", name(unit)),
        format!("--on-active={seconds}"),
        "--collect".to_owned(),
        RUN_TIME.to_owned(),
        "--".to_owned(),
        "juju-exec".to_owned(),
        unit.to_string(),
        format!("{} pass", executable.display()),
    ];
    run(runner, "systemd-run", args)
}

/// Takes a pending pass off.
pub fn cancel_pass(runner: &Runner, unit: &UnitName) -> Result<(), ToolError> {
    run(runner, "systemctl", vec!["stop".to_owned(), format!("{}.timer", name(unit))])
}

fn run(runner: &Runner, program: &str, args: Vec<String>) -> Result<(), ToolError> {
    let call =
        Call { program, args, input: None, limit: LIMIT, output_limit: 1 << 16, manner: Manner::default() };
    runner.text(&call).map(|_| ())
}

fn name(unit: &UnitName) -> String {
    format!("lockstep-pass-{}", unit.to_string().replace('/', "-"))
}
