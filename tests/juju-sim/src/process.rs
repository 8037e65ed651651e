//! One running process of a charm: started with an exact environment, watched together with the sockets that its tools
//! call, and killed where a scenario says so. This is the only module that starts processes.
#![expect(clippy::disallowed_methods, reason = "the only place that starts a process")]

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::protocol;

/// Juju's logger reads through a buffer of this size, and splits what is longer.
const LINE: usize = 4096;
/// A process that does nothing for so many real seconds hangs.
const PATIENCE: u32 = 120;
/// `ETXTBSY`: another thread of this process was just starting a program while this file was written.
const TEXT_FILE_BUSY: i32 = 26;

/// What to start.
#[derive(Debug, Clone)]
pub struct Spawn {
    /// Absolute path, also the name that the program is called by.
    pub program: PathBuf,
    /// Further arguments.
    pub args: Vec<String>,
    /// Working directory.
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(String, String)>,
}

/// Which of the two output streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Caller {
    stream: UnixStream,
    /// `JUJU_CONTEXT_ID` of a hook tool, `COLUMNS` of a program of the machine.
    pub context: String,
    /// Tool, arguments, directory, standard input.
    pub call: crate::tools::Call,
    /// It came through the machine's socket.
    pub machine: bool,
}

/// What happened next.
#[derive(Debug)]
pub enum Happening {
    /// A line of output.
    Line(Stream, String),
    /// A tool was called.
    Call(Caller),
    /// The process ended.
    Exit(Exit),
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
}

struct Pipe {
    file: File,
    kept: Vec<u8>,
    open: bool,
    stream: Stream,
}

/// A process with its doors.
pub struct Process {
    child: Child,
    ended: OwnedFd,
    pipes: Vec<Pipe>,
    doors: Vec<(UnixListener, PathBuf, bool)>,
    lines: Vec<(Stream, String)>,
    ready: VecDeque<Happening>,
    exit: Option<Exit>,
    /// It was killed: what it still says depends on the moment, and is not heard.
    silent: bool,
    /// Calls that will not be answered; closing them would let the tool say so before it dies.
    held: Vec<Caller>,
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Process").field("child", &self.child.id()).finish_non_exhaustive()
    }
}

impl Process {
    /// Opens the sockets (the flag says: the machine's) and starts the program.
    pub fn start(spawn: &Spawn, sockets: &[(PathBuf, bool)]) -> Result<Self> {
        let mut doors = Vec::new();
        for (path, machine) in sockets {
            doors.push((listen(path)?, path.clone(), *machine));
        }
        let mut child = start(spawn)?;
        let pid = Pid::from_child(&child);
        let ended = pidfd_open(pid, PidfdFlags::empty()).context("cannot watch the process")?;
        let mut pipes = Vec::new();
        if let Some(out) = child.stdout.take() {
            pipes.push(Pipe {
                file: OwnedFd::from(out).into(),
                kept: Vec::new(),
                open: true,
                stream: Stream::Out,
            });
        }
        if let Some(err) = child.stderr.take() {
            pipes.push(Pipe {
                file: OwnedFd::from(err).into(),
                kept: Vec::new(),
                open: true,
                stream: Stream::Err,
            });
        }
        Ok(Self {
            child,
            ended,
            pipes,
            doors,
            lines: Vec::new(),
            ready: VecDeque::new(),
            exit: None,
            silent: false,
            held: Vec::new(),
        })
    }

    /// Kills the process and all that it started, in the middle of this call if there is one.
    pub fn kill(&mut self, call: Option<Caller>) -> Result<()> {
        self.held.extend(call);
        self.drain()?;
        self.silent = true;
        self.signal();
        Ok(())
    }

    fn signal(&self) {
        // It may have ended just now.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
    }

