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
    // Only one can be pending: what is pending is taken off first. That there is nothing is no fault.
    let _ = cancel_pass(runner, unit);
    let executable = charm_dir.join("lockstep");
    let [one, other] = names(unit);
    let schedule = |name: &str| {
        let args = vec![
            format!("--unit={name}"),
            format!("--on-active={seconds}"),
            "--collect".to_owned(),
            RUN_TIME.to_owned(),
            "--".to_owned(),
            "juju-exec".to_owned(),
            unit.to_string(),
            format!("{} pass", executable.display()),
        ];
        run(runner, "systemd-run", args)
    };
    // While the pass of one name runs, systemd makes no other unit of that name.
    schedule(&one).or_else(|_| schedule(&other))
}

/// Takes a pending pass off.
pub fn cancel_pass(runner: &Runner, unit: &UnitName) -> Result<(), ToolError> {
    let timers = names(unit).map(|name| format!("{name}.timer"));
    run(runner, "systemctl", std::iter::once("stop".to_owned()).chain(timers).collect())
}

fn run(runner: &Runner, program: &str, args: Vec<String>) -> Result<(), ToolError> {
    let call =
        Call { program, args, input: None, limit: LIMIT, output_limit: 1 << 16, manner: Manner::default() };
    runner.text(&call).map(|_| ())
}

/// Two names for the passes of a unit: one that runs may schedule the next.
fn names(unit: &UnitName) -> [String; 2] {
    let name = format!("lockstep-pass-{}", unit.to_string().replace('/', "-"));
    let next = format!("{name}-next");
    [name, next]
}
