//! Faults that wait for a hook.

use serde::Deserialize;

use super::{CallRecord, Sim};
use crate::scenario::Step;
use crate::tools::Call;

/// Who is killed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KillBy {
    /// The hook's process with all that it started, by SIGKILL: it runs again without an error.
    #[default]
    Process,
    /// The unit agent with it: after the restart the hook counts as failed.
    Agent,
    /// The machine with them: it stays dead.
    Machine,
}

/// Something that happens at the n-th call of a hook tool, before the tool does anything.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct AtCall {
    /// The first call is 1.
    pub call: u32,
    /// So long does the call take.
    #[serde(default)]
    pub seconds: u64,
    /// What happens meanwhile.
    #[serde(default)]
    pub r#do: Vec<Step>,
}

/// Calls of a tool.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Calls {
    /// Of which; none: of any.
    pub tool: Option<String>,
    /// Only those with this in an argument.
    pub argv_contains: Option<String>,
}

impl Calls {
    /// Whether a call is one of these.
    pub fn has(&self, tool: &str, args: &[String]) -> bool {
        let part = |part: &String| args.iter().any(|arg| arg.contains(part));
        self.tool.as_ref().is_none_or(|own| own == tool) && self.argv_contains.as_ref().is_none_or(part)
    }

    /// How many of these calls are these.
    pub fn count(&self, calls: &[CallRecord]) -> usize {
        calls.iter().filter(|call| self.has(&call.tool, &call.args)).count()
    }

    /// The number of a call that follows these; none if it is not counted. The first is 1.
    pub fn number(&self, before: &[CallRecord], call: &Call) -> Option<u32> {
        self.has(&call.tool, &call.args).then(|| self.count(before) as u32 + 1)
    }
}

/// A tool that answers something else.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ToolAnswer {
    /// Which tool.
    pub tool: String,
    /// Only calls with this in an argument.
    #[serde(default)]
    pub argv_contains: Option<String>,
    /// Exit status.
    #[serde(default)]
    pub exit: u8,
    /// Standard output.
    #[serde(default)]
    pub stdout: String,
    /// Standard error.
    #[serde(default)]
    pub stderr: String,
}

impl ToolAnswer {
    /// The calls that get this answer.
    pub fn to(&self) -> Calls {
        Calls { tool: Some(self.tool.clone()), argv_contains: self.argv_contains.clone() }
    }
}

/// What goes wrong.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Fault {
    /// In which unit.
    pub unit: String,
    /// In which hook or action; none means the next one, whichever it is.
    pub hook: Option<String>,
    /// Which calls the numbers below count; by default all of them.
    pub counting: Calls,
    /// Killed before this call is answered.
    pub kill_at_call: Option<u32>,
    /// Killed while this call is under way: after the request, before the answer. In a call that takes time, half-way.
    pub kill_in_call: Option<u32>,
    /// Who is killed.
    pub by: KillBy,
    /// What it wrote is refused.
    pub fail_commit: bool,
    /// Leadership is lost before this call is answered.
    pub lose_leadership_at_call: Option<u32>,
    /// To this unit; else to any other unit that can lead, or to none.
    pub to: Option<String>,
    /// Time passes in a call.
    pub advance_at_call: Option<AtCall>,
    /// Other things happen in a call.
    pub at_call: Option<AtCall>,
    /// Other things happen while a call is under way.
    pub in_call: Option<AtCall>,
    /// A tool, or a program of the machine, answers something else.
    pub tool_answer: Option<ToolAnswer>,
    /// It is no failure of the scenario if this fault never comes true.
    pub optional: bool,
    /// It waits for the first hook that makes the calls which it counts; others pass unharmed.
    pub waits: bool,
}

/// A fault that waits.
#[derive(Debug, Clone)]
pub struct Armed {
    /// What.
    pub fault: Fault,
}

impl Fault {
    /// Whether any call or the commit is concerned, with the same words that a timeline uses.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        for (call, word) in [(self.kill_at_call, "at"), (self.kill_in_call, "in")] {
            let Some(call) = call else { continue };
            let who = match self.by {
                KillBy::Process => "the process is killed",
                KillBy::Agent => "the unit agent dies",
                KillBy::Machine => "the machine dies",
            };
            parts.push(format!("{who} {word} call {call}"));
        }
        if self.fail_commit {
            parts.push("its commit is refused".to_owned());
        }
        if let Some(call) = self.lose_leadership_at_call {
            parts.push(format!("leadership is lost at call {call}"));
        }
        if let Some(at) = &self.advance_at_call {
            parts.push(format!("call {} takes {} s", at.call, at.seconds));
        }
        if let Some(at) = &self.at_call {
            parts.push(format!("something happens at call {}", at.call));
        }
        if let Some(at) = &self.in_call {
            parts.push(format!("something happens in call {}", at.call));
        }
        if let Some(answer) = &self.tool_answer {
            parts.push(format!("{} exits {}", answer.tool, answer.exit));
        }
        format!(
            "in {} of {}: {}",
            self.hook.as_deref().unwrap_or("the next hook"),
            self.unit,
            parts.join(", ")
        )
    }
}

impl Sim {
    /// Arms a fault; `unit` must be a unit's name.
    pub fn arm(&mut self, fault: Fault) {
        self.armed.push(Armed { fault });
    }

    /// Takes out all faults that still wait.
    pub fn disarm(&mut self) {
        self.armed.clear();
    }

    /// Faults that still wait.
    pub fn armed(&self) -> &[Armed] {
        &self.armed
    }

    /// A fault whose job gave no occasion waits for the next one.
    pub(super) fn arm_again(&mut self, fault: &Fault) {
        self.armed.push(Armed { fault: fault.clone() });
    }

    /// Takes out the faults that wait for this job.
    pub(super) fn take_faults(&mut self, unit: &str, name: &str) -> Vec<Fault> {
        let concerns = |armed: &Armed| {
            armed.fault.unit == unit && armed.fault.hook.as_deref().is_none_or(|hook| hook == name)
        };
        let (taken, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.armed).into_iter().partition(concerns);
        self.armed = kept;
        taken.into_iter().map(|armed| armed.fault).collect()
    }
}
