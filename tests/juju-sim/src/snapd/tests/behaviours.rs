//! What a simulated `snap` must get right, one test for each.

use super::{publish, put, run, snap_of, snapd, world};
use crate::snapd::{AutoRefresh, Hold, SnapSpec};
use crate::store::{Outage, Publish, Request, StoreFault, UnknownKeys, WINDOW};
use crate::world::{Time, World};

/// kubelet 41 is installed, and 43 is what its channel holds; there is a cohort from the time when 41 was.
fn node() -> (World, String) {
    let mut w = world("2026-11-30T10:00:00Z");
    publish(&mut w, "kubelet", "1.30", 41, "1.30.1");
    w.store.snaps.get_mut("kubelet").unwrap().services = vec!["daemon".to_owned()];
    w.set_up_snap("0", &spec("kubelet", "1.30")).unwrap();
    let key = cohort(&mut w, "kubelet");
    publish(&mut w, "kubelet", "1.30", 43, "1.30.2");
    (w, key)
}

fn spec(name: &str, channel: &str) -> SnapSpec {
    SnapSpec { name: name.to_owned(), channel: Some(channel.to_owned()), ..SnapSpec::default() }
}

fn cohort(w: &mut World, name: &str) -> String {
    let reply = run(w, &["create-cohort", name]);
    reply.stdout.rsplit("cohort-key: ").next().unwrap().trim().to_owned()
}

fn revision(w: &mut World) -> String {
    snap_of(w, "kubelet").revision.clone()
}

fn join(w: &mut World, key: &str) {
    let reply = run(w, &["refresh", "kubelet", &format!("--cohort={key}")]);
    assert_eq!(reply.code, 0, "{reply:?}");
}

fn outage(w: &mut World, requests: &[Request], outage: Outage, times: Option<u32>) {
    w.store.faults.push(StoreFault { outage, requests: requests.to_vec(), machine: None, snap: None, times });
}

fn pass(w: &mut World, millis: u64) {
    w.clock = w.clock.plus(millis);
    w.tend_machines();
}

fn auto_refresh(w: &mut World) {
    let next = w.clock;
    snapd(w).auto_refresh = Some(AutoRefresh { every: 0, next });
    w.tend_machines();
}

#[test]
fn a_cohort_is_sticky_and_only_info_sees_beyond_it() {
    let (mut w, key) = node();
    assert!(run(&mut w, &["refresh", "--list"]).stdout.contains("43"));
    join(&mut w, &key);
    assert_eq!(run(&mut w, &["refresh", "--list"]).stderr, "All snaps up to date.\n");
    assert_eq!(run(&mut w, &["refresh", "kubelet"]).stderr, "snap \"kubelet\" has no updates available\n");
    let info = run(&mut w, &["info", "--verbose", "kubelet"]).stdout;
    assert!(info.contains("(43)") && info.contains(&format!("cohort:       {key}\n")), "{info}");
    assert!(info.contains("1.30.1            (41) 30MB in-cohort\n"), "{info}");
}

#[test]
fn a_change_of_the_key_alone_is_called_a_refresh_and_none_is_told_on_standard_error() {
    let (mut w, key) = node();
    let reply = run(&mut w, &["refresh", "kubelet", &format!("--cohort={key}")]);
    assert_eq!(reply.stdout, "kubelet (1.30/stable) 1.30.1 from Canonical** refreshed\n");
    let again = run(&mut w, &["refresh", "kubelet", &format!("--cohort={key}")]);
    assert_eq!((again.code, again.stdout.as_str()), (0, ""));
    assert_eq!(again.stderr, "snap \"kubelet\" has no updates available\n");
}

#[test]
fn joining_moves_down_as_well_as_up_and_leaving_goes_to_the_head() {
    let (mut w, key) = node();
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(revision(&mut w), "43");
    join(&mut w, &key);
    assert_eq!(revision(&mut w), "41");
    run(&mut w, &["refresh", "kubelet", "--leave-cohort"]);
    assert_eq!((revision(&mut w).as_str(), snap_of(&mut w, "kubelet").cohort_key.clone()), ("43", None));
}

