//! How many hook tools a pass calls: the number must not grow with what has not changed.

use crate::support::{Cache, run};
use juju_sim::sim::Event;

/// The tools that the last run of a hook called.
fn calls(name: &str, unit: &str, hook: &str) -> Vec<String> {
    let ended = run(name, Cache::Kept);
    let found = ended.sim.events.iter().rev().find_map(|event| match event {
        Event::Hook(record) if record.unit == unit && record.name == hook => {
            Some(record.calls.iter().map(|call| call.tool.clone()).collect())
        }
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
    });
    found.unwrap_or_else(|| panic!("{hook} of {unit} never ran"))
}

#[test]
fn an_idle_update_status_asks_for_charm_state_and_leadership_only() {
    let name = "one_status_set_a_hook_at_most";
    assert_eq!(calls(name, "lockstep/1", "update-status"), ["state-get", "is-leader"]);
}

#[test]
fn a_follower_reads_no_more_than_the_databag_that_changed() {
    let name = "bad_data_is_told_and_what_was_good_stays";
    assert_eq!(
        calls(name, "lockstep/1", "peers-relation-changed"),
        ["state-get", "is-leader", "relation-get"]
    );
}
