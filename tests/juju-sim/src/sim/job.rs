//! Running one hook, action or command line of a charm, from its context to its commit.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::Signal;
use serde_json::{Map, Value};

use super::fault::{Fault, KillBy};
use super::shorten;
use super::{CallRecord, Outcome, Running, Sim};
use crate::agent::commit::{Changes, commit};
use crate::agent::context::{Context, Job, Reboot};
use crate::agent::environment::environment;
use crate::agent::files::{Script, delete_matching, look};
use crate::charm::actions::Undeclared;
use crate::machine;
use crate::process::{Caller, Exit, Happening, Process, Spawn, Stream};
use crate::tools::{self, Answer};
use crate::world::{ActionRun, Charm, HookInfo, HookKind, Level, Pending, World};

/// Every hook takes a little simulated time.
const HOOK_MILLIS: u64 = 100;

const REFUSED: &str = "refused by the scenario";
const ACTION_REFUSED: &str = "committing requested changes failed";

/// What became of the process of a job.
pub(super) struct Run {
    pub(super) end: End,
    pub(super) calls: Vec<CallRecord>,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) fired: Vec<String>,
    /// How Juju's log calls the file that ran.
    pub(super) handler: &'static str,
}

pub(super) enum End {
    Missing,
    Denied,
    Exit(Exit),
    Killed(KillBy),
    RebootNow,
}

impl Sim {
    /// Runs a hook, whatever the agent would do next, and notes its outcome.
    pub fn run_hook(&mut self, unit: &str, hook: HookInfo) -> Result<Outcome> {
        let skipped = hook.kind == HookKind::LeaderElected && !self.world.is_leader(unit);
        if hook.kind == HookKind::Install {
            self.unpack_charm(unit)?;
        }
        self.move_clock(HOOK_MILLIS)?;
        let retry = self.world.units.get(unit).map_or(0, |u| match &u.uniter.pending {
            Pending::Failed { attempts, .. } => *attempts,
            Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => 0,
        });
        if skipped {
            // Leadership was lost before the hook began: Juju leaves it out.
            self.world.hook_done(unit, &hook);
            self.note(format!("{unit} lost leadership before leader-elected, which is left out"));
            return Ok(Outcome::Done);
        }
        let before = self.snapshot(unit);
        self.world.before_hook(unit, &hook);
        let mut context = Context::new(&mut self.world, unit, Job::Hook(hook.clone()));
        let faults = self.take_faults(unit, &hook.name());
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        let mut killed = None;
        match &outcome {
            Outcome::Done | Outcome::Missing => self.world.hook_done(unit, &hook),
            Outcome::Failed(why) => self.world.hook_failed(unit, &hook, why),
            Outcome::Killed(_) => match run.end {
                End::Killed(by @ (KillBy::Agent | KillBy::Machine)) => {
                    self.world.hook_failed(unit, &hook, "unit agent died");
                    killed = Some(by);
                }
                End::Missing | End::Denied | End::Exit(_) | End::RebootNow | End::Killed(KillBy::Process) => {
                    self.world.hook_interrupted(unit, &hook);
                }
            },
        }
        let name = hook.name();
        self.record(&context, &before, name, retry, outcome.clone(), run, changes);
        match killed {
            Some(KillBy::Machine) => self.kill_machine_of(unit)?,
            Some(KillBy::Agent | KillBy::Process) => self.restart_agent(unit),
            None => {}
        }
        if context.reboot == Reboot::Now || (context.reboot == Reboot::After && outcome == Outcome::Done) {
            self.reboot_of(unit)?;
        }
        Ok(outcome)
    }

    /// Runs an action now, between two hooks; gives its id.
    pub fn run_action(
        &mut self,
        unit: &str,
        name: &str,
        params: std::collections::BTreeMap<String, Value>,
    ) -> Result<u32> {
        let charm = self.deployed_charm(unit)?;
        let id = self.world.next_action;
        self.world.next_action += 1;
        let mut action = ActionRun {
            id,
            unit: unit.to_owned(),
            name: name.to_owned(),
            params,
            status: "running".to_owned(),
            message: String::new(),
            results: Value::Object(Map::new()),
            log: Vec::new(),
        };
        if let Err(why) = action_fits(&charm, &self.world, &mut action) {
            action.status = "failed".to_owned();
            action.message = why;
            self.world.actions.insert(id, action);
            self.note(format!("action {name} of {unit} is refused"));
            return Ok(id);
        }
        self.world.actions.insert(id, action);
        self.move_clock(HOOK_MILLIS)?;
        let before = self.snapshot(unit);
        let mut context = Context::new(&mut self.world, unit, Job::Action(id));
        let faults = self.take_faults(unit, name);
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        self.finish_action(id, &context, &run, &outcome);
        self.record(&context, &before, name.to_owned(), 0, outcome, run, changes);
        Ok(id)
    }

