//! What a pass reads of the model: it must not grow with what has not changed.
//!
//! Beside it each pass asks for charm state and leadership, and what is installed on the machine.

use crate::support::{Cache, run};
use juju_sim::sim::{Event, Sim};

/// What a pass asks however little has happened. Leadership is asked again where a grant depends on it.
const ALWAYS: [&str; 3] = ["state-get", "is-leader", "snap"];

/// What the last run of a hook read: the tool, or of `relation-get` whose databag.
pub fn reads(sim: &Sim, unit: &str, hook: &str) -> Vec<String> {
    let last = sim.events.iter().rev().find_map(|event| match event {
        Event::Hook(record) if record.unit == unit && record.name == hook => Some(record),
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
    });
    let last = last.unwrap_or_else(|| panic!("{hook} of {unit} never ran"));
    let read = last.calls.iter().filter(|call| {
        !ALWAYS.contains(&call.tool.as_str()) && !["state-set", "relation-set"].contains(&call.tool.as_str())
    });
    read.map(|call| match call.args.last().filter(|_| call.tool == "relation-get") {
        Some(whose) => whose.clone(),
        None => call.tool.clone(),
    })
    .collect()
}

#[test]
fn an_idle_update_status_reads_no_more_than_whether_the_leader_has_granted_something() {
    let ended = run("one_status_set_a_hook_at_most", Cache::Kept);
    for unit in ["lockstep/0", "lockstep/1"] {
        assert_eq!(reads(&ended.sim, unit, "update-status"), ["lockstep"]);
    }
}

#[test]
fn a_follower_reads_no_more_than_the_databag_that_changed() {
    let ended = run("bad_data_is_told_and_what_was_good_stays", Cache::Kept);
    let read = reads(&ended.sim, "lockstep/1", "peers-relation-changed");
    let (last, rest) = read.split_last().unwrap();
    assert_eq!((last.as_str(), rest.len()), ("lockstep", 1), "{read:?}");
    assert!(rest[0].starts_with("lockstep/"), "{read:?}");
}

#[test]
fn a_machine_whose_snaps_are_held_is_asked_for_snaps_and_services_alone() {
    let ended = run("update_status_alone_brings_every_member_there", Cache::Kept);
    let last = ended.sim.events.iter().rev().find_map(|event| match event {
        Event::Hook(record) if record.unit == "lockstep/1" && record.name == "update-status" => Some(record),
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
    });
    let asked = last.unwrap().calls.iter().filter(|call| call.tool == "snap");
    assert_eq!(asked.map(|call| call.args[0].as_str()).collect::<Vec<_>>(), ["list", "services"]);
}

/// Its collector is there, since its services are asked for.
#[test]
fn an_idle_pass_of_a_unit_that_collects_asks_for_snaps_and_services_and_reads_nothing_more() {
    let ended = run("collection_scrapes_and_ships_and_leaves_nothing_behind", Cache::Kept);
    let idle = ended.sim.events.iter().any(|event| match event {
        Event::Hook(record) if record.unit == "lockstep/0" && record.name == "update-status" => {
            let asked = record.calls.iter().filter(|call| call.tool == "snap");
            let asked: Vec<&str> = asked.map(|call| call.args[0].as_str()).collect();
            let reads = record.calls.iter().filter(|call| call.tool == "relation-get").count();
            let validates = record.calls.iter().any(|call| call.tool == "otelcol");
            asked == ["list", "services"] && reads <= 1 && !validates
        }
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => false,
    });
    assert!(idle);
}
