//! `client/*.json`: one command of the real client each.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{acme, argv, confine, publish, put, recordings, run_wide, shown, snap_of, snapd, text, world};
use crate::snapd::{Hold, NewChange, OnDisk, Service, Starter};
use crate::store::{Channel, Cohort, Confinement, Outage, Publisher, Request, StoreFault, UnknownKeys};
use crate::world::{Time, World};

const KEY: &str = "MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg==";

/// What cannot be set up in the model, and why.
const CANNOT: [(&str, &str); 27] = [
    ("changes", "the recorded change has a summary that no command of the recording made"),
    ("changes-abs", "as above"),
    ("changes-snap", "as above"),
    ("changes-daemon-restart--2.68", "snapd never restarts by itself"),
    ("changes-system-restart--2.68", "nor the machine"),
    ("create-cohort-401", "root is always allowed"),
    ("info-verbose-tty", "there is no terminal"),
    ("list-all", "the recorded server gives revisions in another order than snapd, which the sessions show"),
    ("list-err--2.68", "snapd has no such trouble"),
    ("list-tty--2.57", "there is no terminal"),
    ("list-tty--2.68", "as above"),
    ("list-unicode-always--2.57", "there are no colours"),
    ("list-unicode-always--2.68", "as above"),
    ("refresh-tty--2.57", "as above"),
    ("refresh-tty--2.68", "as above"),
    (
        "refresh-badchannel2",
        "the recorded server takes a channel that snapd refuses; the warning is compared below",
    ),
    ("refresh-change-error-nomsg", "every failed change has a reason"),
    ("refresh-change-hold", "no change is put on hold"),
    ("refresh-change-wait--2.68", "no change waits for a reboot"),
    ("refresh-disk", "disks are large"),
    ("refresh-dns", "a store that is down refuses connections"),
    ("refresh-list-with-warnings--2.68", "there are no warnings"),
    ("refresh-login", "root is always allowed"),
    ("refresh-redirect", "a closed channel leads to a safer one, not to a riskier one as recorded"),
    ("refresh-rev-ok", "the recorded answer has a version of another revision"),
    ("tasks", "the recorded change has tasks and a log of its own"),
    ("tasks-abs", "as above"),
];

fn base(version: &str) -> World {
    let mut w = world("2026-11-30T10:00:00Z");
    snapd(&mut w).version = version.to_owned();
    let at = |w: &mut World, time: &str| w.clock = Time::parse_rfc3339(time).unwrap();
    for (date, channel, revision, version) in [
        ("2026-10-01T08:09:10Z", "1.31/stable", 50, "1.31.0"),
        ("2026-10-02T08:09:10Z", "1.30/stable", 43, "1.30.4"),
        ("2026-10-03T08:09:10Z", "1.30/edge", 44, "1.30.4+git1"),
        ("2026-10-04T08:09:10Z", "latest/stable", 50, "1.31.0"),
    ] {
        at(&mut w, date);
        publish(&mut w, "plane-api", channel, revision, version);
    }
    at(&mut w, "2026-10-01T08:09:10Z");
    publish(&mut w, "plane-ctl", "stable", 17, "1.30.2");
    publish(&mut w, "node-agent", "edge", 9, "2.0");
    publish(&mut w, "off-snap", "stable", 4, "3.4");
    publish(&mut w, "core22", "stable", 1234, "20260101");
    for (name, snap) in &mut w.store.snaps {
        snap.description = "Line one.\n\nLine two.".to_owned();
        snap.publisher = match name.as_str() {
            "core22" => Publisher::canonical(),
            "plane-ctl" => {
                Publisher { username: "starry".into(), name: "Starry Eyed".into(), badge: "*".into() }
            }
            _ => acme(),
        };
    }
    let revisions = &mut w.store.snaps.get_mut("plane-api").unwrap().revisions;
    revisions.get_mut(&50).unwrap().size = 31_000_000;
    let ctl = w.store.snaps.get_mut("plane-ctl").unwrap().revisions.get_mut(&17).unwrap();
    (ctl.size, ctl.confinement) = (9_000, Confinement::Classic);
    at(&mut w, "2026-11-01T10:00:00Z");
    put(&mut w, "core22", "1234", "20260101", Some("stable"));
    put(&mut w, "node-agent", "9", "2.0", Some("latest/edge/fix"));
    put(&mut w, "off-snap", "3", "3.3", Some("stable"));
    put(&mut w, "plane-api", "41", "1.30.2", Some("1.30"));
    put(&mut w, "plane-ctl", "17", "1.30.2", Some("1.30"));
    put(&mut w, "side-loaded", "x1", "0.1", None);
    snap_of(&mut w, "core22").kind = "base".to_owned();
    confine(&mut w, "node-agent", Confinement::Devmode);
    confine(&mut w, "plane-ctl", Confinement::Classic);
    snap_of(&mut w, "off-snap").disabled = true;
    snap_of(&mut w, "plane-ctl").held = Some(Hold::Forever);
    let api = snap_of(&mut w, "plane-api");
    api.cohort_key = Some(KEY.to_owned());
    api.older = vec![OnDisk { revision: "40".to_owned(), version: "1.30.1".to_owned() }];
    let map = w.store.snaps["plane-api"].shown();
    let cohort = Cohort { snap: "plane-api".to_owned(), created: w.clock, frozen: w.clock, proxy: None, map };
    w.store.cohorts.insert(KEY.to_owned(), cohort);
    at(&mut w, "2026-11-30T10:00:00Z");
    w
}