#[test]
fn while_a_change_runs_others_exit_10_but_reading_goes_on() {
    let (mut w, key) = node();
    auto_refresh(&mut w);
    let busy = "error: snap \"kubelet\" has \"auto-refresh\" change in progress\n";
    for args in [["refresh", "kubelet"].as_slice(), &["switch", "kubelet", "--channel=1.31"]] {
        let reply = run(&mut w, args);
        assert_eq!((reply.code, reply.stderr.as_str()), (10, busy));
    }
    for args in
        [["list", "kubelet"], ["info", "kubelet"], ["create-cohort", "kubelet"], ["changes", "kubelet"]]
    {
        let reply = run(&mut w, &args);
        assert_eq!((reply.code, reply.stderr.as_str()), (0, ""), "{args:?}");
    }
    assert_eq!(revision(&mut w), "41");
    pass(&mut w, 20_000);
    assert_eq!(revision(&mut w), "43");
    join(&mut w, &key);
}

#[test]
fn a_change_without_its_client_ends_by_itself() {
    let (mut w, _) = node();
    let reply = run(&mut w, &["refresh", "kubelet", "--no-wait"]);
    assert_eq!(reply.stdout, "1\n");
    assert_eq!(run(&mut w, &["refresh", "kubelet"]).code, 10);
    pass(&mut w, 19_999);
    assert_eq!(revision(&mut w), "41");
    pass(&mut w, 1);
    assert_eq!(revision(&mut w), "43");
}

#[test]
fn a_failed_change_is_undone_as_a_whole() {
    let (mut w, key) = node();
    join(&mut w, &key);
    publish(&mut w, "kubelet", "1.31", 50, "1.31.0");
    let before = snap_of(&mut w, "kubelet").clone();
    outage(&mut w, &[Request::Download], Outage::Damaged, Some(1));
    let args = ["refresh", "kubelet", "--leave-cohort", "--channel=1.31"];
    let reply = run(&mut w, &args);
    assert_eq!((reply.code, reply.stdout.as_str()), (1, ""));
    assert!(reply.stderr.starts_with("error: cannot perform the following tasks:\n- Download"), "{reply:?}");
    assert_eq!(*snap_of(&mut w, "kubelet"), before);
    assert_eq!(run(&mut w, &args).code, 0);
    let of = w.store.snaps.get_mut("kubelet").unwrap();
    of.revisions.get_mut(&43).unwrap().fails =
        Some("Run post-refresh hook of \"kubelet\" snap (exit 1)".into());
    let reply = run(&mut w, &["refresh", "kubelet", "--channel=1.30"]);
    assert!(reply.stderr.ends_with("- Run post-refresh hook of \"kubelet\" snap (exit 1)\n"), "{reply:?}");
}

#[test]
fn create_cohort_makes_fresh_keys_for_all_or_for_none_also_of_absent_snaps() {
    let (mut w, first) = node();
    publish(&mut w, "kubectl", "1.30", 7, "1");
    assert_ne!(cohort(&mut w, "kubelet"), first);
    assert!(first.len() > 80 && first.starts_with("MSB"), "{first}");
    let reply = run(&mut w, &["create-cohort", "kubelet", "kubectl"]);
    assert!(reply.stdout.starts_with("cohorts:\n  kubectl:\n    cohort-key: "), "{reply:?}");
    let known = w.store.cohorts.len();
    let reply = run(&mut w, &["create-cohort", "kubelet", "ghost"]);
    assert_eq!(reply.stderr, "error: cannot create cohorts: snap not found\n");
    assert_eq!((reply.code, w.store.cohorts.len()), (1, known));
    outage(&mut w, &[], Outage::Empty, Some(1));
    let reply = run(&mut w, &["create-cohort", "kubelet"]);
    assert_eq!((reply.code, reply.stdout.as_str(), reply.stderr.as_str()), (0, "", ""));
}

