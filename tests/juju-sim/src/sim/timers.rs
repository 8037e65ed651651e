//! Transient timers of machines, commands of scripted principals, and time in which agents go on working.

use anyhow::{Context as _, Result};

use super::serve::{End, Run};
use super::{CallRecord, Outcome, Running, Settle, Sim, shorten};
use crate::agent::commit::Changes;
use crate::agent::context::{Context, Job};
use crate::process::Exit;
use crate::snapd::Starter;
use crate::world::{HookInfo, HookKind, Level, Pending, Time};

impl Sim {
    /// The first timer that is due on a machine that is free; its command may need the machine's lock.
    pub(super) fn due_timer(&self) -> Option<(String, String)> {
        let now = self.world.clock;
        self.timers().into_iter().find(|(time, _, _)| *time <= now).map(|(_, machine, name)| (machine, name))
    }

    /// Timers that wait on free machines, with their times, first ones first.
    fn timers(&self) -> Vec<(Time, String, String)> {
        if !self.world.timers {
            return Vec::new();
        }
        let busy = |id: &String| self.running.iter().any(|running| running.machine == *id);
        let machines = self.world.machines.iter().filter(|(id, machine)| machine.up && !busy(id));
        let mut all: Vec<(Time, String, String)> = machines
            .flat_map(|(id, machine)| {
                machine.transient.iter().filter_map(|(name, t)| Some((t.fires?, id.clone(), name.clone())))
            })
            .collect();
        all.sort();
        all
    }

    /// A timer fires: its command runs, on the machine and outside hooks.
    pub(super) fn fire(&mut self, machine: &str, name: &str) -> Result<()> {
        let of = self.world.machines.get_mut(machine).and_then(|m| m.transient.get_mut(name));
        let timer = of.with_context(|| format!("no timer {name}"))?;
        timer.fires = None;
        timer.state = "active".to_owned();
        let (command, unit) = (timer.command.clone(), timer.by.clone());
        let collect = timer.collect;
        self.note(format!("timer {name} of machine {machine} fires"));
        let by =
            Starter { by: "timer".to_owned(), unit, hook: Some(format!("timer {name}")), argv: Vec::new() };
        let (code, _, stderr) = self.run_on(machine, &command, by)?;
        if code != 0 {
            self.note(format!(
                "the command of timer {name} exits {code}: {}",
                shorten(stderr.trim_end(), 200)
            ));
        }
        let Some(of) = self.world.machines.get_mut(machine) else { return Ok(()) };
        if code == 0 || collect {
            of.transient.remove(name);
        } else if let Some(timer) = of.transient.get_mut(name) {
            timer.state = "failed".to_owned();
        }
        Ok(())
    }

    /// The clock moves on by so much, and timers fire in between. Hooks do not run: see [`Sim::live`].
    pub(super) fn move_through_timers(&mut self, millis: u64) -> Result<()> {
        let end = self.world.clock.plus(millis);
        while let Some((time, machine, name)) =
            self.timers().into_iter().next().filter(|(time, _, _)| *time <= end)
        {
            self.move_clock(time.0.saturating_sub(self.world.clock.0))?;
            self.fire(&machine, &name)?;
        }
        self.move_clock(end.0.saturating_sub(self.world.clock.0))
    }

    /// Time passes in which agents go on working: timers, retries and `update-status` come when they are due, and what
    /// follows from them runs at once.
    pub fn live(&mut self, millis: u64) -> Result<()> {
        let end = self.world.clock.plus(millis);
        self.say(format!("life goes on for {} s", millis as f64 / 1000.0));
        loop {
            self.settle(Settle { hooks: None, retries: 0 })?;
            let now = self.world.clock;
            let next = self.next_moment().filter(|next| *next < end).unwrap_or(end);
            if now >= end {
                return Ok(());
            }
            self.move_clock(next.0.saturating_sub(now.0).max(1))?;
            self.note_update_status();
        }
    }

    /// When something is due next that is not due yet.
    fn next_moment(&self) -> Option<Time> {
        let now = self.world.clock;
        let timers = self.timers().into_iter().map(|(time, _, _)| time);
        let units = self.world.units.values().filter(|u| self.world.agent_runs(&u.name));
        let ticks = units.filter_map(|unit| match &unit.uniter.pending {
            Pending::Failed { retry_at, .. } => self.world.retry_hooks.then_some(*retry_at),
            Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => {
                let ticks =
                    if unit.scripted { self.world.has_commands(&unit.name) } else { unit.uniter.started };
                ticks.then_some(unit.uniter.next_update_status)
            }
        });
        timers.chain(ticks).chain(self.world.next_tend()).filter(|time| *time > now).min()
    }

    /// `update-status` becomes due where its time has come.
    pub(super) fn note_update_status(&mut self) {
        let now = self.world.clock;
        let names: Vec<String> = self.world.units.keys().cloned().collect();
        for name in names {
            let commands = self.world.has_commands(&name);
            let tick = now.plus(self.world.update_status_interval);
            let Some(unit) = self.world.units.get_mut(&name) else { continue };
            if unit.uniter.next_update_status > now {
                continue;
            }
            if unit.scripted && commands {
                unit.owe("update-status");
                unit.uniter.next_update_status = tick;
            } else if unit.uniter.started && !unit.scripted {
                unit.uniter.update_status_due = true;
            }
        }
    }

    /// A hook of a scripted principal: its commands, until one fails.
    pub(super) fn run_commands(&mut self, unit: &str, hook: &str) -> Result<()> {
        let of = self.world.units.get_mut(unit).with_context(|| format!("no unit {unit}"))?;
        of.owed.retain(|owed| owed != hook);
        let (app, machine) = (of.application.clone(), of.machine.clone());
        let kind = match hook {
            "update-status" => HookKind::UpdateStatus,
            "config-changed" => HookKind::ConfigChanged,
            _ => HookKind::Start,
        };
        let commands = self.world.provisions.get(&app).map(|p| p.commands.clone()).unwrap_or_default();
        let before = self.snapshot(unit);
        let context = Context::new(&mut self.world, unit, Job::Hook(HookInfo::plain(kind)));
        let mut run = Run::new();
        let name = hook.to_owned();
        self.running.push(Running { unit: unit.to_owned(), machine: machine.clone(), name, kill: None });
        let mut done = Ok(());
        for command in commands {
            let by = Starter {
                by: "hook".to_owned(),
                unit: Some(unit.to_owned()),
                hook: Some(hook.to_owned()),
                argv: Vec::new(),
            };
            match self.run_on(&machine, &command, by) {
                Err(e) => {
                    done = Err(e);
                    break;
                }
                Ok((code, stdout, stderr)) => {
                    let (tool, args) =
                        command.split_first().map(|(t, a)| (t.clone(), a.to_vec())).unwrap_or_default();
                    run.calls.push(CallRecord {
                        tool,
                        args,
                        stdin: None,
                        code: Some(code),
                        stdout,
                        stderr: stderr.clone(),
                    });
                    if code != 0 {
                        let text = format!("{} exits {code}: {}", command.join(" "), stderr.trim_end());
                        self.world.log(unit, hook, Level::Warning, &text);
                        break;
                    }
                }
            }
            self.interleave()?;
        }
        self.running.pop();
        done?;
        run.end = End::Exit(Exit::Code(0));
        self.record(&context, &before, hook.to_owned(), 0, Outcome::Done, run, Changes::default());
        Ok(())
    }
}
