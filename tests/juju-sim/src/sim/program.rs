//! Programs of a machine while they run: they may wait for the store or for a change, and meanwhile other things
//! happen.

use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};

use super::fault::{Fault, KillBy};
use super::serve::Run;
use super::{Event, Outcome, Running, Sim};
use crate::agent::context::Context;
use crate::machine::{self, PROGRAMS};
use crate::process::{Caller, Exit, Happening, Process, Spawn, Stream};
use crate::snapd::{Client, Reply, Starter, Turn};
use crate::tools::Call;

/// How a call of a program ends.
pub(super) enum Called {
    /// It says something.
    Reply(Reply),
    /// The hook that called it is killed meanwhile.
    Killed(KillBy),
    /// Its caller has ended it.
    Gone,
}

/// The hook that a program is called from.
pub(super) struct Inside<'a> {
    pub(super) caller: &'a Caller,
    pub(super) number: u32,
    pub(super) context: &'a Context,
    pub(super) faults: &'a [Fault],
    pub(super) run: &'a mut Run,
}

/// A wait that is longer may be too long for its caller: whether it is still there is looked at in real time.
const PATIENT: u64 = 60_000;
/// The same where nothing is under way but a question.
const CURIOUS: u64 = 5_000;
/// How long, in real time, a caller is given to end a program, after every part of a long wait.
const HANGS_UP: i64 = 120;

impl Sim {
    /// Runs a program of a machine to its end.
    pub(super) fn program(
        &mut self,
        client: &Client,
        call: &Call,
        mut inside: Option<Inside<'_>>,
    ) -> Result<Called> {
        let stub =
            self.world.machines.get(&client.machine).is_some_and(|m| m.programs.contains_key(&call.tool));
        if call.tool == "juju-exec" && !stub {
            return self.juju_exec(client, call).map(Called::Reply);
        }
        let first = self.world.machines.get(&client.machine).map_or(0, |m| m.snapd.next_change);
        let mut done = false;
        let mut turn = machine::call(&mut self.world, client, call);
        loop {
            match turn {
                Turn::Done(reply) => {
                    if let Some(by) = self.within(inside.as_mut(), &mut done)? {
                        return Ok(Called::Killed(by));
                    }
                    return Ok(Called::Reply(reply));
                }
                Turn::Until(at, then) => {
                    let changes = self.world.machines.get(&client.machine).map(|m| &m.snapd);
                    let changing = changes.is_some_and(|s| s.running().any(|c| c.id >= first));
                    let wait = at.0.saturating_sub(self.world.clock.0);
                    if wait > 0 {
                        self.pass(wait / 2, changing, inside.as_ref())?;
                        if changing && let Some(by) = self.within(inside.as_mut(), &mut done)? {
                            return Ok(Called::Killed(by));
                        }
                        let gone =
                            self.pass(at.0.saturating_sub(self.world.clock.0), changing, inside.as_ref())?;
                        if let Some(by) = inside.as_ref().and_then(|_| self.running.last_mut()?.kill.take()) {
                            return Ok(Called::Killed(by));
                        }
                        if gone {
                            return Ok(Called::Gone);
                        }
                    }
                    turn = then(&mut self.world);
                }
            }
        }
    }