#[test]
fn info_of_a_dead_store_lacks_channels_or_finds_nothing() {
    let (mut w, _) = node();
    outage(&mut w, &[], Outage::Unreachable, None);
    let before = w.clock;
    let reply = run(&mut w, &["info", "kubelet"]);
    assert_eq!((reply.code, reply.stdout.contains("channels:")), (0, false));
    assert!(reply.stdout.contains("installed:") && w.clock.0 - before.0 == 32_000);
    assert!(
        reply.stdout.contains("services:\n  kubelet.daemon: simple, enabled, active\nsnap-id:"),
        "{reply:?}"
    );
    snapd(&mut w).snaps.clear();
    let reply = run(&mut w, &["info", "kubelet"]);
    assert_eq!((reply.code, reply.stderr.as_str()), (1, "error: no snap found for \"kubelet\"\n"));
}

#[test]
fn with_several_names_the_cohort_is_dropped_and_that_is_a_problem() {
    let (mut w, key) = node();
    put(&mut w, "local", "x1", "1", None);
    let reply = run(&mut w, &["refresh", "kubelet", "local", &format!("--cohort={key}")]);
    assert_eq!((reply.code, revision(&mut w).as_str()), (0, "43"));
    assert_eq!(snap_of(&mut w, "kubelet").cohort_key, None);
    assert_eq!(reply.problem.unwrap(), "with several names --cohort is dropped in silence");
    assert_eq!(run(&mut w, &["refresh", "kubelet", "local"]).problem, None);
}

#[test]
fn columns_are_literal_and_closed_channels_have_trailing_blanks() {
    let (mut w, _) = node();
    publish(&mut w, "kubelet", "1.31/candidate", 50, "1.31.0");
    let info = run(&mut w, &["info", "kubelet"]).stdout;
    assert!(info.contains("  1.30/candidate: ^                           \n"), "{info:?}");
    assert!(info.contains("  1.31/stable:    --                          \n"), "{info:?}");
    snap_of(&mut w, "kubelet").tracking = Some(crate::store::Channel::parse("1.30/edge/fix").unwrap());
    let list = run(&mut w, &["list"]).stdout;
    let wanted = "Name     Version  Rev  Tracking     Publisher    Notes\nkubelet  1.30.1   41   1.30/edge/…  canonical**  -\n";
    assert_eq!(list, wanted);
    // A channel that was closed forwards to a safer one, and says so.
    run(&mut w, &["switch", "kubelet", "--channel=1.30/edge"]);
    let out = run(&mut w, &["refresh", "kubelet"]).stdout;
    let closed = "Channel 1.30/edge for kubelet is closed; temporarily forwarding to 1.30/stable.\n";
    assert!(out.ends_with(closed), "{out}");
}

#[test]
fn switch_takes_anything_and_the_next_refresh_fails() {
    let (mut w, _) = node();
    w.store.unknown_keys = UnknownKeys::Refuse("the key is of another snap".to_owned());
    assert_eq!(
        run(&mut w, &["switch", "kubelet", "--cohort=junk"]).stdout,
        "\"kubelet\" switched to the \"junk\" cohort\n\n"
    );
    let reply = run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(reply.stderr, "error: cannot refresh \"kubelet\": the key is of another snap\n");
    assert_eq!(run(&mut w, &["refresh", "--list"]).stderr, "All snaps up to date.\n");
    // A key of another snap is unknown too; a store may also ignore it.
    publish(&mut w, "kubectl", "1.30", 7, "1");
    let other = cohort(&mut w, "kubectl");
    assert_eq!(run(&mut w, &["refresh", "kubelet", &format!("--cohort={other}")]).code, 1);
    w.store.unknown_keys = UnknownKeys::Ignore;
    join(&mut w, &other);
    assert_eq!(revision(&mut w), "43");
}