fn outage(world: &mut World, request: Request, outage: Outage) {
    let requests = vec![request];
    world.store.faults.push(StoreFault { outage, requests, machine: None, snap: None, times: None });
}

fn reinstall(w: &mut World) {
    snapd(w).snaps.remove("plane-api");
}

/// What must be so for a recording, beyond what [`base`] has.
fn set_up(name: &str, w: &mut World) {
    let channel = |text: &str| Channel::parse(text).unwrap();
    match name {
        "changes-none" | "watch-last-none" | "watch-last-opt" => {}
        "create-cohort-429" => outage(w, Request::Cohorts, Outage::Throttled),
        "create-cohort-empty" => outage(w, Request::Cohorts, Outage::Empty),
        "get-system" | "get-system-doc" => {
            snapd(w).config.insert("refresh.timer".into(), "fri5,23:00-01:00".into());
        }
        "list-empty" => snapd(w).snaps.clear(),
        "install-notfound" => {
            reinstall(w);
            w.store.snaps.remove("plane-api");
        }
        "install-classic" => {
            reinstall(w);
            publish(w, "plane-api", "stable", 50, "1.31.0");
            w.store.snaps.get_mut("plane-api").unwrap().revisions.get_mut(&50).unwrap().confinement =
                Confinement::Classic;
        }
        "install-ok" => reinstall(w),
        "info-missing" | "list-missing" | "list-one-missing" => {}
        "refresh-all-none" | "refresh-list-none" => {
            snap_of(w, "plane-api").revision = "43".into();
            snap_of(w, "node-agent").tracking = Some(channel("edge"));
        }
        "refresh-list" => {
            snap_of(w, "off-snap").disabled = false;
            snap_of(w, "plane-api").revision = "43".into();
            publish(w, "plane-ctl", "1.30", 18, "1.30.3");
            let ctl = w.store.snaps.get_mut("plane-ctl").unwrap();
            ctl.revisions.get_mut(&18).unwrap().confinement = Confinement::Strict;
            ctl.revisions.get_mut(&18).unwrap().size = 30_000_000;
            snap_of(w, "plane-ctl").publisher = Some(acme());
            let off = w.store.snaps.get_mut("off-snap").unwrap();
            let off = off.revisions.get_mut(&4).unwrap();
            (off.size, off.confinement) = (512, Confinement::Classic);
        }
        "refresh-list-err" => outage(w, Request::Refresh, Outage::Timeout),
        "refresh-amend-ok" => snap_of(w, "plane-api").id = None,
        "refresh-local" | "refresh-local-columns200--2.68" | "refresh-local-columns40--2.68" => {
            snap_of(w, "plane-api").id = None;
        }
        "refresh-429" => outage(w, Request::Refresh, Outage::Throttled),
        "refresh-timeout" => outage(w, Request::Refresh, Outage::Timeout),
        "refresh-arch" => {
            w.store.snaps.get_mut("plane-api").unwrap().heads =
                [(channel("1.30"), [("arm64".to_owned(), 43)].into())].into();
            snap_of(w, "plane-api").cohort_key = None;
        }
        "refresh-badcohort" => w.store.unknown_keys = UnknownKeys::Refuse("cohort-key is invalid".into()),
        "refresh-chan-closed" | "refresh-revna" => snap_of(w, "plane-api").cohort_key = None,
        "refresh-chanrevna" => {
            let heads = &mut w.store.snaps.get_mut("plane-api").unwrap().heads;
            heads.retain(|c, _| ["1.30/stable", "1.31/stable"].contains(&c.to_string().as_str()));
            snap_of(w, "plane-api").cohort_key = None;
        }
        "refresh-change-error" => {
            let get = "Get \"https://store.example/download\": dial tcp: lookup store.example: no such host";
            outage(w, Request::Download, Outage::Says(get.to_owned()));
        }
        "refresh-classic" => {
            let api = w.store.snaps.get_mut("plane-api").unwrap();
            api.revisions.get_mut(&43).unwrap().confinement = Confinement::Classic;
        }
        "refresh-cohort-revna" => w.store.cohorts.get_mut(KEY).unwrap().map.clear(),
        "refresh-conflict" => {
            w.snap_times.refresh = 600_000;
            let snap = w.installed("0", "plane-api").unwrap().clone();
            let plan = w.plan("0", &snap, &Default::default()).unwrap();
            let new = w.refresh_change("auto-refresh", String::new(), vec![plan]);
            w.begin_change("0", &Starter::auto_refresh(), new);
        }
        "refresh-leave-ok" => {}
        "refresh-notfound" => drop(w.store.snaps.remove("plane-api")),
        "refresh-notinstalled" | "switch-notinstalled" => {
            reinstall(w);
            snapd(w).version = "2.57.6".to_owned();
        }
        "refresh-noupdate" => snap_of(w, "plane-api").revision = "43".into(),
        "refresh-nowait" => snapd(w).next_change = 77,
        "refresh-stable" => {
            let api = w.store.snaps.get_mut("plane-api").unwrap();
            api.heads.entry(channel("stable")).or_default().insert("amd64".into(), 43);
            let snap = snap_of(w, "plane-api");
            (snap.tracking, snap.cohort_key) = (Some(channel("stable")), None);
        }
        "refresh-time" | "refresh-time-abs" => {
            snapd(w).last_refresh = Time::parse_rfc3339("2026-11-30T03:04:00Z");
            snapd(w).config.insert("refresh.hold".into(), "2026-12-24T00:00:00Z".into());
            let next = Time::parse_rfc3339("2026-11-30T23:59:00Z").unwrap();
            snapd(w).auto_refresh = Some(crate::snapd::AutoRefresh { every: 1, next });
        }
        "refresh-hold-24h--2.68" => w.clock = Time::parse_rfc3339("2026-11-30T18:41:06Z").unwrap(),
        "services--2.57" | "services--2.68" => {
            let on = Service { enabled: true, active: true, restarts: 0 };
            let off = Service { enabled: false, active: false, restarts: 0 };
            snap_of(w, "plane-api").services = [("daemon".into(), on), ("tmr".into(), off)].into();
        }
        "switch-both" | "switch-channel" | "switch-leave-channel" => {
            // The recorded server names another channel than the one that was asked for.
        }
        "tasks-missing" => {}
        "watch" => {
            snapd(w).next_change = 77;
            w.begin_change("0", &Starter::default(), NewChange::default());
        }
        _ => {}
    }
}

