//! `real-daemon-*.json`: sessions with the real client and the real snapd, step by step.

use serde_json::Value;

use super::{acme, argv, publish, put, recordings, run, shown, snap_of, snapd, text, world};
use crate::snapd::{Change, OnDisk, Starter};
use crate::store::{Channel, Cohort, Outage, Request, StoreFault, StoreSnap, UnknownKeys};
use crate::world::{Time, World};

/// The two keys that the recorded store made for plane-api.
const KEYS: [&str; 2] = ["KEYONE0123456789==", "KEYTWO0123456789=="];

fn start(version: &str) -> World {
    let mut w = world("2026-10-01T00:00:00Z");
    snapd(&mut w).version = version.to_owned();
    publish(&mut w, "plane-api", "1.30/stable", 41, "1.30.41");
    publish(&mut w, "plane-api", "1.30/stable", 43, "1.30.43");
    publish(&mut w, "node-agent", "stable", 1, "1");
    let api = w.store.snaps.get_mut("plane-api").unwrap();
    api.publisher = acme();
    (api.summary, api.description) = ("s".to_owned(), "d".to_owned());
    api.base = Some("none".to_owned());
    api.revisions.get_mut(&43).unwrap().size = 10;
    w.clock = Time::parse_rfc3339("2026-11-30T18:41:14Z").unwrap();
    put(&mut w, "plane-api", "41", "1.30.41", Some("1.30"));
    put(&mut w, "loc", "x1", "0.1", None);
    let snap = snap_of(&mut w, "plane-api");
    snap.size = 1;
    snap.older = vec![OnDisk { revision: "40".to_owned(), version: "1.30.40".to_owned() }];
    let map = [(Channel::parse("1.30").unwrap(), [("amd64".to_owned(), 41)].into())];
    for key in KEYS {
        let (created, frozen) = (w.clock, w.clock);
        let cohort =
            Cohort { snap: "plane-api".into(), created, frozen, proxy: None, map: map.clone().into() };
        w.store.cohorts.insert(key.to_owned(), cohort);
    }
    w.store.unknown_keys = UnknownKeys::Refuse("Cohort key rejected (invented text).".to_owned());
    // As long as the recorded one was, since messages are wrapped.
    w.store.url = "http://127.0.0.1:34567".to_owned();
    w.store.address = "127.0.0.1:34567".to_owned();
    for (summary, error) in [("Initialize system state", None), ("Initialize device", Some("no serial"))] {
        let now = w.clock;
        let id = snapd(&mut w).next_change;
        snapd(&mut w).next_change += 1;
        snapd(&mut w).changes.push(Change {
            id,
            kind: "seed".to_owned(),
            summary: summary.to_owned(),
            snaps: Vec::new(),
            by: Starter::default(),
            spawn: now,
            due: now,
            ready: Some(now),
            error: error.map(str::to_owned),
            moves: Vec::new(),
            effects: Vec::new(),
            fails: None,
        });
    }
    w
}

fn fault(w: &mut World, requests: &[Request], outage: Outage) {
    w.store.faults =
        vec![StoreFault { outage, requests: requests.to_vec(), machine: None, snap: None, times: None }];
}

/// Makes the store do what the recorded one did in this step. `kept` holds plane-api while the store forgets it.
fn prepare(w: &mut World, note: &str, line: &str, kept: &mut Option<StoreSnap>) {
    let stable = || Channel::parse("1.30").unwrap();
    w.store.faults.clear();
    if let Some(snap) = kept.take() {
        w.store.snaps.insert("plane-api".to_owned(), snap);
    }
    let api = w.store.snaps.get_mut("plane-api").unwrap();
    api.heads = [(stable(), [("amd64".to_owned(), 43)].into())].into();
    let only_131 = |api: &mut StoreSnap| {
        api.heads = [(Channel::parse("1.31").unwrap(), [("amd64".to_owned(), 43)].into())].into();
    };
    for key in KEYS {
        w.store.cohorts.get_mut(key).unwrap().map = [(stable(), [("amd64".to_owned(), 41)].into())].into();
    }
    let no_view = |w: &mut World| w.store.cohorts.values_mut().for_each(|cohort| cohort.map.clear());
    match note {
        "store: revision-not-found with releases" => {
            only_131(api);
            no_view(w);
        }
        "store: revision-not-found without releases" => no_view(w),
        "per-snap errors vanish from --list" => only_131(api),
        "store: id-not-found" => *kept = w.store.snaps.remove("plane-api"),
        "store: HTTP 429" => fault(w, &[], Outage::Throttled),
        "store: HTTP 400" => fault(w, &[], Outage::Status(400)),
        "store: HTTP 503 (snapd retries)" => fault(w, &[], Outage::Status(503)),
        note if note.starts_with("leave + refresh") => fault(w, &[Request::Download], Outage::Damaged),
        "start a slow refresh" => {
            fault(w, &[Request::Download], Outage::Damaged);
            w.snap_times.refresh = 10_000;
        }
        "" if line.contains("--channel=1.29") => only_131(api),
        _ => {}
    }
}