#[test]
fn a_named_refresh_ignores_holds_that_all_others_obey() {
    let (mut w, _) = node();
    let reply = run(&mut w, &["refresh", "--hold", "kubelet"]);
    assert_eq!(reply.stdout, "General refreshes of \"kubelet\" held indefinitely\n");
    auto_refresh(&mut w);
    assert_eq!(w.running_changes(), []);
    assert_eq!(run(&mut w, &["refresh"]).stderr, "All snaps up to date.\n");
    assert!(run(&mut w, &["list"]).stdout.contains(" held\n"));
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(revision(&mut w), "43");
    run(&mut w, &["refresh", "--hold=1h", "kubelet"]);
    assert!(matches!(snap_of(&mut w, "kubelet").held, Some(Hold::Until(_))));
    pass(&mut w, 3_600_000);
    assert!(!run(&mut w, &["list"]).stdout.contains("held"));
    snapd(&mut w).version = "2.57.6".to_owned();
    let reply = run(&mut w, &["refresh", "--hold", "kubelet"]);
    assert_eq!((reply.code, reply.stderr.as_str()), (64, "error: unknown flag `hold'\n"));
    assert_eq!(reply.problem, None);
}

#[test]
fn an_auto_refresh_moves_all_that_is_neither_held_nor_local_to_what_channel_and_cohort_say() {
    let (mut w, key) = node();
    for (name, number) in [("kubectl", 7), ("cdk-addons", 3), ("kube-proxy", 5)] {
        publish(&mut w, name, "1.30", number, "1");
        w.set_up_snap("0", &spec(name, "1.30")).unwrap();
        publish(&mut w, name, "1.30", number + 1, "2");
    }
    put(&mut w, "local", "x1", "1", None);
    snap_of(&mut w, "kubectl").held = Some(Hold::Forever);
    // A member stays; one that was given another key by `switch` moves at a moment that nobody chose.
    join(&mut w, &key);
    let proxy = cohort(&mut w, "kube-proxy");
    run(&mut w, &["switch", "kube-proxy", &format!("--cohort={proxy}")]);
    auto_refresh(&mut w);
    let change = w.running_changes()[0].1.clone();
    assert_eq!(change.summary, "Auto-refresh snaps \"cdk-addons\", \"kube-proxy\"");
    assert_eq!((change.by.by.as_str(), change.by.unit), ("auto-refresh", None));
    pass(&mut w, 40_000);
    let of = |w: &mut World, name: &str| snap_of(w, name).revision.clone();
    assert_eq!((of(&mut w, "cdk-addons"), of(&mut w, "kube-proxy")), ("4".to_owned(), "6".to_owned()));
    assert_eq!((of(&mut w, "kubelet"), of(&mut w, "kubectl")), ("41".to_owned(), "7".to_owned()));
    // refresh.hold puts off all of them.
    publish(&mut w, "cdk-addons", "1.30", 9, "3");
    run(&mut w, &["set", "system", "refresh.hold=2030-01-01T00:00:00Z"]);
    auto_refresh(&mut w);
    assert_eq!(w.running_changes(), []);
}

#[test]
fn one_cohort_gives_other_numbers_on_another_architecture() {
    let (mut w, _) = node();
    let arm = |revision| Publish {
        snap: "kubelet".to_owned(),
        channel: Some("1.30".to_owned()),
        revision,
        arch: Some("arm64".to_owned()),
        ..Publish::default()
    };
    let now = w.clock;
    w.store.publish(&arm(42), now).unwrap();
    let key = cohort(&mut w, "kubelet");
    w.store.publish(&arm(44), now).unwrap();
    w.set_arch("0", "arm64").unwrap();
    assert_eq!(revision(&mut w), "44");
    let info = run(&mut w, &["info", "kubelet"]).stdout;
    assert!(info.contains("(44)") && !info.contains("(43)"), "{info}");
    join(&mut w, &key);
    assert_eq!(revision(&mut w), "42");
    assert_eq!(run(&mut w, &["refresh", "kubelet", "--leave-cohort", "--revision=43"]).code, 1);
}

