//! Log lines are gathered while a pass runs and handed to Juju together, with their levels.
//!
//! Juju logs a hook's standard output at DEBUG and its standard error at WARNING, so these two
//! levels cost no process; INFO and ERROR go through `juju-log`, neighbours of one level in one
//! call, but for the story of a rollout: each of its lines is a record with a time of its own. In an
//! action both outputs belong to its results, so everything goes through `juju-log`.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};

/// The tracing target of lines that tell the story of a rollout.
pub const STORY: &str = "story";
/// So many lines of one pass have a call of their own at most; the rest is joined.
const ALONE: usize = 8;

/// One line, or several that are one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its level.
    pub level: Level,
    /// What it says.
    pub text: String,
    /// Whether it is not joined with its neighbours.
    pub alone: bool,
}

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

/// Neighbouring lines of one level as one text each, but for those that stand alone.
pub fn batches(lines: Vec<Line>) -> Vec<Line> {
    let mut batches: Vec<Line> = Vec::new();
    let mut alone = 0;
    for mut line in lines {
        alone += usize::from(line.alone);
        line.alone &= alone <= ALONE;
        match batches.last_mut() {
            Some(last) if last.level == line.level && !last.alone && !line.alone => {
                last.text.push('\n');
                last.text.push_str(&line.text);
            }
            _ => batches.push(line),
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
        let mut text = Text(String::new());
        event.record(&mut text);
        let metadata = event.metadata();
        let text = on_one_line(&text.0);
        let line = Line { level: *metadata.level(), text, alone: metadata.target() == STORY };
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
    }
}

/// What others wrote is quoted in it: no line of theirs may look like one of ours.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
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

    fn line(level: Level, text: &str, alone: bool) -> Line {
        Line { level, text: text.to_owned(), alone }
    }

    #[test]
    fn neighbours_of_one_level_become_one_text() {
        let plain = |level, text| line(level, text, false);
        let lines = vec![
            plain(Level::INFO, "a"),
            plain(Level::INFO, "b"),
            plain(Level::ERROR, "c"),
            plain(Level::INFO, "d"),
        ];
        let expected = vec![plain(Level::INFO, "a\nb"), plain(Level::ERROR, "c"), plain(Level::INFO, "d")];
        assert_eq!(batches(lines), expected);
    }

    #[test]
    fn what_others_wrote_makes_no_line_of_its_own() {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::registry().with(Gather(lines.clone()));
        tracing::subscriber::with_default(subscriber, || tracing::info!("from: {}", "a\nINFO: b\u{1b}[31m"));
        assert_eq!(lines.take(), [line(Level::INFO, "from: a INFO: b [31m", false)]);
    }

    #[test]
    fn each_line_of_a_story_is_a_record_as_long_as_there_are_few() {
        let story = |text: &str| line(Level::INFO, text, true);
        let few = vec![line(Level::INFO, "a", false), story("b"), story("c"), line(Level::INFO, "d", false)];
        assert_eq!(batches(few.clone()), few);
        let many: Vec<Line> = (0..200).map(|number| story(&number.to_string())).collect();
        let batches = batches(many);
        assert_eq!(batches.len(), ALONE + 1);
        assert_eq!(batches.last().map(|last| last.text.lines().count()), Some(200 - ALONE));
    }
}
