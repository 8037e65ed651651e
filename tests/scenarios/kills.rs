//! A hook that is killed at every one of its tool calls, then runs again, ends as one that was not.

use crate::support::{Cache, dir, end, run, run_with};
use juju_sim::sim::{Event, Fault};

const DEPARTURE: &str = "a_departed_principal_leaves_nothing_behind";

/// The number of tool calls of the first run of that hook in the scenario, the one that is killed.
fn calls(name: &str, unit: &str, hook: &str) -> u32 {
    let ended = run(name, Cache::Kept);
    let count = ended.sim.events.iter().find_map(|event| match event {
        Event::Hook(record) if record.unit == unit && record.name == hook => Some(record.calls.len()),
        Event::Hook(_) | Event::Step { .. } | Event::Note { .. } => None,
    });
    u32::try_from(count.unwrap_or_else(|| panic!("{hook} of {unit} never ran"))).unwrap()
}

fn killed_at_every_call(name: &str, unit: &str, hook: &str) {
    assert!(dir().join(name).with_extension("yaml").exists());
    let unharmed = end(&run(name, Cache::Kept).sim);
    let count = calls(name, unit, hook);
    assert!(count >= 3, "{hook} of {unit} made {count} calls");
    for call in 1..=count {
        let fault = Fault {
            unit: unit.to_owned(),
            hook: Some(hook.to_owned()),
            kill_at_call: Some(call),
            optional: true,
            ..Fault::default()
        };
        let ended = run_with(name, Cache::Kept, |sim| sim.arm(fault));
        assert_eq!(end(&ended.sim), unharmed, "killed at call {call} of {count} of {hook}");
    }
}

#[test]
fn a_followers_hook_killed_at_any_call_ends_the_same() {
    killed_at_every_call(DEPARTURE, "lockstep/2", "cos-agent-relation-changed");
}

#[test]
fn a_leaders_hook_killed_at_any_call_ends_the_same() {
    killed_at_every_call(DEPARTURE, "lockstep/0", "peers-relation-departed");
}