/// Texts without what differs in every run: times, and keys that the store makes.
fn plain(text: &str) -> String {
    let line = |line: &str| {
        if let Some((head, _)) = line.split_once("cohort-key: ") {
            return format!("{head}cohort-key: KEY\n");
        }
        let words = line.split(' ').map(|word| match Time::parse_rfc3339(word) {
            Some(_) => "2026-11-30T18:00:00Z",
            None => word,
        });
        format!("{}\n", words.collect::<Vec<_>>().join(" "))
    };
    text.replace("127.0.0.1:34567", "STORE").lines().map(line).collect()
}

fn session(version: &str) {
    let path = recordings().join(format!("real-daemon-{version}.json"));
    let session: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut w = start(version);
    let mut kept = None;
    let mut down = false;
    let mut differ = Vec::new();
    for step in session["steps"].as_array().unwrap() {
        let (note, line) = (text(step, "note"), argv(step).join(" "));
        prepare(&mut w, note, &line, &mut kept);
        down |= note == "store unreachable";
        if down {
            fault(&mut w, &[], Outage::Unreachable);
        }
        if line == "refresh --hold plane-api" {
            // Three steps of the session before this one were not recorded.
            fault(&mut w, &[Request::Download], Outage::Damaged);
            run(&mut w, &["refresh", "plane-api"]);
            run(&mut w, &["refresh", "plane-api", "--cohort=KEYONE0123456789=="]);
            run(&mut w, &["switch", "plane-api", "--cohort=KEYONE0123456789=="]);
        }
        if line == "refresh --time --abs-time" {
            snapd(&mut w).last_refresh = Some(Time::parse_rfc3339("2026-11-30T18:27:00Z").unwrap());
            snapd(&mut w).config.insert("refresh.timer".into(), "03:00-03:01".into());
        }
        let before = w.clock;
        let reply = run(&mut w, &argv(step));
        let seconds = (w.clock.0 - before.0) / 1000;
        let mut wanted =
            shown(step["rc"].as_u64().unwrap(), &plain(text(step, "stdout")), &plain(text(step, "stderr")));
        let mut found = shown(u64::from(reply.code), &plain(&reply.stdout), &plain(&reply.stderr));
        // These keep something of the recorded machines: the failing step of a refresh there, and the many small tasks.
        let other_step = version == "2.68.3" && note.starts_with("leave + refresh");
        if other_step || line.starts_with("tasks") {
            wanted = wanted.lines().take(2).collect();
            found = found.lines().take(2).collect();
        }
        let slow = step["seconds"].as_f64().unwrap() > 30.0;
        if wanted != found || slow != (seconds >= 30) {
            differ.push(format!("===== {note} | {line} ({seconds} s)\n{wanted}\n***** but\n{found}"));
        }
        if let Some(state) = step["state_after"].as_object() {
            for (name, wanted) in state {
                let snap = snap_of(&mut w, name);
                let tracking = snap.tracking.as_ref().map(Channel::to_string);
                let found = (Some(snap.revision.as_str()), tracking.as_deref(), snap.cohort_key.as_deref());
                let wanted =
                    (wanted["current"].as_str(), wanted["channel"].as_str(), wanted["cohort-key"].as_str());
                if wanted != found {
                    differ.push(format!("===== {note} | {line}: {name} is {found:?}, not {wanted:?}"));
                }
            }
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
}

#[test]
fn a_session_with_snapd_2_57_is_repeated_word_by_word() {
    session("2.57.6");
}

#[test]
fn a_session_with_snapd_2_68_is_repeated_word_by_word() {
    session("2.68.3");
}