#[test]
fn what_the_real_client_rejects_is_64_and_a_problem() {
    let (mut w, _) = node();
    for (args, text) in [
        (["refresh", "kubelet", "--cohorts=K"].as_slice(), "unknown flag `cohorts'"),
        (&["list", "--abs-time"], "unknown flag `abs-time'"),
        (&["switch"], "the required argument `<snap>` was not provided"),
        (&["info"], "the required argument `<snap> (at least 1 argument)` was not provided"),
        (&["frobnicate"], "unknown command \"frobnicate\", see 'snap help'."),
        (&["refresh", "--list=yes"], "bool flag `--list' cannot have an argument"),
        (
            &["refresh", "kubelet", "--cohort", "--amend"],
            "expected argument for flag `--cohort', but got option `--amend'",
        ),
    ] {
        let reply = run(&mut w, args);
        assert_eq!((reply.code, reply.stderr.as_str()), (64, format!("error: {text}\n").as_str()));
        assert_eq!(reply.problem.as_deref(), Some(text));
    }
    let reply = run(&mut w, &["revert", "kubelet"]);
    assert_eq!(reply.problem.as_deref(), Some("snap revert: not simulated"));
}

#[test]
fn services_restart_with_another_revision_only() {
    let (mut w, key) = node();
    join(&mut w, &key);
    run(&mut w, &["switch", "kubelet", "--leave-cohort"]);
    let restarts = |w: &mut World| snap_of(w, "kubelet").services["daemon"].restarts;
    assert_eq!(restarts(&mut w), 0);
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(restarts(&mut w), 1);
    publish(&mut w, "kubelet", "1.30", 45, "1.30.3");
    w.store.snaps.get_mut("kubelet").unwrap().revisions.get_mut(&45).unwrap().crashes = true;
    run(&mut w, &["refresh", "kubelet"]);
    assert!(run(&mut w, &["services", "kubelet"]).stdout.contains("kubelet.daemon  enabled  inactive  -\n"));
}

#[test]
fn after_90_days_a_key_stands_for_a_newer_view() {
    let (mut w, key) = node();
    join(&mut w, &key);
    pass(&mut w, WINDOW - 60_000);
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(revision(&mut w), "41");
    pass(&mut w, 60_000);
    publish(&mut w, "kubelet", "1.30", 44, "1.30.3");
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(
        (revision(&mut w).as_str(), snap_of(&mut w, "kubelet").cohort_key.as_deref()),
        ("43", Some(key.as_str()))
    );
}

#[test]
fn a_channel_that_the_cohort_lacks_is_not_available() {
    let (mut w, key) = node();
    join(&mut w, &key);
    publish(&mut w, "kubelet", "1.31", 50, "1.31.0");
    let reply = run(&mut w, &["refresh", "kubelet", "--channel=1.31/stable"]);
    assert_eq!(
        reply.stderr,
        "error: snap \"kubelet\" not available on channel \"1.31/stable\" (see 'snap info\n       kubelet')\n"
    );
    let new = cohort(&mut w, "kubelet");
    let reply = run(&mut w, &["refresh", "kubelet", "--channel=1.31/stable", &format!("--cohort={new}")]);
    assert_eq!((reply.code, revision(&mut w).as_str()), (0, "50"));
}

#[test]
fn an_explicit_revision_keeps_the_key_and_the_next_refresh_returns() {
    let (mut w, key) = node();
    join(&mut w, &key);
    run(&mut w, &["refresh", "kubelet", "--revision=43"]);
    assert_eq!(
        (revision(&mut w).as_str(), snap_of(&mut w, "kubelet").cohort_key.as_deref()),
        ("43", Some(key.as_str()))
    );
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(revision(&mut w), "41");
}

