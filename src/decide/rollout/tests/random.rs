//! S1, S2, S3 and S4 after every step of random runs, L1 at their end.
//!
//! The variable `LOCKSTEP_SEED` names one seed to run, `LOCKSTEP_RUNS` how many.

use super::world::{Plan, run};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs with faults for so many steps each.
fn runs(seeds: Range<u64>, steps: u32) {
    for seed in seeds {
        let run_told = |told| {
            let mut story = Vec::new();
            let outcome = catch_unwind(AssertUnwindSafe(|| run(Plan { seed, steps, told }, &mut story)));
            (outcome.is_ok(), story)
        };
        if !run_told(false).0 {
            let (_, story) = run_told(true);
            let tail: Vec<&str> = story
                .iter()
                .rev()
                .take(if seeds_named() { 9999 } else { 150 })
                .rev()
                .map(String::as_str)
                .collect();
            panic!("seed {seed} with {steps} steps breaks a promise:\n{}", tail.join("\n"));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "how long this test runs is for a person to say")]
fn seeds(default: u64) -> Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match (number("LOCKSTEP_SEED"), number("LOCKSTEP_RUNS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, Some(runs)) => 0..runs,
        (None, None) => 0..default,
    }
}

#[expect(clippy::disallowed_methods, reason = "how much is told is for a person to say")]
fn seeds_named() -> bool {
    std::env::var("LOCKSTEP_SEED").is_ok()
}

#[test]
fn promises_hold_in_short_random_runs() {
    runs(seeds(40), 40);
}

#[test]
fn promises_hold_in_long_random_runs() {
    runs(seeds(10), 150);
}
