//! observe -> decide -> act, for every invocation.

mod action;

use crate::act::{Leadership, Report, act, alter, collect};
use crate::cli::{self, Command};
use crate::databag::record;
use crate::decide::decide;
use crate::invocation::Invocation;
use crate::juju::{Context, Endpoint, Event, PlainHook, Scope, Variables};
use crate::log::{self, Line, Lines};
use crate::observe::{Cache, Mark, Observation, Observer, altered, collected, observe, read_more};
use crate::plan::{Effect, Plan};
use crate::tools::hook_tools::HookTools;
use crate::tools::snap::Snap;
use crate::tools::{Clock, Runner, become_tied, systemd};
use anyhow::{Context as _, anyhow, bail};
use fs_err as fs;
use std::io::Write;
use std::time::Duration;
use tracing::Level;

/// So many effects one pass can need at the most: a read of each kind, a key for each snap, and one
/// move of each managed snap with a look at its key.
const EFFECTS: u32 = 64;

/// Where a run writes for the person or the agent that started it.
#[derive(Debug)]
pub struct Streams<'a, O, E> {
    /// Standard output.
    pub out: &'a mut O,
    /// Standard error.
    pub err: &'a mut E,
    /// Whether standard output is a terminal: then it is coloured, unless `NO_COLOR` is set.
    pub terminal: bool,
}

/// Runs what was asked for and gives the exit status: 0 done, whatever the statuses say; 1 not done
/// (Juju shows an error and retries a hook); 2 wrong usage.
pub fn run<O: Write, E: Write>(
    args: &[String],
    variables: &Variables,
    streams: &mut Streams<'_, O, E>,
) -> u8 {
    let lines = log::gather();
    let asked = match Invocation::read(args, variables) {
        Ok(Invocation::Text(text, status)) => {
            let written =
                if status == 0 { write!(streams.out, "{text}") } else { write!(streams.err, "{text}") };
            return if written.is_ok() { status } else { 1 };
        }
        Ok(Invocation::Unknown(_)) => return 0,
        Ok(Invocation::Command(Command::CheckData { file, json })) => {
            return match cli::check_data(&file, json) {
                Ok((text, good)) => say(streams.out, &text, u8::from(!good)),
                Err(error) => say(streams.err, &format!("lockstep: {error:#}\n"), 2),
            };
        }
        Ok(Invocation::Command(Command::Tied { parent, program, args })) => {
            let error = become_tied(parent, &program, &args);
            return say(streams.err, &format!("lockstep: cannot run {program}: {error}\n"), 1);
        }
        Ok(invocation) => invocation,
        Err(error) => return say(streams.err, &format!("lockstep: {error}\n"), 1),
    };
    let unit = match Unit::new(variables) {
        Ok(unit) => unit,
        Err(error) => return say(streams.err, &format!("lockstep: {error:#}\n"), 1),
    };
    let in_hook = matches!(asked, Invocation::Hook(_));
    let terminal = streams.terminal && !variables.contains_key("NO_COLOR");
    let outcome = unit.carry_out(asked, streams.out, terminal);
    unit.hand_on(&lines, in_hook, streams);
    match outcome {
        Ok(()) => 0,
        Err(error) => {
            let line = format!("{error:#}").replace('\n', "; ");
            if unit.tools.juju_log("ERROR", &line).is_err() {
                return say(streams.err, &format!("lockstep: {line}\n"), 1);
            }
            1
        }
    }
}

fn say(stream: &mut impl Write, text: &str, status: u8) -> u8 {
    if stream.write_all(text.as_bytes()).is_ok() { status } else { 1 }
}

/// One unit and its tools.
struct Unit {
    context: Context,
    build: String,
    /// The id of the action that runs; empty where none does.
    action: String,
    clock: Clock,
    runner: Runner,
    tools: HookTools,
    cache: Cache,
    mark: Mark,
}