#[test]
fn an_open_app_stops_a_refresh_unless_it_is_ignored() {
    let (mut w, _) = node();
    snap_of(&mut w, "kubelet").running = vec![4711];
    let reply = run(&mut w, &["refresh", "kubelet"]);
    assert_eq!((reply.code, revision(&mut w).as_str()), (1, "41"));
    assert!(reply.stderr.contains("has running apps (kubelet),\n       pids: 4711"), "{reply:?}");
    assert_eq!(run(&mut w, &["refresh", "kubelet", "--ignore-running"]).code, 0);
}

#[test]
fn a_proxy_of_its_own_does_not_know_a_key_of_the_store() {
    let (mut w, key) = node();
    run(&mut w, &["set", "system", "proxy.store=mirror"]);
    assert!(run(&mut w, &["known", "store"]).stdout.contains("store: mirror\n"));
    let join = format!("--cohort={key}");
    let reply = run(&mut w, &["refresh", "kubelet", &join]);
    assert_eq!(reply.stderr, "error: cannot refresh \"kubelet\": cohort-key is invalid\n");
    run(&mut w, &["set", "system", "proxy.store!"]);
    assert_eq!(run(&mut w, &["refresh", "kubelet", &join]).code, 0);
}

#[test]
fn a_progressive_release_is_seen_by_all_and_offered_to_some() {
    let (mut w, _) = node();
    w.add_machine();
    let offered_to = Some(vec!["1".to_owned()]);
    let publish = Publish {
        snap: "kubelet".to_owned(),
        channel: Some("1.30".to_owned()),
        revision: 44,
        offered_to,
        ..Publish::default()
    };
    let now = w.clock;
    w.store.publish(&publish, now).unwrap();
    assert!(run(&mut w, &["info", "kubelet"]).stdout.contains("(44)"));
    run(&mut w, &["refresh", "kubelet"]);
    assert_eq!(revision(&mut w), "43");
    let key = cohort(&mut w, "kubelet");
    join(&mut w, &key);
    assert_eq!(revision(&mut w), "44");
}

#[test]
fn without_snapd_a_reader_waits_two_minutes_and_a_writer_fails_at_once() {
    let (mut w, key) = node();
    snapd(&mut w).presence = crate::snapd::Presence::Down;
    let end = "dial unix /run/snapd.socket: connect: no such file or directory\n";
    let mut timed = |args: &[&str]| {
        let before = w.clock;
        let reply = run(&mut w, args);
        (reply, (w.clock.0 - before.0) / 1000)
    };
    let (reply, seconds) = timed(&["list"]);
    let get = "error: cannot list snaps: cannot communicate with server: Get \"http://localhost/v2/snaps\": ";
    assert_eq!((reply.code, reply.stderr, seconds), (1, format!("{get}{end}"), 120));
    let (reply, seconds) = timed(&["refresh", "kubelet", &format!("--cohort={key}")]);
    let post = "error: cannot communicate with server: Post \"http://localhost/v2/snaps/kubelet\": ";
    assert_eq!((reply.code, reply.stderr, seconds), (1, format!("{post}{end}"), 0));
    let (reply, seconds) = timed(&["version"]);
    assert_eq!(
        (reply.code, reply.stdout.contains("snapd   unavailable\nseries  -\n"), seconds),
        (0, true, 25)
    );
}

#[test]
fn times_are_told_as_people_tell_them() {
    let now = Time::parse_rfc3339("2026-11-30T10:00:00Z").unwrap();
    for (time, text) in [
        ("2026-11-29T23:59:00Z", "yesterday at 23:59 UTC"),
        ("2026-12-01T00:01:00Z", "tomorrow at 00:01 UTC"),
        ("2026-08-01T00:00:00Z", "2026-08-01"),
    ] {
        assert_eq!(crate::snapd::cli::human(Time::parse_rfc3339(time).unwrap(), now), text);
    }
}
