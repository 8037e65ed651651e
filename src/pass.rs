//! observe -> decide -> act, for every invocation.

use crate::act::{Leadership, Report, act};
use crate::cli::{self, Command};
use crate::databag::record;
use crate::decide::decide;
use crate::invocation::Invocation;
use crate::juju::{Context, Endpoint, Event, Scope, Variables};
use crate::log::{self, Lines};
use crate::observe::{Cache, Mark, Observation, observe};
use crate::plan::Plan;
use crate::tools::hook_tools::HookTools;
use crate::tools::{Clock, Runner, become_tied};
use anyhow::{Context as _, anyhow};
use fs_err as fs;
use std::io::Write;
use std::time::Duration;
use tracing::Level;

/// Where a run writes for the person or the agent that started it.
#[derive(Debug)]
pub struct Streams<'a, O, E> {
    /// Standard output.
    pub out: &'a mut O,
    /// Standard error.
    pub err: &'a mut E,
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
    let outcome = unit.carry_out(asked, streams.out);
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
    clock: Clock,
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
            tools: HookTools::new(runner),
            context,
            build,
            clock,
        })
    }

    fn carry_out(&self, asked: Invocation, out: &mut impl Write) -> anyhow::Result<()> {
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
                out.write_all(text.as_bytes()).context("cannot print")
            }
            Invocation::Action(name) => self.action(&name, out).with_context(|| format!("action {name}")),
            Invocation::Command(Command::CheckData { .. } | Command::Tied { .. })
            | Invocation::Unknown(_)
            | Invocation::Text(..) => Ok(()),
        }
    }

    /// Observes and decides.
    fn look(&self, event: Option<&Event>, marked: bool) -> anyhow::Result<(Observation, Plan)> {
        let now = self.clock.now();
        let observation = observe(&self.tools, &self.context, &self.build, event, &self.cache, marked, now)?;
        let plan = decide(&observation.observed);
        Ok((observation, plan))
    }

    /// One whole pass.
    fn pass(&self, event: Option<&Event>, marked: bool) -> anyhow::Result<()> {
        let asked = self.clock.ticks();
        let (mut observation, mut plan) = self.look(event, marked)?;
        for (level, line) in std::mem::take(&mut plan.log) {
            match level {
                Level::WARN => tracing::warn!("{line}"),
                Level::INFO => tracing::info!("{line}"),
                _ => tracing::debug!("{line}"),
            }
        }
        let memo = plan.memo.take();
        observation.kept.outgoing = std::mem::take(&mut plan.outgoing);
        let leadership = Leadership { leads: observation.observed.leader, asked };
        let ticks = || -> Duration { self.clock.ticks() };
        let report = act(&self.tools, &ticks, leadership, plan, &observation.state)?;
        observation.kept.memo = memo.unwrap_or(observation.kept.memo);
        self.keep(observation, &report);
        Ok(())
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

    fn action(&self, name: &str, out: &mut impl Write) -> anyhow::Result<()> {
        if name != "show-status" {
            self.tools.action_fail(&format!("{name} is not part of this version of lockstep"))?;
            return Ok(());
        }
        let (observation, plan) = self.look(None, self.mark.is_set())?;
        let shown = cli::show_status(&observation.observed, &plan);
        self.tools.action_set(&shown.results)?;
        out.write_all(shown.text.as_bytes()).context("cannot print")
    }

    /// Hands the log lines of this run to Juju.
    fn hand_on<O: Write, E: Write>(&self, lines: &Lines, in_hook: bool, streams: &mut Streams<'_, O, E>) {
        for (level, text) in log::batches(lines.take()) {
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