impl Unit {
    fn new(variables: &Variables) -> anyhow::Result<Self> {
        let context = Context::from_variables(variables).map_err(|error| {
            anyhow!("{error}: this command runs in a hook, `juju exec` or `juju debug-hooks`")
        })?;
        let version = fs::read_to_string(context.charm_dir.join("version")).unwrap_or_default();
        let build = version.lines().next().unwrap_or("unknown").to_owned();
        let clock = Clock::new(&context.root);
        let path = variables.get("PATH").cloned().unwrap_or_default();
        let runner = Runner::new(clock.clone(), path, &context.charm_dir);
        Ok(Self {
            cache: Cache::new(&context, &build),
            mark: Mark::new(&context),
            tools: HookTools::new(runner.clone()),
            runner,
            context,
            build,
            action: variables.get("JUJU_ACTION_UUID").cloned().unwrap_or_default(),
            clock,
        })
    }

    fn carry_out(&self, asked: Invocation, out: &mut impl Write, terminal: bool) -> anyhow::Result<()> {
        match asked {
            Invocation::Hook(event) => {
                let marked = self.mark.is_set();
                if let Err(error) = self.mark.set(&event.name()) {
                    tracing::warn!("cannot mark this hook as in flight: {error}");
                }
                self.pass(Some(&event), marked).with_context(|| event.name())?;
                self.mark.clear().context("cannot take off the mark of a hook in flight")
            }
            Invocation::Command(Command::Pass) => self.pass(None, self.mark.is_set()).context("pass"),
            Invocation::Command(Command::Explain { json }) => {
                let (observation, plan) = self.look(None, self.mark.is_set())?;
                let text = cli::explain(&observation.observed, &plan, json);
                let text = cli::paint(&text, terminal && !json);
                out.write_all(text.as_bytes()).context("cannot print")
            }
            Invocation::Action(name) => self.action(&name, out).with_context(|| format!("action {name}")),
            Invocation::Command(Command::CheckData { .. } | Command::Tied { .. })
            | Invocation::Unknown(_)
            | Invocation::Text(..) => Ok(()),
        }
    }

    /// Observes and decides, without an effect.
    fn look(&self, event: Option<&Event>, marked: bool) -> anyhow::Result<(Observation, Plan)> {
        let snap = Snap::new(self.runner.clone());
        let observation = observe(&self.observer(&snap, event, marked))?;
        let plan = decide(&observation.observed);
        Ok((observation, plan))
    }

