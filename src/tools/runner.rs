//! Starts a program, feeds it, reads it, and ends it when its time is up.
//!
//! A program that must not outlive this process is started through this very executable (the
//! command [`TIED`]), which asks the kernel for a signal at its parent's end and becomes the program.

#![expect(clippy::disallowed_methods, reason = "the one place that starts a process")]

use super::Clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// How long one wait lasts before the clock is looked at again.
const STEP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// How much of an error text is kept, in bytes; the end of it says most.
const STDERR_KEPT: usize = 4096;

/// The command of this executable that ties a program to the life of the process that starts it:
/// `tied PARENT PROGRAM ARGUMENT...`, with the process number of the parent.
pub const TIED: &str = "tied";
/// After SIGTERM a program has this long until SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// In what manner a program is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Manner<'a> {
    /// Variables that are set (or, without a value, taken out of) the environment.
    pub variables: &'a [(&'a str, Option<&'a str>)],
    /// Whether it is killed when this process ends, however that happens.
    pub tied: bool,
    /// Whether it gets SIGTERM and a few seconds when its time is up, instead of SIGKILL.
    pub gentle: bool,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// The program's name, found through `PATH`.
    pub program: &'a str,
    /// Its arguments, each one a whole value: no shell sees them.
    pub args: Vec<String>,
    /// What it reads; nothing means `/dev/null`.
    pub input: Option<&'a [u8]>,
    /// After this long it is killed.
    pub limit: Duration,
    /// More output than this many bytes is an error.
    pub output_limit: usize,
    /// How it is run.
    pub manner: Manner<'a>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With that exit status.
    Status(i32),
    /// By that signal.
    Signal(i32),
}

/// What a program said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub exit: Exit,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The end of its standard error.
    pub stderr: String,
}

/// Why a tool gave no answer. `call` is its command line, shortened and without values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// There is no such program.
    #[error("cannot find {program} in PATH")]
    NotFound {
        /// The program's name.
        program: String,
    },
    /// The system did not start or serve it.
    #[error("cannot run {call}: {why}")]
    Io {
        /// The command line.
        call: String,
        /// The system's reason.
        why: String,
    },
    /// It took too long and was killed.
    #[error("{call} did not answer within {} s", limit.as_secs())]
    TimedOut {
        /// The command line.
        call: String,
        /// The limit.
        limit: Duration,
    },
    /// It ended with another status than 0.
    #[error("{call} failed with {}: {stderr}", match exit {
        Exit::Status(status) => format!("status {status}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    })]
    Failed {
        /// The command line.
        call: String,
        /// How it ended.
        exit: Exit,
        /// The end of its error text, on one line.
        stderr: String,
    },
    /// It answered, but not in the form that it should.
    #[error("cannot understand the answer of {call}: {why}")]
    NotUnderstood {
        /// The command line.
        call: String,
        /// What is wrong with the answer.
        why: String,
    },
}

/// Runs programs found through one `PATH`.
#[derive(Debug, Clone)]
pub struct Runner {
    clock: Clock,
    path: OsString,
    dir: PathBuf,
    own: PathBuf,
}

impl Runner {
    /// A runner for that `PATH`; relative entries of it count from `dir`.
    pub fn new(clock: Clock, path: impl Into<OsString>, dir: impl Into<PathBuf>) -> Self {
        // Read in the child, where it still means this executable, even if its file was replaced.
        Self { clock, path: path.into(), dir: dir.into(), own: "/proc/self/exe".into() }
    }

    /// The same, but tied programs are started through that executable: for a process that is not
    /// the charm's executable itself.
    pub fn with_executable(self, own: impl Into<PathBuf>) -> Self {
        Self { own: own.into(), ..self }
    }

