//! Commands on a machine outside hooks: an admin's, a timer's, a scripted principal's.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use super::program::Called;
use super::{Running, Sim};
use crate::machine;
use crate::process::{Exit, Happening, Process, Spawn, Stream};
use crate::snapd::{Client, Starter};
use crate::tools::Call;

impl Sim {
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
        (ours && machine::has(of, &name)).then_some(name)
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
}
