//! Starts the charm in place of the agent, and notes what the kernel has counted for it.
//!
//! CPU of the charm's process comes from `/proc/PID/schedstat` (nanoseconds), read between its end and its
//! reaping. That of all processes comes from the counters of the measuring program, which go in ticks of
//! 10 ms over many hooks; what this helper itself takes is counted and subtracted. Peak memory is `VmHWM`,
//! read again and again while the charm runs: it only grows.

#![expect(clippy::disallowed_methods, reason = "it starts the charm, and counts real time")]

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Instant;

/// The argument that asks for a bare loop.
pub const BARE: &str = "bare-loop";
/// A clock tick of `/proc/PID/stat`.
const TICK: u64 = 10_000;

/// What one hook cost: microseconds, and KiB.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sample {
    /// From start to end.
    pub wall: u64,
    /// CPU of all processes.
    pub all: i64,
    /// CPU of the charm's process alone.
    pub own: u64,
    /// The largest resident size of the charm's process.
    pub peak: u64,
}

impl Sample {
    /// The median of each figure; of the CPU of all processes the mean, since it is counted in ticks.
    pub fn median(samples: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> u64| {
            let mut all: Vec<u64> = samples.iter().map(figure).collect();
            all.sort_unstable();
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        let mean = samples.iter().map(|s| s.all).sum::<i64>() / samples.len().max(1) as i64;
        Self { wall: of(|s| s.wall), all: mean, own: of(|s| s.own), peak: of(|s| s.peak) }
    }
}

/// Puts this program in the place of the charm's executable.
pub fn put_before(charm: &Path) {
    std::fs::rename(charm.join("lockstep"), charm.join("lockstep.real")).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), charm.join("lockstep")).unwrap();
}

/// What was noted last. `before` is what [`children`] gave before it was run.
pub fn last(charm: &Path, before: u64) -> Sample {
    let text = std::fs::read_to_string(charm.join("../sample")).unwrap();
    let mut figures = text.split(' ').map(|figure| figure.parse().unwrap());
    let mut next = || figures.next().unwrap();
    let (wall, own, peak, helper): (u64, u64, u64, u64) = (next(), next(), next(), next());
    Sample { wall, all: (children() - before) as i64 - helper as i64, own, peak }
}

/// CPU of a process so far, in microseconds.
fn cpu(pid: &str) -> u64 {
    let counted = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    counted.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0) / 1000
}

/// In the place of the charm: runs it, or the bare loop, and notes the figures.
pub fn run_as_hook(args: &[String]) -> Option<ExitCode> {
    let zero = PathBuf::from(args.first()?);
    let charm = zero.ancestors().find(|dir| dir.join("lockstep.real").exists())?.to_owned();
    let began = Instant::now();
    let (code, own, peak) = if args.get(1).is_some_and(|arg| arg == BARE) {
        bare(args.get(2)?);
        (1, 0, 0)
    } else {
        let mut command = Command::new(charm.join("lockstep.real"));
        command.arg0(&zero).args(args.get(1..).unwrap_or_default());
        watch(command.spawn().unwrap())
    };
    let wall = u64::try_from(began.elapsed().as_micros()).unwrap();
    let text = format!("{wall} {own} {peak} {}", cpu("self"));
    std::fs::write(charm.join("../sample"), text).unwrap();
    Some(ExitCode::from(code))
}

/// Waits for the charm; its exit status, CPU in microseconds and peak KiB.
fn watch(mut child: Child) -> (u8, u64, u64) {
    let pid = child.id();
    let mut peak = 0;
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    while waitid(WaitId::Pid(Pid::from_child(&child)), ended).unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    let own = cpu(&pid.to_string());
    let code = child.wait().unwrap().code().unwrap_or(1);
    (u8::try_from(code).unwrap_or(1), own, peak)
}

/// CPU of all processes that this one has waited for, and that those have.
pub fn children() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, rest) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<&str> = rest.split(' ').collect();
    let tick = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
    // cutime and cstime: fields 16 and 17, counted from 1, behind pid and name.
    (tick(13) + tick(14)) * TICK
}

/// Each call by fork and exec, one after the other, its input as large as it was.
fn bare(file: &str) {
    let calls: Vec<(String, Vec<String>, Option<usize>)> =
        serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap())
            .and_then(serde_json::from_value)
            .unwrap();
    for (tool, args, input) in calls {
        let mut command = Command::new(tool);
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::null());
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.spawn().unwrap();
        if let (Some(size), Some(mut stdin)) = (input, child.stdin.take()) {
            let value = format!("bench: \"{}\"\n", "x".repeat(size.saturating_sub(10)));
            let _ = stdin.write_all(value.as_bytes());
        }
        child.wait_with_output().unwrap();
    }
}