    fn observer<'a>(&'a self, snap: &'a Snap, event: Option<&'a Event>, marked: bool) -> Observer<'a> {
        let Self { tools, context, build, cache, clock, .. } = self;
        Observer { tools, snap, context, build, cache, event, marked, now: clock.now() }
    }

    /// One whole pass: decides, and as long as that asks for an effect carries it out and decides again.
    fn pass(&self, event: Option<&Event>, marked: bool) -> anyhow::Result<()> {
        let mut asked = self.clock.ticks();
        let snap = Snap::new(self.runner.clone());
        let observer = self.observer(&snap, event, marked);
        let mut observation = observe(&observer)?;
        let mut plan = decide(&observation.observed);
        for _ in 0..EFFECTS {
            let Some(effect) = plan.effect.take() else {
                return self.act(event, observation, plan, asked);
            };
            match effect {
                Effect::Alter(alteration) => {
                    if let Some(status) = &plan.during {
                        self.tools.status_set(Scope::Unit, status)?;
                        // It is not what this pass will have shown in the end.
                        observation.observed.committed = false;
                    }
                    let outcome = alter(&snap, &alteration);
                    altered(&observer, &mut observation, alteration, outcome);
                }
                Effect::Collect(step) => {
                    if let Some(status) = &plan.during {
                        self.tools.status_set(Scope::Unit, status)?;
                        observation.observed.committed = false;
                    }
                    let outcome = collect(&snap, &self.context, &step);
                    collected(&observer, &mut observation, step, outcome);
                }
                effect @ (Effect::ReadAppBag
                | Effect::ReadGoalState
                | Effect::ReadInfo { .. }
                | Effect::ReadKube { .. }
                | Effect::CreateCohorts { .. }) => {
                    let now = self.clock.ticks();
                    if read_more(&observer, &mut observation, &effect)? {
                        asked = now;
                    }
                }
            }
            plan = decide(&observation.observed);
        }
        bail!("more than {EFFECTS} effects in one pass, the next would be {:?}", plan.effect)
    }

    /// Carries out the last decision of a pass.
    fn act(
        &self,
        event: Option<&Event>,
        mut observation: Observation,
        mut plan: Plan,
        asked: Duration,
    ) -> anyhow::Result<()> {
        for (level, line) in std::mem::take(&mut plan.story) {
            match level {
                Level::WARN => tracing::warn!(target: log::STORY, "{line}"),
                _ => tracing::info!(target: log::STORY, "{line}"),
            }
        }
        for (level, line) in std::mem::take(&mut plan.log) {
            match level {
                Level::WARN => tracing::warn!("{line}"),
                Level::INFO => tracing::info!("{line}"),
                _ => tracing::debug!("{line}"),
            }
        }
        let memo = plan.memo.take();
        observation.kept.outgoing = std::mem::take(&mut plan.outgoing);
        let follow_up = plan.follow_up;
        let leadership = Leadership { leads: observation.observed.leader, asked };
        let ticks = || -> Duration { self.clock.ticks() };
        let report = act(&self.tools, &ticks, leadership, plan, &observation.state)?;
        observation.kept.memo = memo.unwrap_or(observation.kept.memo);
        self.keep(observation, &report);
        self.schedule(event, follow_up);
        Ok(())
    }

    /// Sees to it that a pass runs when one is due sooner than the next update-status. Without systemd
    /// the update-status does.
    fn schedule(&self, event: Option<&Event>, follow_up: Option<u64>) {
        let Self { runner, context, .. } = self;
        let outcome = match follow_up {
            Some(seconds) => systemd::schedule_pass(runner, &context.unit, &context.charm_dir, seconds),
            None if event.is_some_and(|event| event.is(PlainHook::Stop)) => {
                systemd::cancel_pass(runner, &context.unit)
            }
            None => Ok(()),
        };
        if let Err(error) = outcome {
            tracing::debug!("no follow-up pass: {error}");
        }
    }

    /// Keeps for the next pass what was read, and what the own databag will hold.
    fn keep(&self, observation: Observation, report: &Report) {
        let Observation { mut kept, mut values, observed, .. } = observation;
        kept.pass = report.pass.unwrap_or(observed.remembered.pass);
        for write in report.buffered.iter().filter(|write| write.relation.endpoint == Endpoint::Peers) {
            if write.scope == Scope::App {
                // On peers the application databag that is read is the one that was written.
                if let Some(relation) = kept.index.relations.get_mut(&write.relation) {
                    relation.app_bag = None;
                }
                continue;
            }
            let texts = kept.index.own_texts.get_or_insert_default();
            for (key, value) in write.changes.iter().filter(|(key, _)| !record::is_record_key(key)) {
                match value {
                    Some(text) => texts.insert(key.clone(), text.clone()),
                    None => texts.remove(key),
                };
            }
            let records = kept.index.own_records.get_or_insert_default();
            for (key, value) in write.changes.iter().filter(|(key, _)| record::is_record_key(key)) {
                match value {
                    Some(text) => records.insert(key.clone(), record::read_peer(key, text, &mut values)),
                    None => records.remove(key),
                };
            }
        }
        if let Err(error) = self.cache.save(kept, &values) {
            tracing::warn!("cannot keep the cache, the next pass reads everything: {error}");
        }
    }

    /// Hands the log lines of this run to Juju.
    fn hand_on<O: Write, E: Write>(&self, lines: &Lines, in_hook: bool, streams: &mut Streams<'_, O, E>) {
        for Line { level, text, .. } in log::batches(lines.take()) {
            let done = match level {
                Level::WARN if in_hook => writeln!(streams.err, "{text}").is_ok(),
                Level::DEBUG | Level::TRACE if in_hook => writeln!(streams.out, "{text}").is_ok(),
                Level::DEBUG | Level::TRACE => true,
                level => {
                    let name = if level == Level::WARN { "WARNING" } else { level.as_str() };
                    self.tools.juju_log(name, &text).is_ok()
                }
            };
            if !done {
                say(streams.err, &format!("{text}\n"), 0);
            }
        }
    }
}