    /// Time passes in a call; true if the caller has ended the program meanwhile.
    fn pass(&mut self, wait: u64, changing: bool, inside: Option<&Inside<'_>>) -> Result<bool> {
        let end = self.world.clock.plus(wait);
        let watched = inside.filter(|_| wait * 2 > if changing { PATIENT } else { CURIOUS });
        let part = if watched.is_some() { (wait / 20).max(10_000) } else { wait };
        while self.world.clock < end {
            let left = end.0.saturating_sub(self.world.clock.0);
            self.move_clock(left.min(part.max(1)))?;
            if inside.is_some() {
                self.interleave()?;
            }
            if let Some(inside) = watched
                && inside.caller.gone(HANGS_UP)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What faults make happen while a call is under way; each does so once.
    fn within(&mut self, inside: Option<&mut Inside<'_>>, done: &mut bool) -> Result<Option<KillBy>> {
        match inside.filter(|_| !std::mem::replace(done, true)) {
            Some(Inside { number, context, faults, run, .. }) => {
                self.faults_within(*number, context, faults, run)
            }
            None => Ok(None),
        }
    }

    /// A command on a machine, outside hooks, as root.
    pub fn run_on(&mut self, machine: &str, args: &[String], by: Starter) -> Result<(u8, String, String)> {
        let of = self.world.machines.get(machine).with_context(|| format!("no machine {machine}"))?;
        ensure!(of.up, "machine {machine} is dead");
        let (program, rest) = args.split_first().context("a command line without a program")?;
        let name = self.own_program(machine, program);
        let by = Starter { argv: args.to_vec(), ..by };
        let client = Client { machine: machine.to_owned(), columns: 80, by };
        let Some(name) = name else { return self.host_program(&client, program, rest) };
        let call = Call { tool: name, args: rest.to_vec(), cwd: "/".to_owned(), stdin: None };
        match self.program(&client, &call, None)? {
            Called::Reply(reply) => {
                if let Some(problem) = reply.problem {
                    self.problems.push(format!("{}: {problem}", crate::tools::shown(&call)));
                }
                Ok((reply.code, reply.stdout, reply.stderr))
            }
            Called::Killed(_) | Called::Gone => bail!("{} was not finished", args.join(" ")),
        }
    }

    /// The simulated program that a command line begins with.
    fn own_program(&self, machine: &str, program: &str) -> Option<String> {
        let path = Path::new(program);
        let name = path.file_name()?.to_str()?.to_owned();
        let dir = path.parent()?;
        let bin = self.paths(machine).programs();
        let ours = dir.as_os_str().is_empty()
            || dir == bin
            || dir == Path::new("/usr/bin")
            || dir == Path::new("/snap/bin");
        let of = self.world.machines.get(machine)?;
        let known = PROGRAMS.contains(&name.as_str()) || of.programs.contains_key(&name);
        let absent = name == "snap" && of.snapd.presence == crate::snapd::Presence::Absent;
        (ours && known && !absent).then_some(name)
    }

    /// A program of the host, with the simulated ones in its `PATH`.
    fn host_program(
        &mut self,
        client: &Client,
        program: &str,
        args: &[String],
    ) -> Result<(u8, String, String)> {
        let machine = client.machine.clone();
        ensure!(
            !self.running.iter().any(|running| running.machine == machine),
            "machine {machine} runs a hook, and so cannot run {program}"
        );
        let dirs = if self.options.host_programs { &["/usr/bin", "/bin"][..] } else { &[] };
        let program = match program.contains('/') {
            true => PathBuf::from(program),
            false => dirs
                .iter()
                .map(|dir| Path::new(dir).join(program))
                .find(|path| path.is_file())
                .with_context(|| format!("no program {program}"))?,
        };
        self.link_programs(&machine)?;
        let paths = self.paths(&machine);
        fs_err::create_dir_all(paths.root.join("run"))?;
        let path = format!("{}:/usr/bin:/bin", paths.programs().display());
        let env = vec![("PATH".to_owned(), path), ("LANG".to_owned(), "C.UTF-8".to_owned())];
        let spawn = Spawn { program, args: args.to_vec(), cwd: paths.root.clone(), env };
        let name = client.by.describe();
        self.running.push(Running {
            unit: format!("machine {machine}"),
            machine: machine.clone(),
            name,
            kill: None,
        });
        let ended = self.write_clock(&machine).and_then(|()| {
            let mut process = Process::start(&spawn, &[(paths.machine_socket(), true)])?;
            self.serve_plain(&mut process, client)
        });
        self.running.pop();
        ended
    }

    fn serve_plain(&mut self, process: &mut Process, client: &Client) -> Result<(u8, String, String)> {
        let (mut out, mut err) = (String::new(), String::new());
        loop {
            match process.happening()? {
                Happening::Line(stream, line) => {
                    let all = if stream == Stream::Out { &mut out } else { &mut err };
                    all.push_str(&self.without_scratch(&client.machine, &line));
                    all.push('\n');
                }
                Happening::Call(caller) => {
                    let argv = std::iter::once(&caller.call.tool).chain(&caller.call.args).cloned().collect();
                    let by = Starter { argv, ..client.by.clone() };
                    let client = Client { by, columns: caller.columns(), ..client.clone() };
                    if let Called::Reply(reply) = self.program(&client, &caller.call, None)? {
                        if let Some(problem) = &reply.problem {
                            self.problems.push(format!("{}: {problem}", crate::tools::shown(&caller.call)));
                        }
                        caller.answer(&reply.into());
                    }
                }
                Happening::Exit(Exit::Code(code)) => {
                    return Ok((u8::try_from(code).unwrap_or(255), out, err));
                }
                Happening::Exit(Exit::Signal(signal)) => {
                    return Ok((128 + u8::try_from(signal).unwrap_or(0), out, err));
                }
            }
        }
    }

    /// `juju-exec [-u] UNIT COMMAND...`: a shell's command line in the unit's context.
    fn juju_exec(&mut self, client: &Client, call: &Call) -> Result<Reply> {
        let machine = &client.machine;
        let fail = |text: &str| Reply { code: 1, stderr: format!("ERROR {text}\n"), ..Reply::default() };
        let faulty = |text: &str| Reply {
            code: 2,
            stderr: format!("ERROR {text}\n"),
            problem: Some(text.to_owned()),
            ..Reply::default()
        };
        let mut args = call.args.iter().peekable();
        let mut unit: Option<String> = None;
        while let Some(flag) = args.next_if(|arg| arg.starts_with('-')) {
            match (flag.as_str(), flag.split_once('=')) {
                ("--", _) => break,
                ("-u" | "--unit", _) => unit = args.next().cloned(),
                (_, Some(("--unit", name))) => unit = Some(name.to_owned()),
                (flag, _) => return Ok(faulty(&format!("juju-exec {flag}: not simulated"))),
            }
        }
        let here: Vec<String> =
            self.world.units.values().filter(|u| u.machine == *machine).map(|u| u.name.clone()).collect();
        let named = |arg: &String| {
            here.iter().find(|unit| *unit == arg || crate::world::unit_tag(unit) == *arg).cloned()
        };
        let looks = |arg: &&String| {
            arg.contains('/')
                && !arg.contains(' ')
                && arg.rsplit('/').next().is_some_and(|n| n.parse::<u32>().is_ok())
        };
        let unit = match unit {
            Some(name) => match named(&name) {
                Some(unit) => unit,
                None => return Ok(fail(&format!("unit {name} not found on this machine"))),
            },
            None => match (args.peek().and_then(|arg| named(arg)), here.as_slice()) {
                (Some(unit), _) => {
                    args.next();
                    unit
                }
                (None, _) if args.peek().is_some_and(looks) => {
                    let name = args.peek().map_or("", |arg| arg.as_str());
                    return Ok(fail(&format!("unit {name} not found on this machine")));
                }
                (None, [only]) => only.clone(),
                (None, _) => return Ok(faulty("missing unit-name")),
            },
        };
        let commands: Vec<&str> = args.map(String::as_str).collect();
        if commands.is_empty() {
            return Ok(faulty("missing commands"));
        }
        if self.running.iter().any(|running| running.machine == *machine) {
            return Ok(faulty(
                "juju-exec within a hook of this machine waits for ever: the hook has the machine's lock",
            ));
        }
        let of = self.world.units.get(&unit);
        if !self.world.agent_runs(&unit) || of.is_none_or(|u| u.scripted || u.uniter.charm.is_none()) {
            return Ok(fail(&format!("the agent of {unit} does not answer")));
        }
        let line = vec!["/bin/bash".to_owned(), "-c".to_owned(), commands.join(" ")];
        let outcome = self.exec(&unit, &line)?;
        let said = self.events.iter().rev().find_map(|event| match event {
            Event::Hook(record) if record.unit == unit => {
                Some((record.stdout.clone(), record.stderr.clone()))
            }
            Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
        });
        let (stdout, stderr) = said.unwrap_or_default();
        let code = match outcome {
            Outcome::Done | Outcome::Missing => 0,
            Outcome::Failed(why) => {
                why.rsplit("exit status ").next().and_then(|code| code.parse().ok()).unwrap_or(1)
            }
            Outcome::Killed(_) => 137,
        };
        Ok(Reply { code, stdout, stderr, problem: None })
    }
}
