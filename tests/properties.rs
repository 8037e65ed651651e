//! Whole decisions over generated observations: total, deterministic, independent of the order of the
//! input, done after acting once, and no concern changes another's status.
//!
//! A failure prints its seed; `World::of(seed)` is that observation again.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

#[path = "properties/world.rs"]
mod world;

use lockstep::decide::decide;
use lockstep::juju::{Endpoint, Scope};
use lockstep::observed::{Observed, Part};
use lockstep::plan::Plan;
use proptest::prelude::*;
use serde_json::json;
use world::World;

fn is_empty(plan: &Plan) -> bool {
    plan.writes.is_empty() && plan.unit_status.is_none() && plan.app_status.is_none() && plan.log.is_empty()
}

/// A plan as text, its memo included.
fn text(plan: &Plan) -> String {
    format!("{plan:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_decision_is_total_and_the_same_when_made_again(seed: u64) {
        let world = World::of(seed);
        let plan = decide(&world.observed());
        // A panic within a concern would not end the test: it is a status.
        let statuses = format!("{:?}", plan.remember.statuses);
        prop_assert!(!statuses.contains("fault in lockstep"), "{}", statuses);
        prop_assert_eq!(text(&decide(&world.observed())), text(&plan));
    }

    #[test]
    fn no_order_of_the_input_changes_a_decision(seed: u64) {
        let mut world = World::of(seed);
        let plan = decide(&world.observed());
        world.shuffle();
        prop_assert_eq!(text(&decide(&world.observed())), text(&plan));
    }

    #[test]
    fn deciding_again_after_acting_gives_an_empty_plan(seed: u64) {
        let mut world = World::of(seed);
        for _ in 0..3 {
            let plan = decide(&world.observed());
            world.act(&plan);
            let again = decide(&world.observed());
            prop_assert!(is_empty(&again), "{}", text(&again));
            prop_assert_eq!(&again.remember, &plan.remember);
            let unchanged = Observed { observability: Part::Unchanged, ..world.observed() };
            prop_assert!(is_empty(&decide(&unchanged)));
            world.change();
        }
    }

    #[test]
    fn no_concern_changes_the_status_of_another(seed: u64) {
        let world = World::of(seed);
        let observed = world.observed();
        let plan = decide(&observed);
        if plan.remember.statuses.is_empty() {
            return Ok(()); // A leaving unit decides nothing.
        }
        // What only setup looks at ...
        let mut other = observed.clone();
        other.config.insert("role".to_owned(), json!("boss"));
        other.config.insert("worker-parallelism".to_owned(), json!(0));
        let changed = decide(&other);
        prop_assert_ne!(&changed.remember.statuses["setup"], &plan.remember.statuses["setup"]);
        prop_assert_eq!(&changed.remember.statuses["observability"], &plan.remember.statuses["observability"]);
        // ... and what only observability looks at.
        let mut other = observed;
        other.observability = world.with_garbage();
        let changed = decide(&other);
        prop_assert_eq!(&changed.remember.statuses["setup"], &plan.remember.statuses["setup"]);
    }

    #[test]
    fn a_follower_writes_no_application_databag_and_nobody_one_that_it_may_not(seed: u64) {
        let world = World::of(seed);
        let observed = world.observed();
        let plan = decide(&observed);
        for write in &plan.writes {
            prop_assert!(observed.own.contains_key(&(write.relation, write.scope)), "{}", write.relation);
            prop_assert!(observed.leader || write.scope == Scope::Unit);
            let written = [
                Endpoint::Peers,
                Endpoint::SendRemoteWrite,
                Endpoint::LoggingConsumer,
                Endpoint::GrafanaDashboards,
            ];
            prop_assert!(written.contains(&write.relation.endpoint), "{}", write.relation);
        }
        prop_assert!(observed.leader || plan.app_status.is_none());
        let first_app = plan.writes.iter().position(|write| write.scope == Scope::App);
        let last_unit = plan.writes.iter().rposition(|write| write.scope == Scope::Unit);
        prop_assert!(first_app.is_none() || last_unit < first_app, "unit databags come first");
    }
}