    /// Waits for what happens next. Output is told of only at a call or at the end, standard output first: when lines
    /// of the two streams arrive would depend on the moment.
    pub fn happening(&mut self) -> Result<Happening> {
        loop {
            if let Some(happening) = self.ready.pop_front() {
                return Ok(happening);
            }
            if let Some(exit) = self.exit {
                return Ok(Happening::Exit(exit));
            }
            match self.wait()? {
                Some(caller) if self.silent => self.held.push(caller),
                Some(caller) => {
                    self.drain()?;
                    self.tell_lines();
                    self.ready.push_back(Happening::Call(caller));
                }
                None => {}
            }
        }
    }

    fn tell_lines(&mut self) {
        // Stable: the order within a stream stays.
        self.lines.sort_by_key(|(stream, _)| *stream);
        self.ready.extend(self.lines.drain(..).map(|(stream, line)| Happening::Line(stream, line)));
    }

    fn wait(&mut self) -> Result<Option<Caller>> {
        let mut idle = 0;
        let ready = loop {
            let ready = self.poll(1)?;
            if ready.iter().any(|set| *set) {
                break ready;
            }
            idle += 1;
            if idle > PATIENCE {
                self.signal();
                bail!("the process did nothing for {PATIENCE} seconds and was killed");
            }
        };
        let mut ready = ready.into_iter();
        for pipe in &mut self.pipes {
            if ready.next() == Some(true) {
                read(pipe, self.silent, &mut self.lines)?;
            }
        }
        for (door, _, machine) in &self.doors {
            if ready.next() == Some(true) {
                let (stream, _) = door.accept()?;
                // A client that was killed half-way leaves half a call, or none.
                return Ok(Caller::receive(stream, *machine).ok());
            }
        }
        if ready.next() == Some(true) {
            self.end()?;
        }
        Ok(None)
    }

    /// The process has ended. What it left in the background ends too: nothing of a simulation outlives its hook. It
    /// is killed before the process is waited for, while the number of the group cannot belong to anybody else.
    fn end(&mut self) -> Result<()> {
        self.drain()?;
        self.signal();
        let status = self.child.wait()?;
        self.exit = Some(match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(0)),
        });
        for pipe in &mut self.pipes {
            if !pipe.kept.is_empty() {
                let rest = std::mem::take(&mut pipe.kept);
                self.lines.push((pipe.stream, String::from_utf8_lossy(&rest).into_owned()));
            }
        }
        self.tell_lines();
        Ok(())
    }

    /// What is in the pipes now; a child in the background may keep them open, and is not waited for.
    fn drain(&mut self) -> Result<()> {
        loop {
            let ready = self.poll(0)?;
            let mut any = false;
            for (pipe, ready) in self.pipes.iter_mut().zip(ready) {
                if pipe.open && ready {
                    read(pipe, self.silent, &mut self.lines)?;
                    any = true;
                }
            }
            if !any {
                return Ok(());
            }
        }
    }

    /// Which of pipes, doors and end are ready, in this order.
    fn poll(&self, seconds: i64) -> Result<Vec<bool>> {
        let pipes = self.pipes.iter().map(|pipe| (pipe.file.as_fd(), pipe.open));
        let doors = self.doors.iter().map(|(door, _, _)| (door.as_fd(), true));
        let all = pipes.chain(doors).chain(std::iter::once((self.ended.as_fd(), self.exit.is_none())));
        // A closed pipe is left out: it would always be ready.
        let all: Vec<_> = all.collect();
        let wanted = all.iter().filter(|(_, wanted)| *wanted);
        let mut polled: Vec<PollFd<'_>> =
            wanted.map(|(fd, _)| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let limit = Timespec { tv_sec: seconds, tv_nsec: 0 };
        match poll(&mut polled, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e).context("cannot wait for the process"),
        }
        let mut ready =
            polled.iter().map(|fd| fd.revents().intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR));
        Ok(all.iter().map(|(_, wanted)| *wanted && ready.next() == Some(true)).collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.signal();
            let _ = self.child.wait();
        }
        for (_, path, _) in &self.doors {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Caller {
    fn receive(mut stream: UnixStream, machine: bool) -> Result<Self> {
        stream.set_read_timeout(Some(Duration::from_secs(u64::from(PATIENCE))))?;
        let (context, call) = read_call(&mut stream)?;
        Ok(Self { stream, context, call, machine })
    }

    /// Lets the tool read its standard input and call again; false if it was killed meanwhile.
    pub fn ask_stdin(&mut self) -> bool {
        let again = protocol::send(&mut self.stream, &[b"stdin"]).map_err(anyhow::Error::from);
        match again.and_then(|()| read_call(&mut self.stream)) {
            Ok((_, call)) => {
                self.call = call;
                true
            }
            Err(_) => false,
        }
    }

    /// The width of the caller's terminal: 80 where it has none and `COLUMNS` says nothing.
    pub fn columns(&self) -> usize {
        if self.machine { self.context.parse().unwrap_or(80) } else { 80 }
    }

    /// Whether the client ends within so many milliseconds of real time: it has nothing to say before the answer.
    pub fn gone(&self, millis: i64) -> Result<bool> {
        let limit = Timespec { tv_sec: 0, tv_nsec: millis * 1_000_000 };
        let mut polled = [PollFd::new(&self.stream, PollFlags::IN)];
        match poll(&mut polled, Some(&limit)) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e).context("cannot watch a client"),
        }
    }

    /// Answers; a client that is gone does not mind.
    pub fn answer(mut self, answer: &crate::tools::Answer) {
        let _ = protocol::send(&mut self.stream, &[&[answer.code], &answer.stdout, &answer.stderr]);
    }
}

