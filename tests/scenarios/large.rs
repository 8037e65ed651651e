//! Large models and large values: field case F9, and the databag limit of Juju 4.0.12.

#[path = "../support/crowd.rs"]
mod crowd;

use crate::counts::reads;
use crate::support::charm;
use crowd::{Crowd, dashboard, tools};
use juju_sim::sim::{Event, Outcome, Settle};
use juju_sim::world::Owner;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Linux refuses a longer argument (`MAX_ARG_STRLEN`), and a longer command line with its environment.
const ARGUMENT: usize = 128 << 10;
/// What a hook tool is told by its arguments: which relation, whose databag.
const PLAIN: usize = 200;
/// What forwarding leaves to others in the unit databag on peers.
const OTHERS: usize = 16 << 10;

/// No value travelled on a command line, and no hook failed.
fn check(crowd: &Crowd) {
    for event in &crowd.sim.events {
        let Event::Hook(record) = event else { continue };
        assert_eq!(record.outcome, Outcome::Done, "{}", record.name);
        for call in &record.calls {
            let longest = call.args.iter().map(String::len).max().unwrap_or(0);
            assert!(longest < PLAIN && PLAIN < ARGUMENT, "{}: an argument of {longest} bytes", call.tool);
        }
    }
}

fn crowd(peers: u32, juju: &str) -> Crowd {
    Crowd::new(peers, juju, &charm())
}

const GRAFANA: [&str; 2] = ["lockstep:grafana-dashboards-provider", "grafana:grafana-dashboard"];

/// F9 (canonical/operator 801, 805): data on the command line of `relation-set` exceed the system's limit.
#[test]
fn f9_three_hundred_peers_with_large_dashboards_pass_whole_and_are_read_once() {
    let mut large = crowd(300, "3.6.9");
    let dashboards: Vec<String> = (0..40).map(|n| dashboard(&format!("App{n}"), 200 << 10)).collect();
    for n in 0..300 {
        large.peer(n, 40, &dashboards[n as usize % 40]);
    }
    // A lost cache is the worst case: all three hundred databags in one hook.
    let unit = "lockstep/0".to_owned();
    large.meet();
    large.forget();
    large.sim.update_status(std::slice::from_ref(&unit)).unwrap();
    large.sim.settle(Settle::default()).unwrap();
    let all = large.last("update-status");
    let read =
        all.calls.iter().filter_map(|call| call.args.last()).filter(|arg| arg.starts_with("lockstep/"));
    let read: Vec<&String> = read.collect();
    let once: BTreeSet<&String> = read.iter().copied().collect();
    assert_eq!((read.len(), once.len()), (301, 301), "each unit's databag is read once, the own one too");
    check(&large);
    let bag = large.bag(&GRAFANA, &Owner::App("lockstep".to_owned()));
    let written: Value = serde_json::from_str(&bag["dashboards"]).unwrap();
    assert_eq!(written["templates"].as_object().unwrap().len(), 40);
    for dashboard in &dashboards {
        assert!(bag["dashboards"].contains(dashboard.as_str()));
    }
    // One changed peer costs one read, whatever the number of the others.
    large.peer(7, 40, &dashboard("Changed", 200 << 10));
    large.sim.settle(Settle::default()).unwrap();
    let changed = large.last("peers-relation-changed");
    assert_eq!(changed.remote.as_deref(), Some("lockstep/8"));
    let reads = reads(&large.sim, &unit, "peers-relation-changed");
    assert_eq!(reads, ["lockstep/8", "lockstep"], "{:?}", tools(changed));
    assert_eq!(tools(changed)["relation-set"], 1);
    check(&large);
}

/// F9, the far end: what a hook tool refuses on a command line really is refused here.
#[test]
fn f9_the_system_of_the_test_refuses_long_arguments_too() {
    let long = "x".repeat(ARGUMENT);
    let mut large = crowd(0, "3.6.9");
    let outcome = large.sim.exec("lockstep/0", &["$CHARM/lockstep".to_owned(), long]);
    assert!(outcome.is_err(), "{outcome:?}");
}

/// From 4.0.12 on Juju refuses a databag above a limit: a record that fills it to the last byte beside
/// the keys that Juju itself keeps there must not cost the hook.
#[test]
fn a_full_databag_on_juju_4_0_12_fails_no_hook_and_names_what_is_left_out() {
    let mut large = crowd(0, "4.0.12");
    let limit = large.sim.world.limits.bag;
    let dashboards: Vec<String> =
        ["A", "B"].iter().map(|title| dashboard(title, limit / 2 - OTHERS)).collect();
    let config = |pad: usize| {
        let rule = json!({"alert": "Gone", "expr": "up < 1", "annotations": {"pad": "x".repeat(pad)}});
        let groups = json!({"groups": [{"name": "g", "rules": [rule]}]});
        json!({"metrics_alert_rules": groups, "log_alert_rules": {}, "dashboards": dashboards})
    };
    let records = |large: &Crowd| {
        let bag = large.bag(&["lockstep:peers"], &Owner::Unit("lockstep/0".to_owned()));
        bag.iter().filter(|(key, _)| key.starts_with("config")).map(|(k, v)| k.len() + v.len()).sum::<usize>()
    };
    large.principal(&config(0));
    large.sim.settle(Settle::default()).unwrap();
    check(&large);
    let bare = records(&large);
    for (size, fits) in [
        (limit - OTHERS, true),
        (limit - OTHERS + 1, false),
        (limit - 60, false),
        (limit, false),
        (limit + 1, false),
    ] {
        large.principal(&config(size - bare));
        large.sim.settle(Settle::default()).unwrap();
        check(&large);
        let status = large.sim.world.units["lockstep/0"].shown_status().to_string();
        assert_eq!(fits, !status.contains("left out"), "{size}: {status}");
        assert_eq!(fits, records(&large) == size, "{size}: {}", records(&large));
    }
}

/// The same limit at an outgoing databag: what does not fit of forty applications is left out and named.
#[test]
fn an_outgoing_databag_on_juju_4_0_12_keeps_within_its_limit() {
    let mut large = crowd(40, "4.0.12");
    for n in 0..40 {
        large.peer(n, 40, &dashboard(&format!("App{n}"), 20 << 10));
    }
    large.sim.settle(Settle::default()).unwrap();
    check(&large);
    let bag = large.bag(&GRAFANA, &Owner::App("lockstep".to_owned()));
    let size: usize = bag.iter().map(|(key, value)| key.len() + value.len()).sum();
    assert!(size <= large.sim.world.limits.bag && size > 480 << 10, "{size}");
    let status = large.sim.world.units["lockstep/0"].shown_status().to_string();
    assert!(status.starts_with("blocked") && status.contains("left out: more than 512 KiB"), "{status}");
}
