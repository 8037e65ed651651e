//! The process of one job: started, served call by call, perhaps killed.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};

use super::fault::{Fault, KillBy};
use super::job::job_name;
use super::program::{Called, Inside};
use super::{CallRecord, Running, Sim, shorten};
use crate::agent::context::{Context, Job, Reboot};
use crate::agent::environment::environment;
use crate::agent::files::{Script, delete_matching, look};
use crate::process::{Caller, Exit, Happening, Process, Spawn, Stream};
use crate::snapd::{Client, Starter};
use crate::tools::{self, Answer, Call};
use crate::world::Level;

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

/// What becomes of a call.
enum Asked {
    Answer(Answer),
    /// The job is killed in it.
    Killed(KillBy),
    /// The job has ended the program that called.
    Gone,
}

impl Run {
    pub(super) fn new() -> Self {
        Self {
            end: End::Missing,
            calls: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            fired: Vec::new(),
            handler: "explicit, bespoke hook script",
        }
    }
}

pub(super) enum End {
    Missing,
    Denied,
    Exit(Exit),
    Killed(KillBy),
    RebootNow,
}

impl Sim {
    /// Starts the process of a job and serves it to its end.
    pub(super) fn run_job(&mut self, context: &mut Context, faults: &[Fault]) -> Result<Run> {
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
        let mut run = Run::new();
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
        sockets.push((paths.machine_socket(), true));
        self.link_programs(&machine)?;
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
        let record = |caller: &Caller, answer: Option<&Answer>| CallRecord {
            tool: caller.call.tool.clone(),
            args: caller.call.args.clone(),
            stdin: caller.call.stdin.as_ref().map(Vec::len),
            code: answer.map(|a| a.code),
            stdout: answer.map_or(String::new(), |a| shorten(&String::from_utf8_lossy(&a.stdout), 400)),
            stderr: answer.map_or(String::new(), |a| shorten(&String::from_utf8_lossy(&a.stderr), 400)),
        };
        let mut killed = self.faults_at(&caller.call, context, faults, run)?;
        self.interleave()?;
        if let Some(by) = self.running.last_mut().and_then(|running| running.kill.take()) {
            killed = Some(by);
        }
        if let Some(by) = killed {
            run.calls.push(record(&caller, None));
            return Ok((Some(End::Killed(by)), Some(caller)));
        }
        let answer = loop {
            match self.ask(&caller, context, faults, run)? {
                Asked::Answer(answer) if answer.wants_stdin => {
                    if !caller.ask_stdin() {
                        return Ok((None, None));
                    }
                }
                Asked::Answer(answer) => break answer,
                Asked::Killed(by) => {
                    run.calls.push(record(&caller, None));
                    return Ok((Some(End::Killed(by)), Some(caller)));
                }
                Asked::Gone => {
                    run.calls.push(record(&caller, None));
                    return Ok((None, None));
                }
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
    ) -> Result<Asked> {
        if caller.context != context.id && !caller.machine {
            let text = format!("ERROR bad request: wrong context ID; got \"{}\"\n", caller.context);
            return Ok(Asked::Answer(Answer { code: 1, stderr: text.into_bytes(), ..Answer::default() }));
        }
        let mut answers = faults.iter().filter_map(|fault| fault.tool_answer.as_ref());
        let instead = answers.find(|answer| answer.to().has(&caller.call.tool, &caller.call.args));
        if let Some(instead) = instead {
            run.fired.push(format!("{} exited {} instead", instead.tool, instead.exit));
            return Ok(Asked::Answer(Answer {
                code: instead.exit,
                stdout: instead.stdout.clone().into_bytes(),
                stderr: instead.stderr.clone().into_bytes(),
                ..Answer::default()
            }));
        }
        if caller.machine {
            let client = self.client(caller, context);
            let inside = Inside { caller, faults, run };
            return Ok(match self.program(&client, &caller.call, Some(inside))? {
                Called::Reply(reply) => {
                    let problem = reply.problem.clone();
                    let line = tools::shown(&caller.call);
                    let problem = problem.map(|problem| format!("{line}: {problem}"));
                    Asked::Answer(Answer { problem, ..reply.into() })
                }
                Called::Killed(by) => Asked::Killed(by),
                Called::Gone => Asked::Gone,
            });
        }
        let answer = tools::call(&mut self.world, context, &caller.call);
        if !answer.wants_stdin
            && let Some(by) = self.faults_within(&caller.call, faults, run)?
        {
            return Ok(Asked::Killed(by));
        }
        Ok(Asked::Answer(answer))
    }

    /// Who calls a program of the machine from within a job.
    fn client(&self, caller: &Caller, context: &Context) -> Client {
        let by = match &context.job {
            Job::Hook(_) => "hook",
            Job::Action(_) => "action",
            Job::Exec(_) => "exec",
        };
        let argv = std::iter::once(&caller.call.tool).chain(&caller.call.args).cloned().collect();
        Client {
            machine: self.running.last().map(|r| r.machine.clone()).unwrap_or_default(),
            columns: caller.columns(),
            by: Starter {
                by: by.to_owned(),
                unit: Some(context.unit.clone()),
                hook: Some(job_name(&self.world, context)),
                argv,
            },
        }
    }

    /// What faults make happen while a call is under way.
    pub(super) fn faults_within(
        &mut self,
        call: &Call,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<Option<KillBy>> {
        let mut killed = None;
        for fault in faults {
            let Some(number) = fault.counting.number(&run.calls, call) else { continue };
            if let Some(at) = fault.in_call.as_ref().filter(|at| at.call == number) {
                self.move_clock(at.seconds * 1000)?;
                at.r#do.iter().try_for_each(|step| self.step(step))?;
                run.fired.push(format!("something happened in call {number}"));
            }
            if fault.kill_in_call == Some(number) {
                killed = Some(fault.by);
                run.fired.push(format!("killed in call {number}"));
            }
        }
        Ok(self.running.last_mut().and_then(|running| running.kill.take()).or(killed))
    }

    /// What faults make happen before a call.
    fn faults_at(
        &mut self,
        call: &Call,
        context: &Context,
        faults: &[Fault],
        run: &mut Run,
    ) -> Result<Option<KillBy>> {
        let mut killed = None;
        for fault in faults {
            let Some(number) = fault.counting.number(&run.calls, call) else { continue };
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
}

/// `dispatch` runs for everything; only where there is none, the file of the hook or the action.
fn script(below: &str, name: &str, charm: &std::path::Path) -> PathBuf {
    let dispatch = charm.join("dispatch");
    if look(&dispatch) != Script::Missing { dispatch } else { charm.join(below).join(name) }
}
