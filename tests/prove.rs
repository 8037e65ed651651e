//! The promises, by model checking: every order of hooks, losses, elections and departures within bounds,
//! over the real `decide`. `make prove` runs all of it, optimised; docs/reliability.md has the figures and
//! says what is abstracted.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![expect(clippy::disallowed_types, reason = "millions of states, whose order nobody sees")]
#![expect(clippy::print_stdout, reason = "the figures are the result")]

#[path = "prove/hook.rs"]
mod hook;
#[path = "prove/judge.rs"]
mod judge;
#[path = "prove/quick_hash.rs"]
mod quick_hash;
#[path = "prove/search.rs"]
mod search;
#[path = "prove/state.rs"]
mod state;
#[path = "prove/steps.rs"]
mod steps;
#[path = "prove/tables.rs"]
mod tables;
#[path = "prove/tell.rs"]
mod tell;

use lockstep::databag::node::Role;
use search::search;
use state::{Bounds, Budget, Faults};

fn bounds(control_plane: usize, workers: usize, left: [u8; 3], faults: Faults) -> Bounds {
    let mut roles = vec![Role::ControlPlane; control_plane];
    roles.extend(vec![Role::Worker; workers]);
    let [faults_left, targets, admin] = left;
    Bounds {
        roles,
        joiners: 0,
        followers_hear: faults.elections || faults.people,
        parallelism: 1,
        left: Budget { faults: faults_left, targets, admin },
        fresh: false,
        faults,
        channels: false,
        outside: false,
        cached: false,
        watched: false,
    }
}

/// Searches, prints what was seen, and compares the number of states with the one of record.
fn holds(name: &str, bounds: &Bounds, states: usize) {
    match search(bounds) {
        Ok(seen) => {
            println!("{name}: {seen:?}");
            assert_eq!(seen.states, states, "{name}: another search than the one of record");
        }
        Err(found) => panic!("{}\n{}\n{}", name, found.run.join("\n"), found.promise),
    }
}

const NONE: Faults =
    Faults { lost: false, moves: false, orphans: false, elections: false, people: false, illness: false };
const MOVES: Faults = Faults { lost: true, moves: true, orphans: true, illness: true, ..NONE };
const ELECTIONS: Faults = Faults { elections: true, lost: true, ..NONE };
const PEOPLE: Faults = Faults { people: true, ..ELECTIONS };

#[test]
fn promises_hold_where_a_move_goes_wrong_and_an_admin_acts() {
    let bad = Faults { moves: true, ..NONE };
    holds("2+0, 1 bad move, 1 target, 2 actions", &bounds(2, 0, [1, 1, 2], bad), 7_584);
}

#[test]
fn promises_hold_where_services_fail() {
    let ill = Faults { illness: true, ..NONE };
    holds("2+1, services fail once, 1 target", &bounds(2, 1, [1, 1, 0], ill), 1_469);
}

#[test]
fn promises_hold_where_targets_follow_each_other() {
    let bad = Faults { lost: false, illness: false, ..MOVES };
    holds("1+1, 1 bad move, 2 targets", &bounds(1, 1, [1, 2, 0], bad), 3_328);
}

#[test]
fn promises_hold_where_a_unit_leaves_while_it_moves() {
    holds("2+0, 1 departure, loss or election, 1 target", &bounds(2, 0, [1, 1, 0], PEOPLE), 6_535);
}

#[test]
fn promises_hold_where_passes_begin_with_an_old_databag() {
    let bounds = Bounds { cached: true, outside: true, watched: true, ..bounds(2, 0, [0, 2, 0], NONE) };
    holds("2+0, cached databags, passes outside of hooks, 2 targets", &bounds, 1_049);
}

#[test]
fn promises_hold_from_the_first_hook_on() {
    let bounds = Bounds { fresh: true, ..bounds(1, 1, [0, 0, 0], NONE) };
    holds("1+1 from the first hook on", &bounds, 89);
}

#[test]
#[ignore = "make prove"]
fn wide_people() {
    let bounds = Bounds { joiners: 1, ..bounds(2, 0, [2, 1, 0], Faults { people: true, ..NONE }) };
    holds("1+0 and one that joins, 2 departures or arrivals, 1 target", &bounds, 110_833);
}

#[test]
#[ignore = "make prove"]
fn wide_bad_moves() {
    holds("2+1, 2 bad moves, 1 target, 1 action", &bounds(2, 1, [2, 1, 1], MOVES), 638_310);
}

#[test]
#[ignore = "make prove"]
fn wide_many_units() {
    holds("3+2, 1 bad move, 1 target", &bounds(3, 2, [1, 1, 0], MOVES), 75_069);
}

#[test]
#[ignore = "make prove"]
fn wide_elections() {
    holds("2+0, 2 losses or elections, 1 target", &bounds(2, 0, [2, 1, 0], ELECTIONS), 29_506);
}

#[test]
#[ignore = "make prove"]
fn wide_everything_on_two() {
    holds("1+1, 1 fault of any kind, 1 target", &bounds(1, 1, [1, 1, 0], Faults::ALL), 11_547);
}

#[test]
#[ignore = "make prove"]
fn wide_old_databags() {
    let faults = Faults { people: false, ..Faults::ALL };
    let bounds = Bounds { cached: true, outside: true, watched: true, ..bounds(2, 0, [1, 1, 0], faults) };
    holds("2+0, cached databags, passes outside of hooks, 1 fault, 1 target", &bounds, 17_141);
}

#[test]
#[ignore = "make prove"]
fn wide_from_the_first_hook_on() {
    let bounds = Bounds { fresh: true, ..bounds(2, 0, [1, 0, 0], PEOPLE) };
    holds("2+0 from the first hook on, 1 departure, loss or election", &bounds, 13_302);
}

#[test]
#[ignore = "make prove"]
fn wide_channels() {
    let bounds = Bounds { channels: true, watched: true, ..bounds(1, 1, [0, 2, 2], NONE) };
    holds("1+1, 2 targets or channels, 2 actions", &bounds, 245_726);
}
