//! Who runs next, and until when.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use super::Sim;
use crate::agent::next::{Op, candidates, notice};
use crate::world::Pending;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settle {
    /// At most so many hooks; then it is no failure that there is more to do.
    pub hooks: Option<u32>,
    /// How often a failed hook is waited for and tried again; then its unit counts as being at rest in error.
    pub retries: u32,
}

impl Default for Settle {
    fn default() -> Self {
        Self { hooks: None, retries: 3 }
    }
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// How many operations ran.
    pub hooks: u32,
    /// Whether nothing is left to do.
    pub at_rest: bool,
}

impl Sim {
    /// What a unit could do next, after it has noticed what is new.
    pub fn next_ops(&mut self, unit: &str) -> Vec<Op> {
        notice(&mut self.world, unit);
        candidates(&self.world, unit)
    }

    /// Runs hooks until no agent has work. The clock moves on to retries, but not to `update-status`.
    pub fn settle(&mut self, settle: Settle) -> Result<Settled> {
        let mut hooks = 0;
        let mut ran: BTreeMap<String, u32> = BTreeMap::new();
        let failed: BTreeMap<String, u32> =
            self.world.units.values().filter_map(|u| Some((u.name.clone(), u.failures()?))).collect();
        loop {
            if settle.hooks == Some(hooks) {
                return Ok(Settled { hooks, at_rest: false });
            }
            let limit = 200 + 200 * self.world.units.values().filter(|u| !u.scripted).count() as u32;
            if hooks >= limit {
                let mut often: Vec<(String, u32)> = ran.into_iter().collect();
                often.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
                let often: Vec<String> =
                    often.iter().take(5).map(|(what, count)| format!("{count} times {what}")).collect();
                bail!(
                    "the model does not come to rest within {limit} hooks; most often ran: {}",
                    often.join(", ")
                );
            }
            self.world.tend_leases();
            let Some((unit, op)) = self.choose() else {
                match self.next_retry(&failed, settle.retries) {
                    Some(wait) => self.move_clock(wait)?,
                    None => return Ok(Settled { hooks, at_rest: true }),
                }
                continue;
            };
            hooks += 1;
            let what = match &op {
                Op::Hook(hook) => {
                    let remote = hook.remote_unit.as_ref().map_or(String::new(), |r| format!(" for {r}"));
                    format!("{} of {unit}{remote}", hook.name())
                }
                Op::Upgrade => format!("unpacking of {unit}"),
                Op::Finish => format!("removal of {unit}"),
                Op::Commands(hook) => format!("{hook} of {unit}"),
                Op::Timer(name) => format!("timer {name} of machine {unit}"),
            };
            *ran.entry(what).or_default() += 1;
            self.run_op(&unit, op)?;
        }
    }

    /// Runs exactly the next operation of one unit that is a hook; the clock moves on to its retry. False if there is
    /// nothing to do.
    pub fn next_hook(&mut self, unit: &str) -> Result<bool> {
        for _ in 0..20 {
            let ops = self.next_ops(unit);
            if let Some(op) = self.world.rng.pick(ops) {
                let hook = matches!(op, Op::Hook(_) | Op::Commands(_));
                self.run_op(unit, op)?;
                if hook {
                    return Ok(true);
                }
                continue;
            }
            let Some(Pending::Failed { retry_at, .. }) =
                self.world.units.get(unit).map(|u| &u.uniter.pending)
            else {
                return Ok(false);
            };
            let wait = retry_at.0.saturating_sub(self.world.clock.0);
            if wait == 0 {
                return Ok(false);
            }
            self.move_clock(wait)?;
        }
        bail!("{unit} goes on without running a hook")
    }

    /// Some unit whose machine is free, and one of the operations that it may do.
    fn choose(&mut self) -> Option<(String, Op)> {
        let busy: Vec<String> = self.running.iter().map(|running| running.machine.clone()).collect();
        // What a principal notices may bring a subordinate into the model, so all look around first.
        let running = |name: &String| self.running.iter().any(|running| running.unit == *name);
        let all: Vec<String> = self.world.units.keys().filter(|name| !running(name)).cloned().collect();
        all.iter().for_each(|name| notice(&mut self.world, name));
        if let Some((machine, name)) = self.due_timer() {
            return Some((machine, Op::Timer(name)));
        }
        let acts = |u: &&crate::world::Unit| !u.scripted || !u.owed.is_empty();
        let units = self.world.units.values().filter(acts).filter(|u| !busy.contains(&u.machine));
        let names: Vec<String> = units.map(|u| u.name.clone()).collect();
        for name in self.world.rng.shuffle(names) {
            let ops = self.next_ops(&name);
            if let Some(op) = self.world.rng.pick(ops) {
                return Some((name, op));
            }
        }
        None
    }

    /// The wait until the first failed hook is tried again, unless all of them were tried often enough. `before` are
    /// the failures that there were when it began; together they count as one.
    fn next_retry(&self, before: &BTreeMap<String, u32>, most: u32) -> Option<u64> {
        if !self.world.retry_hooks {
            return None;
        }
        let units = self.world.units.values().filter(|u| self.world.agent_runs(&u.name) && !u.scripted);
        let times = units.filter_map(|u| match &u.uniter.pending {
            Pending::Failed { retry_at, attempts, .. } => {
                let before = before.get(&u.name).copied().unwrap_or(0);
                let count = attempts.checked_sub(before).map_or(*attempts, |new| new + before.min(1));
                (count <= most).then_some(*retry_at)
            }
            Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => None,
        });
        times.min().map(|time| time.0.saturating_sub(self.world.clock.0).max(1))
    }

    /// In a tool call of one machine, perhaps something happens on another.
    pub(super) fn interleave(&mut self) -> Result<()> {
        if self.options.interleave
            && self.running.len() < 3
            && self.world.rng.below(3) == 0
            && let Some((unit, op)) = self.choose()
        {
            self.run_op(&unit, op)?;
        }
        Ok(())
    }

    /// Carries out one operation.
    pub fn run_op(&mut self, unit: &str, op: Op) -> Result<()> {
        match op {
            Op::Hook(hook) => self.run_hook(unit, hook).map(|_| ()),
            Op::Upgrade => self.upgrade_unit(unit),
            Op::Commands(hook) => self.run_commands(unit, &hook),
            Op::Timer(name) => self.fire(unit, &name),
            Op::Finish => {
                self.finish(unit);
                Ok(())
            }
        }
    }
}
