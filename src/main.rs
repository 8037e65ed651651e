//! The lockstep executable: arguments and environment in, exit status out.

#![expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]

use lockstep::pass::{Streams, run};
use std::io::{IsTerminal as _, stderr, stdout};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let variables = std::env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .collect();
    std::panic::set_hook(Box::new(lockstep::log::panicked));
    let outcome = std::panic::catch_unwind(|| {
        let terminal = stdout().is_terminal();
        run(&args, &variables, &mut Streams { out: &mut stdout(), err: &mut stderr(), terminal })
    });
    // A panic outside every concern: its line is on standard error already.
    ExitCode::from(outcome.unwrap_or(1))
}
