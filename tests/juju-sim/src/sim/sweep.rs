//! The same future many times: a hook killed at each of its calls in turn, in copies of the simulation.

use anyhow::{Context as _, Result, ensure};

use super::{Fault, KillBy, Sim};

/// A hook with more calls than this is taken for one that never ends.
const MOST: u32 = 10_000;

impl Sim {
    /// For n = 1, 2, ... copies this simulation, arms a fault that kills the hook (none: the next one) of a unit at its
    /// n-th call, and runs `then` in the copy, until the hook makes fewer calls than n. Gives the number of copies in
    /// which it was killed. This simulation stays as it is.
    pub fn for_each_call(
        &self,
        unit: &str,
        hook: Option<&str>,
        by: KillBy,
        then: impl FnMut(&mut Sim) -> Result<()>,
    ) -> Result<u32> {
        self.sweep(unit, hook, by, false, then)
    }

    /// The same, but the hook is killed while its calls are under way: what they asked for has begun.
    pub fn for_each_call_within(
        &self,
        unit: &str,
        hook: Option<&str>,
        by: KillBy,
        then: impl FnMut(&mut Sim) -> Result<()>,
    ) -> Result<u32> {
        self.sweep(unit, hook, by, true, then)
    }

    fn sweep(
        &self,
        unit: &str,
        hook: Option<&str>,
        by: KillBy,
        within: bool,
        mut then: impl FnMut(&mut Sim) -> Result<()>,
    ) -> Result<u32> {
        let mut place = self.options.scratch.clone().into_os_string();
        place.push("-copy");
        let place = std::path::PathBuf::from(place);
        for call in 1..MOST {
            let mut copy = self.fork(&place)?;
            copy.arm(Fault {
                unit: unit.to_owned(),
                hook: hook.map(str::to_owned),
                kill_at_call: (!within).then_some(call),
                kill_in_call: within.then_some(call),
                by,
                optional: true,
                ..Fault::default()
            });
            let judged = then(&mut copy);
            let waits = |fault: &Fault| {
                fault.optional
                    && fault.unit == unit
                    && [fault.kill_at_call, fault.kill_in_call].contains(&Some(call))
            };
            let ran = !copy.armed.iter().any(|armed| waits(&armed.fault));
            let killed =
                copy.events.iter().skip(self.events.len()).any(|event| {
                    event.fault_came_true(if within { "killed in call" } else { "killed at call" })
                });
            fs_err::remove_dir_all(&place)?;
            judged.with_context(|| format!("{unit} was killed at call {call}"))?;
            ensure!(ran, "the hook of {unit} that is to be killed did not run");
            if !killed {
                return Ok(call - 1);
            }
        }
        anyhow::bail!("the hook of {unit} makes more than {MOST} calls")
    }
}