    /// The clock that its limits count by.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Runs a program to its end, whatever its exit status.
    pub fn run(&self, call: &Call<'_>) -> Result<Output, ToolError> {
        let program = which::which_in(call.program, Some(&self.path), &self.dir)
            .map_err(|_| ToolError::NotFound { program: call.program.to_owned() })?;
        let io = |error: std::io::Error| ToolError::Io { call: call.line(), why: error.to_string() };
        let begin = self.clock.ticks();
        let mut child = self
            .command(program, call.manner)
            .args(&call.args)
            .stdin(if call.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(io)?;
        let result = self.serve(&mut child, call, begin);
        if let Err(error) = &result {
            // It may have ended by itself meanwhile; either way it is waited for.
            if call.manner.gentle && matches!(error, ToolError::TimedOut { .. }) {
                terminate(&mut child);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        result
    }

    fn command(&self, program: PathBuf, manner: Manner<'_>) -> Command {
        let mut command = if manner.tied {
            let mut command = Command::new(&self.own);
            command.arg(TIED).arg(std::process::id().to_string()).arg(program);
            command
        } else {
            Command::new(program)
        };
        for (name, value) in manner.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// As [`run`](Self::run), but another exit status than 0 is an error; gives the output as text.
    pub fn text(&self, call: &Call<'_>) -> Result<String, ToolError> {
        let output = self.run(call)?;
        if output.exit != Exit::Status(0) {
            let stderr = output.stderr.trim().replace('\n', "; ");
            return Err(ToolError::Failed { call: call.line(), exit: output.exit, stderr });
        }
        String::from_utf8(output.stdout).map_err(|error| ToolError::NotUnderstood {
            call: call.line(),
            why: format!("no UTF-8 at byte {}", error.utf8_error().valid_up_to()),
        })
    }

    fn serve(&self, child: &mut Child, call: &Call<'_>, begin: Duration) -> Result<Output, ToolError> {
        let io = |error: std::io::Error| ToolError::Io { call: call.line(), why: error.to_string() };
        let in_time = || self.clock.ticks().saturating_sub(begin) < call.limit;
        let too_late = || ToolError::TimedOut { call: call.line(), limit: call.limit };
        let mut feed = Feed::new(child.stdin.take(), call.input).map_err(io)?;
        let mut stdout = Drain::new(child.stdout.take(), call.output_limit);
        let mut stderr = Drain::new(child.stderr.take(), usize::MAX);
        while stdout.is_open() || stderr.is_open() {
            if !in_time() {
                return Err(too_late());
            }
            wait_for(&feed, &stdout, &stderr).map_err(|error| io(error.into()))?;
            feed.step().map_err(io)?;
            stdout.step().map_err(io)?;
            stderr.step().map_err(io)?;
            if stdout.overflowed {
                let why = format!("more than {} bytes of output", call.output_limit);
                return Err(ToolError::NotUnderstood { call: call.line(), why });
            }
            stderr.keep_end(STDERR_KEPT);
        }
        drop(feed);
        let mut pause = Duration::from_micros(50);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(io)? {
                break status;
            }
            if !in_time() {
                return Err(too_late());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        };
        let exit = status.code().map_or_else(|| Exit::Signal(status.signal().unwrap_or(0)), Exit::Status);
        let stderr = String::from_utf8_lossy(&stderr.kept).into_owned();
        Ok(Output { exit, stdout: stdout.kept, stderr })
    }
}

/// Asks a program to end, and waits for it a while. Real time counts here, not the clock's: what
/// is waited for is the death of a process.
fn terminate(child: &mut Child) {
    let Ok(()) = kill_process(Pid::from_child(child), Signal::TERM) else { return };
    let step = Duration::from_millis(10);
    let mut waited = Duration::ZERO;
    while waited < GRACE && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(step);
        waited += step;
    }
}

/// Becomes a program that is killed when `parent` ends. Returns only if that fails.
///
/// The parent may have ended before the kernel was asked: then this process belongs to another one,
/// and the program is not started.
pub fn become_tied(parent: u32, program: &str, args: &[String]) -> std::io::Error {
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        return error.into();
    }
    let now = getppid().map_or(0, Pid::as_raw_pid);
    if u32::try_from(now) != Ok(parent) {
        return std::io::Error::other("the process that asked for it is gone");
    }
    Command::new(program).args(args).exec()
}

impl Call<'_> {
    /// The command line for messages: options by their names, so that no value gets into a log.
    pub fn line(&self) -> String {
        let mut line = self.program.to_owned();
        for arg in &self.args {
            let shown = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
            line.push(' ');
            line.extend(shown.chars().take(60));
            if arg.contains('=') {
                line.push_str("=…");
            }
        }
        line
    }
}

/// Waits until one of the three pipes can move, or for one step.
fn wait_for(feed: &Feed<'_>, stdout: &Drain<impl AsFd>, stderr: &Drain<impl AsFd>) -> rustix::io::Result<()> {
    let mut waited: Vec<PollFd<'_>> = Vec::with_capacity(3);
    waited.extend(feed.fd().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
    for fd in [stdout.fd(), stderr.fd()].into_iter().flatten() {
        waited.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
    }
    match poll(&mut waited, Some(&STEP)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A child's standard input and what is still to be written to it.
struct Feed<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    fn new(pipe: Option<ChildStdin>, input: Option<&'a [u8]>) -> std::io::Result<Self> {
        if let Some(pipe) = &pipe {
            // A full pipe must not hold up the reading of what the child says.
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self { pipe, rest: input.unwrap_or_default() })
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn step(&mut self) -> std::io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        match pipe.write(self.rest) {
            Ok(written) => self.rest = self.rest.get(written..).unwrap_or_default(),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // The child did not want it all; its exit status tells whether that is a fault.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.rest = &[],
            Err(error) => return Err(error),
        }
        if self.rest.is_empty() {
            self.pipe = None;
        }
        Ok(())
    }
}

/// One of a child's outputs and what came through it.
struct Drain<P> {
    pipe: Option<P>,
    kept: Vec<u8>,
    limit: usize,
    overflowed: bool,
}

impl<P: AsFd> Drain<P> {
    fn new(pipe: Option<P>, limit: usize) -> Self {
        Self { pipe, kept: Vec::new(), limit, overflowed: false }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    fn keep_end(&mut self, length: usize) {
        let surplus = self.kept.len().saturating_sub(length);
        self.kept.drain(..surplus);
    }
}

impl<P: AsFd + Read> Drain<P> {
    /// Reads once if there is something to read.
    fn step(&mut self) -> std::io::Result<()> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(());
        };
        let mut ready = [PollFd::new(pipe, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if poll(&mut ready, Some(&now))? == 0 {
            return Ok(());
        }
        let mut chunk = [0; 65536];
        match pipe.read(&mut chunk) {
            Ok(0) => self.pipe = None,
            Ok(length) => {
                self.kept.extend_from_slice(chunk.get(..length).unwrap_or_default());
                self.overflowed = self.kept.len() > self.limit;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(args: &[&str], input: Option<&[u8]>) -> Result<Output, ToolError> {
        let runner = Runner::new(Clock::new("".as_ref()), "/usr/bin:/bin", "/");
        runner.run(&call(args, input))
    }

    fn call<'a>(args: &[&str], input: Option<&'a [u8]>) -> Call<'a> {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        let limit = Duration::from_secs(60);
        Call { program: "sh", args, input, limit, output_limit: 8 << 20, manner: Manner::default() }
    }

    #[test]
    fn megabytes_pass_both_ways_at_once() {
        let input = "0123456789abcde\n".repeat(200_000);
        let output = run(&["-c", "cat; echo done >&2"], Some(input.as_bytes())).unwrap();
        assert_eq!((output.exit, output.stdout.len()), (Exit::Status(0), input.len()));
        assert_eq!(output.stderr, "done\n");
    }

    #[test]
    fn a_child_that_does_not_want_its_input_is_no_fault() {
        let input = vec![b'x'; 4 << 20];
        let output = run(&["-c", "exec <&-; echo ok"], Some(&input)).unwrap();
        assert_eq!((output.exit, output.stdout.as_slice()), (Exit::Status(0), b"ok\n".as_slice()));
    }

    #[test]
    fn statuses_and_signals_are_told_apart() {
        assert_eq!(run(&["-c", "exit 3"], None).unwrap().exit, Exit::Status(3));
        assert_eq!(run(&["-c", "kill -9 $$"], None).unwrap().exit, Exit::Signal(9));
    }

    #[test]
    fn a_failure_names_the_call_without_its_values() {
        let runner = Runner::new(Clock::new("".as_ref()), "/usr/bin:/bin", "/");
        let error = runner.text(&call(&["-c", "echo 'ERROR no' >&2; exit 1", "x", "--key=secret"], None));
        let text = error.unwrap_err().to_string();
        assert!(text.ends_with("x --key=… failed with status 1: ERROR no"), "{text}");
    }

    #[test]
    fn only_the_end_of_a_long_error_text_is_kept() {
        let script = "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done >&2";
        let output = run(&["-c", script], None).unwrap();
        assert!(output.stderr.len() <= STDERR_KEPT && output.stderr.ends_with("19999\n"));
    }

    #[test]
    fn a_missing_program_is_told_by_its_name() {
        let runner = Runner::new(Clock::new("".as_ref()), "/nonexistent", "/");
        let error = runner.run(&call(&[], None)).unwrap_err();
        assert_eq!(error, ToolError::NotFound { program: "sh".to_owned() });
    }

    #[test]
    fn too_much_output_is_refused() {
        let runner = Runner::new(Clock::new("".as_ref()), "/usr/bin:/bin", "/");
        let small = Call { output_limit: 10, ..call(&["-c", "echo 0123456789abcdef"], None) };
        let error = runner.run(&small).unwrap_err();
        assert!(matches!(error, ToolError::NotUnderstood { .. }), "{error}");
    }

    #[test]
    fn variables_are_set_and_taken_out() {
        let variables = &[("LC_ALL", Some("C.UTF-8")), ("PATH", None)];
        let manner = Manner { variables, ..Manner::default() };
        let call = Call { manner, ..call(&["-c", "echo $LC_ALL; /usr/bin/env | grep -c ^HOME="], None) };
        let output = Runner::new(Clock::new("".as_ref()), "/usr/bin:/bin", "/").text(&call).unwrap();
        assert!(output.starts_with("C.UTF-8\n"), "{output}");
    }

    #[test]
    fn a_gentle_end_lets_a_child_end_by_itself() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("run")).unwrap();
        let file = root.path().join("run/clock").to_string_lossy().into_owned();
        std::fs::write(&file, "1000\n").unwrap();
        let ended = root.path().join("ended").to_string_lossy().into_owned();
        let script = "trap 'echo TERM > $1; exit 143' TERM; echo 1061 > $0; while :; do sleep 0.01; done";
        let manner = Manner { gentle: true, ..Manner::default() };
        let call = Call { manner, ..call(&["-c", script, &file, &ended], None) };
        let error = Runner::new(Clock::new(root.path()), "/usr/bin:/bin", "/").run(&call).unwrap_err();
        assert!(matches!(error, ToolError::TimedOut { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(ended).unwrap(), "TERM\n");
    }

    #[test]
    fn a_child_that_hangs_is_killed_when_its_time_is_up() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("run")).unwrap();
        let file = root.path().join("run/clock");
        std::fs::write(&file, "1000\n").unwrap();
        let runner = Runner::new(Clock::new(root.path()), "/usr/bin:/bin", "/");
        // The child itself lets the time pass, once before and once after it closes its outputs.
        for script in ["echo 1060.5 > $0; exec sleep 1000", "echo 1121 > $0; exec sleep 1000 >&- 2>&-"] {
            let error = runner.run(&call(&["-c", script, &file.to_string_lossy()], None)).unwrap_err();
            assert!(matches!(error, ToolError::TimedOut { .. }), "{error}");
        }
    }
}