    fn finish_action(&mut self, id: u32, context: &Context, run: &Run, outcome: &Outcome) {
        let unit = context.unit.clone();
        let Some(action) = self.world.actions.get_mut(&id) else { return };
        let mut results = context.results.clone();
        let code = match run.end {
            End::Exit(Exit::Code(code)) => Some(code),
            End::Exit(Exit::Signal(_)) | End::Killed(_) | End::RebootNow | End::Missing | End::Denied => None,
        };
        if let Some(map) = results.as_object_mut() {
            if let Some(code) = code {
                map.insert("return-code".to_owned(), Value::from(code));
            }
            for (name, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
                if !text.is_empty() {
                    map.insert(name.to_owned(), Value::from(text.as_str()));
                }
            }
        }
        action.results = results;
        let failure = match outcome {
            Outcome::Missing => Some(format!("action not implemented on unit \"{unit}\"")),
            Outcome::Failed(why) => Some(why.clone()),
            Outcome::Killed(why) => Some(why.clone()),
            Outcome::Done => context.failed.clone(),
        };
        action.status = if failure.is_some() { "failed" } else { "completed" }.to_owned();
        action.message = failure.unwrap_or_default();
    }

    /// Runs a command line in a unit's context, as `juju exec` does; `$CHARM` stands for the charm directory.
    pub fn exec(&mut self, unit: &str, args: &[String]) -> Result<Outcome> {
        self.deployed_charm(unit)?;
        self.move_clock(HOOK_MILLIS)?;
        let before = self.snapshot(unit);
        let mut context = Context::new(&mut self.world, unit, Job::Exec(args.to_vec()));
        let faults = self.take_faults(unit, "run-commands");
        let run = self.run_job(&mut context, &faults)?;
        let (outcome, changes) = self.conclude(&context, &run, &faults);
        self.check_faults(&faults, &run, &outcome);
        self.record(&context, &before, "run-commands".to_owned(), 0, outcome.clone(), run, changes);
        Ok(outcome)
    }

    /// Starts the process of a job and serves it to its end.
    fn run_job(&mut self, context: &mut Context, faults: &[Fault]) -> Result<Run> {
        let unit = context.unit.clone();
        let paths = self.paths_of(&unit)?;
        let machine = self.world.units.get(&unit).map(|u| u.machine.clone()).context("no such unit")?;
        ensure!(
            !self.running.iter().any(|running| running.machine == machine),
            "{unit}: machine {machine} already runs a hook, and Juju runs one at a time on a machine"
        );
        self.link_tools(&unit)?;
        for pattern in self.options.cold_cache.clone() {
            delete_matching(&paths.agent(&unit), &pattern)?;
        }
        let charm = paths.charm(&unit);
        let mut run = Run {
            end: End::Missing,
            calls: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            fired: Vec::new(),
            handler: "explicit, bespoke hook script",
        };
        let (program, args) = match &context.job {
            Job::Exec(args) => {
                let place = charm.display().to_string();
                let mut args = args.iter().map(|arg| arg.replace("$CHARM", &place));
                let program = args.next().context("a command line without a program")?;
                (PathBuf::from(program), args.collect())
            }
            Job::Hook(_) => (script("hooks", &job_name(&self.world, context), &charm), Vec::new()),
            Job::Action(_) => (script("actions", &job_name(&self.world, context), &charm), Vec::new()),
        };
        if program.ends_with("dispatch") {
            run.handler = "hook dispatching script: dispatch";
        }
        if !matches!(context.job, Job::Exec(_)) {
            match look(&program) {
                Script::Runs => {}
                Script::Missing => return Ok(run),
                Script::Denied => {
                    run.end = End::Denied;
                    return Ok(run);
                }
            }
        }
        let mut path = paths.programs().display().to_string();
        if self.options.host_programs {
            path.push_str(":/usr/bin:/bin");
        }
        let env = environment(&self.world, context, &paths, &path);
        let mut sockets = vec![(paths.socket(&unit), false)];
        if machine::any(&self.world, &machine) {
            sockets.push((paths.machine_socket(), true));
        }
        self.running.push(Running {
            unit,
            machine: machine.clone(),
            name: job_name(&self.world, context),
            kill: None,
        });
        let served = self.write_clock(&machine).and_then(|()| {
            let mut process = Process::start(&Spawn { program, args, cwd: charm, env }, &sockets)?;
            self.serve(&mut process, context, faults, &mut run)
        });
        self.running.pop();
        served?;
        Ok(run)
    }

