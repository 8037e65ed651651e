//! Log lines are gathered while a pass runs and handed to Juju together, with their levels.
//!
//! Juju logs a hook's standard output at DEBUG and its standard error at WARNING, so these two
//! levels cost no process; INFO and ERROR go through `juju-log`, neighbours of one level in one
//! call. In an action both outputs belong to its results, so everything goes through `juju-log`.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// One line.
pub type Line = (Level, String);

/// The lines that were logged and not yet handed on.
#[derive(Debug, Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<Line>>>);

impl Lines {
    /// Takes all lines out.
    pub fn take(&self) -> Vec<Line> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Starts to gather what is logged in this process.
pub fn gather() -> Lines {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(Gather(lines.clone()));
    // Fails only where a subscriber is set already, as in a test that runs a pass twice.
    let _ = tracing::subscriber::set_global_default(subscriber);
    lines
}

/// Neighbouring lines of one level as one text each.
pub fn batches(lines: Vec<Line>) -> Vec<Line> {
    let mut batches: Vec<Line> = Vec::new();
    for (level, line) in lines {
        match batches.last_mut() {
            Some((last, text)) if *last == level => {
                text.push('\n');
                text.push_str(&line);
            }
            _ => batches.push((level, line)),
        }
    }
    batches
}

/// The panic hook: one line, what and where. A panic inside a concern is that concern's status as
/// well; the line says where to look.
pub fn panicked(info: &std::panic::PanicHookInfo<'_>) {
    use std::io::Write as _;
    let place = info.location().map(|at| format!(" at {}:{}", at.file(), at.line())).unwrap_or_default();
    let text = info.payload_as_str().unwrap_or("no reason given").replace('\n', "; ");
    // Nothing is left to report to if standard error is closed.
    let _ = writeln!(std::io::stderr(), "lockstep: fault in lockstep{place}, please report it: {text}");
}

struct Gather(Lines);

impl<S: Subscriber> Layer<S> for Gather {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Text(String::new());
        event.record(&mut line);
        let mut lines = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((*event.metadata().level(), line.0));
    }
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // Writing to a String cannot fail.
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_level_become_one_text() {
        let line = |level, text: &str| (level, text.to_owned());
        let lines = vec![
            line(Level::INFO, "a"),
            line(Level::INFO, "b"),
            line(Level::ERROR, "c"),
            line(Level::INFO, "d"),
        ];
        let expected = vec![line(Level::INFO, "a\nb"), line(Level::ERROR, "c"), line(Level::INFO, "d")];
        assert_eq!(batches(lines), expected);
    }
}
