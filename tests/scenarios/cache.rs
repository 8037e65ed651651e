//! What is kept on disk is believed only as far as its digests go, and belongs to one unit alone.

use crate::counts::reads;
use crate::support::{Cache, run};
use juju_sim::sim::{Event, Settle, Sim};
use std::path::PathBuf;

const RULES: [&str; 2] = ["lockstep:send-remote-write", "prometheus:receive-remote-write"];

fn leader_files(sim: &Sim) -> (String, PathBuf) {
    let leader = sim.world.leader_of("lockstep").unwrap().to_owned();
    let dir = sim.paths_of(&leader).unwrap().agent(&leader).join("lockstep");
    (leader, dir)
}

fn sent(sim: &Sim) -> &str {
    let relation = sim.relation_named(&RULES.map(str::to_owned)).unwrap();
    &sim.world.relations[&relation].apps["lockstep"].values["alert_rules"]
}

fn update_status(sim: &mut Sim, unit: &str) -> Vec<String> {
    sim.update_status(&[unit.to_owned()]).unwrap();
    sim.settle(Settle::default()).unwrap();
    let last = sim.events.iter().rev().find_map(|event| match event {
        Event::Hook(record) if record.unit == unit && record.name == "update-status" => Some(record),
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
    });
    last.unwrap().calls.iter().map(|call| call.tool.clone()).collect()
}

#[test]
fn a_cache_with_one_changed_word_is_not_believed() {
    let mut sim = run("one_status_set_a_hook_at_most", Cache::Kept);
    let sim = &mut sim.sim;
    let (leader, dir) = leader_files(sim);
    let before = sent(sim).to_owned();
    let kept = std::fs::read_to_string(dir.join("cache")).unwrap();
    let word = "\"forward-alert-rules\":true";
    assert_eq!(kept.matches(word).count(), 1);
    std::fs::write(dir.join("cache"), kept.replace(word, "\"forward-alert-rules\":false")).unwrap();
    assert!(update_status(sim, &leader).contains(&"config-get".to_owned()));
    assert_eq!(sent(sim), before);
}

#[test]
fn a_kept_value_with_one_changed_word_is_not_believed() {
    let mut sim = run("one_status_set_a_hook_at_most", Cache::Kept);
    let sim = &mut sim.sim;
    let (leader, dir) = leader_files(sim);
    let mut changed = 0;
    for entry in std::fs::read_dir(dir.join("values")).unwrap() {
        let path = entry.unwrap().path();
        let value = std::fs::read_to_string(&path).unwrap();
        changed += usize::from(value.contains("ApiServerErrors"));
        std::fs::write(path, value.replace("ApiServerErrors", "ApiServerErrorz")).unwrap();
    }
    assert_eq!(changed, 1);
    // The options make the concern decide again, and the rules have not changed.
    let labels = [("extra-alert-labels".to_owned(), serde_json::json!("team:infra"))].into();
    sim.configure("lockstep", &labels).unwrap();
    sim.settle(Settle::default()).unwrap();
    assert!(sent(sim).contains("infra") && sent(sim).contains("ApiServerErrors"));
    assert!(!sent(sim).contains("ApiServerErrorz"), "{leader} believed what was not there");
}

/// F13 (canonical/opentelemetry-collector-operator 37, 47).
#[test]
fn f13_what_one_unit_loses_on_disk_costs_the_other_on_that_machine_nothing() {
    let mut ended = run("f13_two_units_of_lockstep_on_one_machine_share_nothing", Cache::Kept);
    let sim = &mut ended.sim;
    let units = ["lockstep@ledger-db/0", "lockstep@kubernetes-control-plane/0"];
    let [one, other] = units.map(|unit| sim.unit_named(unit).unwrap());
    let dir = sim.paths_of(&one).unwrap().agent(&one).join("lockstep");
    std::fs::remove_dir_all(dir).unwrap();
    assert!(!update_status(sim, &other).contains(&"config-get".to_owned()));
    assert_eq!(reads(sim, &other, "update-status"), ["lockstep"]);
    assert!(update_status(sim, &one).contains(&"config-get".to_owned()));
}

/// Another build may mean something else by the same words.
#[test]
fn a_cache_that_a_released_charm_left_costs_one_full_read() {
    let mut ended = run("one_status_set_a_hook_at_most", Cache::Kept);
    let sim = &mut ended.sim;
    let (leader, dir) = leader_files(sim);
    let before = (sent(sim).to_owned(), sim.world.units[&leader].shown_status().to_string());
    assert!(!update_status(sim, &leader).contains(&"config-get".to_owned()));
    let left = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/compat/0.1.0/cache");
    std::fs::copy(left, dir.join("cache")).unwrap();
    assert!(update_status(sim, &leader).contains(&"config-get".to_owned()));
    assert!(!update_status(sim, &leader).contains(&"config-get".to_owned()));
    assert_eq!((sent(sim).to_owned(), sim.world.units[&leader].shown_status().to_string()), before);
}
