//! The `snap` wrapper and the ties of its processes, with a `snap` that a script plays.

#![expect(clippy::disallowed_methods, reason = "tests start processes of their own")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use lockstep::snap::{Answer, Channel, CohortKey, Revision, SnapName, TroubleKind};
use lockstep::tools::snap::{Move, Snap, SwitchTo, To};
use lockstep::tools::{Clock, Runner};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const KEY: &str = "MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg==";

/// A machine with a clock of its own and a `snap` that a script plays.
struct Machine {
    dir: TempDir,
}

impl Machine {
    fn new(script: &str) -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(machine.path("run")).unwrap();
        std::fs::write(machine.path("run/clock"), "1000\n").unwrap();
        let fake = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snap/fake/snap");
        std::os::unix::fs::symlink(fake, machine.path("snap")).unwrap();
        std::fs::write(machine.path("script"), script).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn snap(&self) -> Snap {
        let path = format!("{}:/usr/bin:/bin", self.dir.path().display());
        let runner = Runner::new(Clock::new(self.dir.path()), path, "/");
        Snap::new(runner.with_executable(env!("CARGO_BIN_EXE_lockstep")))
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn calls(&self) -> Vec<String> {
        self.text("calls").lines().map(str::to_owned).collect()
    }
}

fn name(text: &str) -> SnapName {
    text.parse().unwrap()
}

fn names(texts: &[&str]) -> BTreeSet<SnapName> {
    texts.iter().map(|text| name(text)).collect()
}

/// Lets the machine's clock show that second.
fn at(second: u32) -> String {
    format!("echo {second} >\"$here/run/clock\"\n")
}

#[test]
fn each_function_runs_its_command_in_the_c_locale() {
    let machine = Machine::new("exit 0");
    let snap = machine.snap();
    let (kubelet, key) = (name("kubelet"), KEY.parse::<CohortKey>().unwrap());
    let channel: Channel = "1.30".parse().unwrap();
    let to = |channel, to| Move { name: &kubelet, channel, to };
    snap.list().unwrap();
    snap.version().unwrap();
    snap.services().unwrap();
    snap.in_flight(&names(&["kubelet"])).unwrap();
    snap.changes_of(&kubelet).unwrap();
    snap.tasks(lockstep::snap::ChangeId(77)).unwrap();
    snap.info(&kubelet).unwrap_err();
    snap.create_cohort(&names(&["kubelet", "kube-proxy"])).unwrap_err();
    snap.refresh(to(Some(&channel), To::Cohort(&key)), false).unwrap();
    snap.refresh(to(None, To::Revision(Revision::Store(41))), true).unwrap();
    snap.install(to(Some(&channel), To::Tracked), true).unwrap();
    snap.switch(&kubelet, SwitchTo::Channel(&channel)).unwrap();
    snap.switch(&kubelet, SwitchTo::Cohort(&key)).unwrap();
    snap.switch(&kubelet, SwitchTo::LeaveCohort).unwrap();
    snap.hold(&names(&["kubelet", "kubectl"])).unwrap();
    snap.unhold(&names(&["kubelet"])).unwrap();
    let flag = format!("--cohort={KEY}");
    let expected = [
        "list",
        "version",
        "services",
        "changes --abs-time",
        "changes --abs-time kubelet",
        "tasks --abs-time 77",
        "info --verbose --abs-time kubelet",
        "create-cohort kube-proxy kubelet",
        &format!("refresh kubelet --channel=1.30/stable {flag}"),
        "refresh kubelet --revision=41 --ignore-running",
        "install kubelet --channel=1.30/stable --classic",
        "switch kubelet --channel=1.30/stable",
        &format!("switch kubelet {flag}"),
        "switch kubelet --leave-cohort",
        "refresh --hold=forever kubectl kubelet",
        "refresh --unhold kubelet",
    ];
    assert_eq!(machine.calls(), expected);
    let environment = machine.text("environment");
    assert!(environment.lines().all(|line| line == "LC_ALL=C.UTF-8 LANGUAGE=unset COLUMNS=100"));
}

#[test]
fn without_a_name_nothing_runs() {
    let machine = Machine::new("exit 0");
    let snap = machine.snap();
    let none = BTreeSet::new();
    snap.hold(&none).unwrap();
    snap.unhold(&none).unwrap();
    snap.create_cohort(&none).unwrap();
    snap.in_flight(&none).unwrap();
    assert_eq!(machine.calls(), Vec::<String>::new());
}

#[test]
fn outcomes_of_a_refresh_are_told_apart() {
    let table: [(&str, Result<Answer, TroubleKind>); 6] = [
        ("echo 'kubelet (1.30/stable) 1.30.4 from Acme refreshed'", Ok(Answer::Done)),
        ("echo 'snap \"kubelet\" has no updates available' >&2", Ok(Answer::NothingToDo)),
        (
            "echo 'error: snap \"kubelet\" has \"auto-refresh\" change in progress' >&2; exit 10",
            Err(TroubleKind::Busy),
        ),
        (
            "echo 'error: cannot refresh \"kubelet\": snap \"kubelet\" has running apps (x), pids: 4,5' >&2; exit 1",
            Err(TroubleKind::RunningApps { pids: vec![4, 5] }),
        ),
        ("kill -TERM $$", Err(TroubleKind::Unfinished)),
        ("printf '\\377'", Err(TroubleKind::NotUnderstood)),
    ];
    for (script, expected) in table {
        let machine = Machine::new(script);
        let kubelet = name("kubelet");
        let to = Move { name: &kubelet, channel: None, to: To::Tracked };
        assert_eq!(machine.snap().refresh(to, false).map_err(|trouble| trouble.kind), expected, "{script}");
    }
}

#[test]
fn a_key_is_in_no_trouble_whatever_the_store_says() {
    let (head, tail) = KEY.split_at(30);
    let script =
        format!("echo 'error: cannot refresh \"x1\": bad {KEY} or {head}\n       {tail}' >&2; exit 1");
    let machine = Machine::new(&script);
    let (x1, key) = (name("x1"), KEY.parse().unwrap());
    let to = Move { name: &x1, channel: None, to: To::Cohort(&key) };
    let trouble = machine.snap().refresh(to, false).unwrap_err();
    let expected = "snap refresh x1 --cohort=…: cannot refresh \"x1\": bad …kYmVlZg== or …kYmVlZg==";
    assert_eq!(trouble.to_string(), expected);
    assert!(trouble.kind.may_be_the_key());
}

#[test]
fn a_refresh_that_takes_too_long_is_left_to_snapd_with_sigterm() {
    let script =
        format!("trap 'echo TERM >\"$here/ended\"; exit 143' TERM\n{}while :; do sleep 0.01; done", at(1601));
    let machine = Machine::new(&script);
    let kubelet = name("kubelet");
    let to = Move { name: &kubelet, channel: None, to: To::Tracked };
    let trouble = machine.snap().refresh(to, false).unwrap_err();
    assert_eq!((trouble.kind, trouble.text.as_str()), (TroubleKind::Unfinished, "no answer within 600 s"));
    assert_eq!(machine.text("ended"), "TERM\n");
}

#[test]
fn a_local_read_without_an_answer_means_that_snapd_is_not_there() {
    let machine = Machine::new(&format!("{}exec sleep 1000", at(1021)));
    assert_eq!(machine.snap().list().unwrap_err().kind, TroubleKind::SnapdUnavailable);
    let none = Snap::new(Runner::new(Clock::new(Path::new("")), "/nonexistent", "/"));
    assert_eq!(none.list().unwrap_err().kind, TroubleKind::NoSnapCommand);
}

const INSTALLED: &str = "echo 'name: '$4; echo 'installed: 1.30.2 (41) 12MB -'\n";

#[test]
fn a_silent_store_is_asked_once() {
    // An installed snap: exit 0 and no channels, after 32 s.
    let machine = Machine::new(&format!("{}{INSTALLED}", at(1032)));
    let snap = machine.snap();
    let answers = snap.infos(&[name("kubelet"), name("kubectl"), name("kube-proxy")]);
    let kinds: Vec<_> = answers.values().map(|answer| answer.as_ref().map_err(|t| t.kind.clone())).collect();
    // In the order of the names: kube-proxy, kubectl, kubelet.
    assert!(
        matches!(kinds[..], [Err(TroubleKind::OutOfTime), Err(TroubleKind::OutOfTime), Ok(info)] if info.heads.is_none())
    );
    assert_eq!(machine.calls().len(), 1);
    assert_eq!(snap.create_cohort(&names(&["x1"])).unwrap_err().kind, TroubleKind::OutOfTime);
    assert_eq!(snap.store_left(), Duration::ZERO);
    // What is local is read all the same.
    assert!(snap.changes().is_err() && machine.calls().len() == 2);
}

#[test]
fn a_snap_that_is_not_found_is_unknown_unless_the_answer_took_its_time() {
    let not_found = "echo 'error: no snap found for \"x1\"' >&2; exit 1";
    let quick = Machine::new(not_found);
    assert_eq!(quick.snap().info(&name("x1")).unwrap_err().kind, TroubleKind::NotFound);
    let slow = Machine::new(&format!("{}{not_found}", at(1032)));
    let snap = slow.snap();
    assert_eq!(snap.info(&name("x1")).unwrap_err().kind, TroubleKind::StoreUnreachable);
    assert_eq!(snap.store_left(), Duration::ZERO);
}

#[test]
fn a_slow_store_that_answers_is_asked_until_the_minute_is_over() {
    let step = "read now <\"$here/run/clock\"; echo $((now + 25)) >\"$here/run/clock\"\n";
    let heads = "echo channels:; echo '  1.30/stable: 1.30.4 2026-10-02 (43) 30MB -'\n";
    let machine = Machine::new(&format!("{step}{INSTALLED}{heads}"));
    let snap = machine.snap();
    let all = ["aa", "bb", "cc", "dd"].map(name);
    let answers = snap.infos(&all);
    let known: Vec<bool> = all.iter().map(|name| answers[name].is_ok()).collect();
    // The third answer is there within the step in which its time is up, or it is not; the fourth
    // is not asked for.
    assert_eq!((known[0], known[1], known[3]), (true, true, false));
    assert_eq!(machine.calls().len(), 3);
}

#[test]
fn keys_are_made_for_all_names_or_for_none() {
    let head = "echo 'cohorts:'; echo '  kubelet:'; echo '    cohort-key: KEYONE'\n";
    let machine = Machine::new(head);
    let keys = machine.snap().create_cohort(&names(&["kubelet"])).unwrap();
    assert_eq!(keys[&name("kubelet")].expose(), "KEYONE");
    let trouble = machine.snap().create_cohort(&names(&["kubelet", "kubectl"])).unwrap_err();
    assert_eq!(trouble.kind, TroubleKind::NotUnderstood);
    assert!(trouble.text.ends_with("no key for kubectl"), "{trouble}");
}

#[test]
fn snaps_are_asked_for_one_by_one_only_while_something_is_at_work() {
    let head = "echo 'ID Status Spawn Ready Summary'; echo '1 Done 2026-11-30T10:00:00Z 2026-11-30T10:00:00Z Refresh'\n";
    let quiet = Machine::new(head);
    assert!(quiet.snap().in_flight(&names(&["kubelet", "kubectl"])).unwrap().is_empty());
    assert_eq!(quiet.calls().len(), 1);
    let open =
        "[ \"$3\" = kubectl ] || echo '2 Doing 2026-11-30T10:00:00Z - Auto-refresh snap \"kubelet\"'\n";
    let busy = Machine::new(&format!("{head}{open}"));
    let found = busy.snap().in_flight(&names(&["kubelet", "kubectl"])).unwrap();
    assert_eq!(found.keys().map(SnapName::as_str).collect::<Vec<_>>(), ["kubelet"]);
    assert_eq!(found[&name("kubelet")][0].id.0, 2);
}

/// Waits for a process to write its number, or to be gone.
fn wait_until(what: impl Fn() -> bool) {
    for _ in 0..1000 {
        if what() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("waited for 10 s");
}

fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended; in a container nobody may wait for it.
    state
        .rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn a_tied_program_dies_with_the_process_that_started_it() {
    let machine = Machine::new("echo $$ >\"$here/new\"; mv \"$here/new\" \"$here/pid\"; exec sleep 1000");
    let script = "\"$0\" tied $$ \"$1\" refresh kubelet & wait";
    let mut parent = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lockstep")])
        .arg(machine.path("snap"))
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| machine.path("pid").exists());
    let pid = machine.text("pid").trim().to_owned();
    assert!(is_alive(&pid));
    assert_eq!(machine.calls(), ["refresh kubelet"]);
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until(|| !is_alive(&pid));
}

#[test]
fn a_tied_program_is_not_started_for_a_process_that_is_gone() {
    let machine = Machine::new("exit 0");
    let output = Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args(["tied", "999999999"])
        .arg(machine.path("snap"))
        .args(["refresh", "kubelet"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.ends_with("the process that asked for it is gone\n"), "{text}");
    assert_eq!(machine.calls(), Vec::<String>::new());
}