fn read_call(stream: &mut UnixStream) -> Result<(String, crate::tools::Call)> {
    let mut parts = protocol::receive(stream)?.into_iter();
    let mut next = || parts.next().context("a call with too few parts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (context, cwd, tool, has, stdin) = (next()?, next()?, next()?, next()?, next()?);
    let call = crate::tools::Call {
        tool: text(tool),
        args: parts.map(text).collect(),
        cwd: text(cwd),
        stdin: (has == b"1").then_some(stdin),
    };
    Ok((text(context), call))
}

/// Listens through the directory's descriptor: the path itself may be longer than a socket address holds.
fn listen(path: &Path) -> Result<UnixListener> {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { bail!("no place for a socket") };
    let open = File::open(dir).with_context(|| format!("cannot open {}", dir.display()))?;
    let short = Path::new(&format!("/proc/self/fd/{}", open.as_raw_fd())).join(name);
    let _ = std::fs::remove_file(path);
    UnixListener::bind(short).with_context(|| format!("cannot listen at {}", path.display()))
}

fn start(spawn: &Spawn) -> Result<Child> {
    let mut tries = 0;
    loop {
        let mut command = Command::new(&spawn.program);
        command.args(&spawn.args).current_dir(&spawn.cwd).env_clear().envs(spawn.env.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        match command.spawn() {
            Err(e) if e.raw_os_error() == Some(TEXT_FILE_BUSY) && tries < 1000 => {
                tries += 1;
                std::thread::yield_now();
            }
            other => return other.with_context(|| format!("cannot start {}", spawn.program.display())),
        }
    }
}

fn read(pipe: &mut Pipe, silent: bool, lines: &mut Vec<(Stream, String)>) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let count = pipe.file.read(&mut buffer)?;
    pipe.open = count > 0;
    if silent {
        return Ok(());
    }
    pipe.kept.extend(buffer.iter().take(count));
    loop {
        let newline = pipe.kept.iter().position(|b| *b == b'\n');
        let (end, skip) = match newline {
            Some(at) if at <= LINE => (at, 1),
            _ if pipe.kept.len() >= LINE => (LINE, 0),
            _ => return Ok(()),
        };
        let rest = pipe.kept.split_off(end + skip);
        let mut line = std::mem::replace(&mut pipe.kept, rest);
        line.truncate(end);
        lines.push((pipe.stream, String::from_utf8_lossy(&line).into_owned()));
    }
}