/// Where a recording has what a scripted server, and no snapd, said.
fn mended(name: &str, stdout: &str) -> String {
    match name {
        "switch-both" | "switch-channel" | "switch-leave-channel" => {
            stdout.replace("1.30/stable", "1.31/stable")
        }
        "version--2.57" => stdout.replace("2.57.6-1+deb12u1+b2", "2.57.6").replace("2.63", "2.57.6"),
        "version--2.68" => stdout.replace("2.68.3-3+deb13u1+b7", "2.68.3").replace("2.63", "2.68.3"),
        // The store knows nothing of a local build, not even a description.
        "info-local" => stdout.replace("Line one.\n  \n  Line two.", "This is side-loaded."),
        // No snap is broken here.
        _ if name.starts_with("list") => {
            stdout.lines().filter(|l| !l.starts_with("bad-snap")).map(|l| format!("{l}\n")).collect()
        }
        // A timer of a snap is shown as any service.
        _ if name.starts_with("services") => stdout.replace("timer-activated", "-"),
        _ => stdout.to_owned(),
    }
}

fn without_key(text: &str) -> String {
    text.lines()
        .map(|line| {
            if line.contains("cohort-key: ") {
                "    cohort-key: KEY\n".to_owned()
            } else {
                format!("{line}\n")
            }
        })
        .collect()
}

#[test]
fn every_command_says_what_the_real_client_says() {
    let mut differ = Vec::new();
    let mut seen = BTreeSet::new();
    let mut files: Vec<_> =
        std::fs::read_dir(recordings().join("client")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut compared = 0;
    for path in files {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let case: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if CANNOT.iter().any(|(cannot, _)| *cannot == name) {
            seen.insert(name);
            continue;
        }
        let versions: Vec<&str> =
            case["client"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        for version in versions {
            // The recorded servers say one text for both; snapd itself says it with a prefix from 2.58 on.
            if name == "refresh-notinstalled" && version != "2.57.6" {
                continue;
            }
            let mut w = base(version);
            set_up(&name, &mut w);
            let columns = case["env"]["COLUMNS"].as_str().map_or(80, |text| text.parse().unwrap());
            let reply = run_wide(&mut w, &argv(&case), columns);
            let mut stderr = text(&case, "stderr").to_owned();
            if name == "install-ok" {
                // The client's PATH is not known here.
                stderr.clear();
            }
            if name == "set-system-bad" {
                stderr = stderr.replace("snap (cannot", "snap (run hook \"configure\": cannot");
            }
            let wanted = shown(case["rc"].as_u64().unwrap(), &mended(&name, text(&case, "stdout")), &stderr);
            let found = shown(u64::from(reply.code), &reply.stdout, &reply.stderr);
            let (wanted, found) = match name.starts_with("create-cohort") {
                true => (without_key(&wanted), without_key(&found)),
                false => (wanted, found),
            };
            compared += 1;
            if wanted != found {
                differ.push(format!("===== {name} ({version})\n{wanted}\n***** but\n{found}"));
            }
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert_eq!(seen.len(), CANNOT.len());
    assert!(compared > 150, "{compared}");
}