    fn serve(
        &mut self,
        process: &mut Process,
        context: &mut Context,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<()> {
        let machine = self.running.last().map(|r| r.machine.clone()).unwrap_or_default();
        let module = job_name(&self.world, context);
        let mut killed = None;
        loop {
            match process.happening()? {
                Happening::Line(stream, line) => {
                    let line = self.without_scratch(&machine, &line);
                    let (level, all) = match stream {
                        Stream::Out => (Level::Debug, &mut run.stdout),
                        Stream::Err => (Level::Warning, &mut run.stderr),
                    };
                    all.push_str(&line);
                    all.push('\n');
                    if !matches!(context.job, Job::Action(_)) || level == Level::Warning {
                        self.world.log(&context.unit, &module, level, &line);
                    }
                }
                Happening::Call(caller) => {
                    let (end, unanswered) = self.answer(caller, context, faults, run)?;
                    if end.is_some() {
                        killed = end;
                        process.kill(unanswered)?;
                    }
                }
                Happening::Exit(exit) => {
                    run.end = killed.unwrap_or(End::Exit(exit));
                    return Ok(());
                }
            }
        }
    }

    /// Answers one call, after whatever a fault makes happen before it. If the process is to be killed, its call is
    /// given back unanswered.
    fn answer(
        &mut self,
        mut caller: Caller,
        context: &mut Context,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<(Option<End>, Option<Caller>)> {
        let number = run.calls.len() as u32 + 1;
        let record = |caller: &Caller, answer: Option<&Answer>| CallRecord {
            tool: caller.call.tool.clone(),
            args: caller.call.args.clone(),
            stdin: caller.call.stdin.as_ref().map(Vec::len),
            code: answer.map(|a| a.code),
            stdout: answer.map_or(String::new(), |a| shorten(&String::from_utf8_lossy(&a.stdout), 400)),
            stderr: answer.map_or(String::new(), |a| shorten(&String::from_utf8_lossy(&a.stderr), 400)),
        };
        let mut killed = self.faults_at(number, context, faults, run)?;
        self.interleave()?;
        if let Some(by) = self.running.last_mut().and_then(|running| running.kill.take()) {
            killed = Some(by);
        }
        if let Some(by) = killed {
            run.calls.push(record(&caller, None));
            return Ok((Some(End::Killed(by)), Some(caller)));
        }
        let answer = loop {
            let answer = self.ask(&caller, context, faults, run)?;
            if !answer.wants_stdin {
                break answer;
            }
            if !caller.ask_stdin() {
                return Ok((None, None));
            }
        };
        let machine = self.running.last().map(|r| r.machine.clone()).unwrap_or_default();
        if let Some(problem) = &answer.problem {
            let problem = format!("{} in {}: {problem}", context.unit, job_name(&self.world, context));
            self.problems.push(self.without_scratch(&machine, &problem));
        }
        let mut call = record(&caller, Some(&answer));
        for text in call.args.iter_mut().chain([&mut call.stdout, &mut call.stderr]) {
            *text = self.without_scratch(&machine, text);
        }
        run.calls.push(call);
        if context.reboot == Reboot::Now {
            return Ok((Some(End::RebootNow), Some(caller)));
        }
        caller.answer(&answer);
        Ok((None, None))
    }

    fn ask(
        &mut self,
        caller: &Caller,
        context: &mut Context,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<Answer> {
        if caller.machine {
            let machine = self.running.last().map(|r| r.machine.clone()).unwrap_or_default();
            return Ok(machine::call(&mut self.world, &machine, &caller.call));
        }
        if caller.context != context.id {
            let text = format!("ERROR bad request: wrong context ID; got \"{}\"\n", caller.context);
            return Ok(Answer { code: 1, stderr: text.into_bytes(), ..Answer::default() });
        }
        let instead = faults.iter().filter_map(|fault| fault.tool_answer.as_ref()).find(|answer| {
            answer.tool == caller.call.tool
                && answer
                    .argv_contains
                    .as_ref()
                    .is_none_or(|arg| caller.call.args.iter().any(|a| a.contains(arg)))
        });
        if let Some(instead) = instead {
            run.fired.push(format!("{} exited {} instead", instead.tool, instead.exit));
            return Ok(Answer {
                code: instead.exit,
                stdout: instead.stdout.clone().into_bytes(),
                stderr: instead.stderr.clone().into_bytes(),
                ..Answer::default()
            });
        }
        Ok(tools::call(&mut self.world, context, &caller.call))
    }

    /// What faults make happen before the n-th call.
    fn faults_at(
        &mut self,
        number: u32,
        context: &Context,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<Option<KillBy>> {
        let mut killed = None;
        for fault in faults {
            let at = [&fault.advance_at_call, &fault.at_call].into_iter().flatten();
            for at in at.filter(|at| at.call == number) {
                if at.seconds > 0 {
                    self.move_clock(at.seconds * 1000)?;
                    run.fired.push(format!("call {number} took {} s", at.seconds));
                }
                for step in &at.r#do {
                    self.step(step)?;
                }
                if !at.r#do.is_empty() {
                    run.fired.push(format!("something happened at call {number}"));
                }
            }
            if fault.lose_leadership_at_call == Some(number) {
                ensure!(
                    self.world.is_leader(&context.unit),
                    "{} does not lead, and cannot lose leadership",
                    context.unit
                );
                self.lose_leadership(&context.unit, fault.to.as_deref())?;
                run.fired.push(format!("leadership was lost at call {number}"));
            }
            if fault.kill_at_call == Some(number) {
                killed = Some(fault.by);
                run.fired.push(format!("killed at call {number}"));
            }
        }
        Ok(killed)
    }

    /// A fault that its hook gave no occasion for is a fault of the scenario.
    fn check_faults(&mut self, faults: &[Fault], run: &Run, outcome: &Outcome) {
        for fault in faults.iter().filter(|fault| !fault.optional) {
            let at = [&fault.advance_at_call, &fault.at_call].into_iter().flatten().map(|at| at.call);
            let calls = at.chain(fault.kill_at_call).chain(fault.lose_leadership_at_call);
            let late = calls.max().is_some_and(|call| call as usize > run.calls.len());
            let unused = fault
                .tool_answer
                .as_ref()
                .is_some_and(|answer| !run.calls.iter().any(|c| c.tool == answer.tool));
            let uncommitted = fault.fail_commit && !refused(outcome);
            if late || unused || uncommitted {
                let (calls, what) = (run.calls.len(), fault.describe());
                self.problems.push(format!("a fault never came true ({what}): there were {calls} calls"));
            }
        }
    }

    /// Judges the end of a process and applies what it wrote.
    fn conclude(&mut self, context: &Context, run: &Run, faults: &[Fault]) -> (Outcome, Changes) {
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
                let refused = faults.iter().any(|fault| fault.fail_commit);
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

    /// The charm that a unit has on disk; an error before that.
    fn deployed_charm(&self, unit: &str) -> Result<Charm> {
        let of = self.world.units.get(unit).with_context(|| format!("no unit {unit}"))?;
        if of.scripted {
            bail!("{unit} is scripted and runs nothing");
        }
        ensure!(self.world.agent_runs(unit), "the agent of {unit} does not run");
        ensure!(of.uniter.charm.is_some(), "{unit} has no charm yet");
        Ok(self.world.application(&of.application).map_err(anyhow::Error::msg)?.charm.clone())
    }
}

/// The commit was refused because a scenario wanted it.
pub(super) fn refused(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Failed(why) if why.contains(REFUSED) || why == ACTION_REFUSED)
}

pub(super) fn job_name(world: &World, context: &Context) -> String {
    match &context.job {
        Job::Hook(hook) => hook.name(),
        Job::Action(id) => world.actions.get(id).map_or(String::new(), |a| a.name.clone()),
        Job::Exec(_) => "run-commands".to_owned(),
    }
}

/// `dispatch` runs for everything; only where there is none, the file of the hook or the action.
fn script(below: &str, name: &str, charm: &std::path::Path) -> PathBuf {
    let dispatch = charm.join("dispatch");
    if look(&dispatch) != Script::Missing { dispatch } else { charm.join(below).join(name) }
}

/// Whether the action exists and its parameters fit; those that are missing get their defaults.
fn action_fits(charm: &Charm, world: &World, action: &mut ActionRun) -> Result<(), String> {
    let name = &action.name;
    let def = charm
        .actions
        .actions
        .get(name)
        .ok_or_else(|| format!("cannot run \"{name}\" action: not defined"))?;
    let undeclared = if world.juju.at_least(4, 0, 0) { Undeclared::Rejected } else { Undeclared::Accepted };
    let given = action.params.clone().into_iter().collect();
    def.validate(&given, undeclared).map_err(|why| format!("cannot run \"{name}\" action: {why}"))?;
    action.params = def.with_defaults(&given).into_iter().collect();
    Ok(())
}
