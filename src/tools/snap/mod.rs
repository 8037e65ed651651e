//! One function per `snap` subcommand used. Nothing is decided here, and nothing that a command
//! prints about its success is believed: callers read again.
//!
//! Facts: snapd 2.57 to 2.68, seen with the real client and daemon; recordings in `tests/snap`.
//! Output is read without a terminal, in the C.UTF-8 locale, standard error apart from standard
//! output. Reading is local and short; queries to the store share one budget a pass, since a store
//! that does not answer costs 32 s each; a change is waited for, and its client ends with this
//! process, so that it cannot post anything later.

mod change;
mod classify;
mod cohort;
mod connections;
mod info;
mod list;
mod moves;
mod services;
mod text;
mod version;

pub use change::{parse_changes, parse_tasks};
pub use classify::classify;
pub use cohort::parse_cohorts;
pub use connections::parse_connections;
pub use info::parse_info;
pub use list::parse_list;
pub use moves::{Move, SwitchTo, To};
pub use services::parse_services;
pub use version::parse_version;

use super::{Call, Manner, Output, Runner, ToolError};
use crate::snap::{Answer, CohortKey, Trouble, TroubleKind};
use std::cell::Cell;
use std::time::Duration;

/// A local read that takes longer gets no answer: the client itself would retry for 120 s.
const LOCAL_LIMIT: Duration = Duration::from_secs(20);
/// For all queries to the store in one pass together.
const STORE_BUDGET: Duration = Duration::from_secs(60);
/// snapd retries for 32 s before it gives up on a store. An answer that took this long and holds
/// nothing of the store's is taken for silence.
const SILENCE: Duration = Duration::from_secs(10);
/// How long a refresh or an installation is waited for.
const MOVE_LIMIT: Duration = Duration::from_secs(600);
/// How long a change that moves nothing is waited for.
const NOTE_LIMIT: Duration = Duration::from_secs(60);
/// The list of all snaps is some KiB, one snap's information with its description some tens of KiB.
const OUTPUT_LIMIT: usize = 4 << 20;
/// Messages are not translated, and wrapped at the greatest width that the client takes.
const VARIABLES: [(&str, Option<&str>); 3] =
    [("LC_ALL", Some("C.UTF-8")), ("LANGUAGE", None), ("COLUMNS", Some("100"))];

/// What a command may have to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// snapd only.
    Local,
    /// The store, through snapd.
    Store,
    /// A change, which goes on in snapd if the client is ended.
    Change(Duration),
}

/// The `snap` command of this machine, for one pass.
#[derive(Debug)]
pub struct Snap {
    runner: Runner,
    store_left: Cell<Duration>,
}

impl Snap {
    /// The command that this runner finds, with a full budget for the store.
    pub fn new(runner: Runner) -> Self {
        Self { runner, store_left: Cell::new(STORE_BUDGET) }
    }

    /// What starts its processes.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The time left for queries to the store. None is left once the store has failed to answer.
    pub fn store_left(&self) -> Duration {
        self.store_left.get()
    }

    /// Runs a command and gives what it printed and the time that it took.
    fn run(&self, args: Vec<String>, reach: Reach) -> Result<Said, Trouble> {
        let limit = match reach {
            Reach::Local => LOCAL_LIMIT,
            Reach::Store => self.store_left.get(),
            Reach::Change(limit) => limit,
        };
        let changes = matches!(reach, Reach::Change(_));
        let manner = Manner { variables: &VARIABLES, tied: changes, gentle: changes };
        let call = Call { program: "snap", args, input: None, limit, output_limit: OUTPUT_LIMIT, manner };
        let trouble = |kind, text: &str| trouble(&call, kind, text);
        if reach == Reach::Store && limit < Duration::from_secs(1) {
            return Err(trouble(TroubleKind::OutOfTime, "not asked: no time is left for the store"));
        }
        let begin = self.runner.clock().ticks();
        let outcome = self.runner.run(&call);
        let took = self.runner.clock().ticks().saturating_sub(begin);
        let said = match outcome {
            Err(error) => {
                let (kind, text) = explained(&error, reach);
                Err(trouble(kind, &text))
            }
            Ok(output) => match classify(&output) {
                Ok(answer) => said(&call, output, answer, took),
                Err((TroubleKind::Unfinished, text)) => Err(trouble(ended(reach), &text)),
                Err((TroubleKind::NotFound, text)) if took >= SILENCE => {
                    Err(trouble(TroubleKind::StoreUnreachable, &text))
                }
                Err((kind, text)) => Err(trouble(kind, &text)),
            },
        };
        if reach == Reach::Store {
            let silent = said.as_ref().is_err_and(|trouble| trouble.kind.is_transient());
            self.spend(took, silent);
        }
        said
    }

    /// Takes time off the store's budget; all of it where the store was silent.
    fn spend(&self, took: Duration, silent: bool) {
        let left = self.store_left.get().saturating_sub(took);
        self.store_left.set(if silent { Duration::ZERO } else { left });
    }

    /// Runs a command and reads what it printed.
    fn read<T>(
        &self,
        args: Vec<String>,
        reach: Reach,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<(T, Duration), Trouble> {
        let said = self.run(args, reach)?;
        match parse(&said.stdout) {
            Ok(value) => Ok((value, said.took)),
            Err(why) => Err(Trouble {
                kind: TroubleKind::NotUnderstood,
                command: said.command,
                text: format!("cannot understand the answer: {}", text::shorten(&why)),
            }),
        }
    }
}

/// What a command that did not fail said.
struct Said {
    command: String,
    stdout: String,
    answer: Answer,
    took: Duration,
}

fn said(call: &Call<'_>, output: Output, answer: Answer, took: Duration) -> Result<Said, Trouble> {
    match String::from_utf8(output.stdout) {
        Ok(stdout) => Ok(Said { command: call.line(), stdout, answer, took }),
        Err(_) => Err(trouble(call, TroubleKind::NotUnderstood, "the answer is no UTF-8")),
    }
}

fn trouble(call: &Call<'_>, kind: TroubleKind, text: &str) -> Trouble {
    let key = call.args.iter().find_map(|arg| arg.strip_prefix("--cohort="));
    let hidden = key.map_or_else(|| text.to_owned(), |key| text::hide(text, key));
    Trouble { kind, command: call.line(), text: text::shorten(&hidden) }
}

fn explained(error: &ToolError, reach: Reach) -> (TroubleKind, String) {
    match error {
        ToolError::NotFound { .. } => (TroubleKind::NoSnapCommand, error.to_string()),
        ToolError::TimedOut { limit, .. } => {
            (ended(reach), format!("no answer within {} s", limit.as_secs()))
        }
        ToolError::NotUnderstood { why, .. } => (TroubleKind::NotUnderstood, why.clone()),
        ToolError::Io { why, .. } => (TroubleKind::Other, why.clone()),
        ToolError::Failed { stderr, .. } => (TroubleKind::Other, stderr.clone()),
    }
}

/// What it means that the client was ended before it had an answer.
fn ended(reach: Reach) -> TroubleKind {
    match reach {
        Reach::Local => TroubleKind::SnapdUnavailable,
        Reach::Store => TroubleKind::StoreUnreachable,
        Reach::Change(_) => TroubleKind::Unfinished,
    }
}

fn args(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn cohort_flag(key: &CohortKey) -> String {
    format!("--cohort={}", key.expose())
}
