//! The end of a job: its exit is judged, and what it wrote is applied or dropped.

use rustix::process::Signal;

use super::fault::Fault;
use super::job::job_name;
use super::serve::{End, Run};
use super::{Outcome, Sim};
use crate::agent::commit::{Changes, commit};
use crate::agent::context::{Context, Job};
use crate::process::Exit;
use crate::world::Level;

const REFUSED: &str = "refused by the scenario";
const ACTION_REFUSED: &str = "committing requested changes failed";

impl Sim {
    /// A fault that its hook gave no occasion for is a fault of the scenario.
    pub(super) fn check_faults(&mut self, faults: &[Fault], run: &Run, outcome: &Outcome) {
        for fault in faults.iter().filter(|fault| !fault.optional || fault.waits) {
            let at = [&fault.advance_at_call, &fault.at_call, &fault.in_call];
            let at = at.into_iter().flatten().map(|at| at.call);
            let kills = fault.kill_at_call.into_iter().chain(fault.kill_in_call);
            let calls = at.chain(kills).chain(fault.lose_leadership_at_call);
            let late = calls.max().is_some_and(|call| call as usize > fault.counting.count(&run.calls));
            let unused = fault.tool_answer.as_ref().is_some_and(|answer| answer.to().count(&run.calls) == 0);
            let uncommitted = fault.fail_commit && !refused(outcome);
            if (late || unused || uncommitted) && fault.waits {
                self.arm_again(fault);
            } else if late || unused || uncommitted {
                let (calls, what) = (run.calls.len(), fault.describe());
                self.problems.push(format!("a fault never came true ({what}): there were {calls} calls"));
            }
        }
    }

    /// Judges the end of a process and applies what it wrote.
    pub(super) fn conclude(&mut self, context: &Context, run: &Run, faults: &[Fault]) -> (Outcome, Changes) {
        let name = job_name(&self.world, context);
        let action = matches!(context.job, Job::Action(_));
        let failed = |why: &str| match &context.job {
            Job::Action(_) => Outcome::Failed(why.to_owned()),
            Job::Hook(_) => Outcome::Failed(format!("hook \"{name}\" (via {}) failed: {why}", run.handler)),
            Job::Exec(_) => Outcome::Failed(why.to_owned()),
        };
        let none = Changes::default();
        match run.end {
            End::Missing => (Outcome::Missing, none),
            End::Denied => (failed("permission denied"), none),
            End::RebootNow => (Outcome::Killed("killed for juju-reboot --now".to_owned()), none),
            End::Killed(_) => (Outcome::Killed("signal: killed".to_owned()), none),
            End::Exit(Exit::Signal(signal)) => {
                let requeues = [Signal::KILL.as_raw(), Signal::TERM.as_raw()].contains(&signal);
                if requeues && self.world.juju.at_least(3, 1, 1) && matches!(context.job, Job::Hook(_)) {
                    (Outcome::Killed(format!("signal {signal}")), none)
                } else {
                    (failed(&format!("signal {signal}")), none)
                }
            }
            End::Exit(Exit::Code(0)) => {
                let occasion = |fault: &Fault| !fault.waits || fault.counting.count(&run.calls) > 0;
                let refused = faults.iter().any(|fault| fault.fail_commit && occasion(fault));
                let applied =
                    if refused { Err(REFUSED.to_owned()) } else { commit(&mut self.world, context) };
                match applied {
                    Ok(changes) => (Outcome::Done, changes),
                    Err(why) => {
                        let text = format!("cannot apply changes: {why}");
                        self.world.log(&context.unit, &name, Level::Error, &text);
                        let why = if action { ACTION_REFUSED.to_owned() } else { text };
                        (Outcome::Failed(why), none)
                    }
                }
            }
            End::Exit(Exit::Code(code)) => (failed(&format!("exit status {code}")), none),
        }
    }
}

/// The commit was refused because a scenario wanted it.
pub(super) fn refused(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(why) if why.contains(REFUSED) || why == ACTION_REFUSED)
}
