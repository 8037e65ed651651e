//! The real charm executable, as unpacked from the packed file, in a simulated Juju model.
//!
//! Every scenario runs twice, with the charm's cache and with the cache deleted before each hook, and
//! must end in the same databags and statuses.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod cache;
mod counts;
mod dashboards;
mod golden;
mod kills;
mod large;
mod support;

use support::{Cache, run};

macro_rules! scenarios {
    ($($name:ident)*) => {
        const ALL: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            let warm = run(stringify!($name), Cache::Kept);
            let cold = run(stringify!($name), Cache::DeletedBeforeEachHook);
            support::assert_same(&warm, &cold);
        })*
    };
}

scenarios! {
    demo
    cohorts_form_and_a_new_revision_moves_the_cluster_in_order
    a_bad_revision_is_rolled_back_and_stays_refused
    a_node_that_is_not_ready_after_a_refresh_stops_the_rollout
    f6_a_departed_hook_that_fails_once_leaves_nothing_behind
    f6_a_removed_relation_takes_its_data_along
    f6_a_removed_unit_takes_along_only_what_no_other_unit_tells
    f6_broken_without_any_readable_data_leaves_nothing_behind
    f7_different_versions_of_one_principal_never_flap
    f7_update_status_writes_nothing_whatever_the_order
    f8_dashboards_with_one_title_or_none_are_all_forwarded
    f10_a_hook_that_took_long_asks_again_whether_it_leads
    f10_a_follower_neither_reads_nor_writes_application_databags
    f10_leadership_lost_within_the_hook_is_no_error
    f11_a_broken_relation_is_gone_at_once
    f11_a_broken_relation_is_gone_at_once_on_juju_3_1
    f11_a_broken_relation_is_neither_read_nor_written_on_juju_3_1
    f12_a_blocked_status_stays_until_its_own_concern_is_content
    f13_two_units_of_lockstep_on_one_machine_share_nothing
    f14_a_leader_lost_before_it_had_written_anything_costs_nothing
    f14_leader_elected_alone_is_enough
    a_departed_principal_leaves_nothing_behind
    a_failed_commit_is_made_good
    a_hook_skipped_with_no_retry_is_made_good
    a_damaged_cache_costs_one_full_read
    bad_options_are_told_and_the_last_good_value_stays
    bad_data_is_told_and_what_was_good_stays
    nothing_is_written_when_nothing_has_changed
    one_status_set_a_hook_at_most
    unknown_events_and_wrong_usage
    two_roles_are_blocked_with_the_way_out
    juju_4_without_private_addresses
    actions_work_while_a_hook_is_in_error
    a_departing_unit_cleans_up_nothing_shared
    a_principal_that_is_itself_a_subordinate_is_forwarded
    a_relation_that_the_controller_has_dropped_fails_no_hook_on_juju_3_6
    a_relation_that_the_controller_has_dropped_fails_no_hook_on_juju_4
    an_old_provider_is_forwarded_and_may_be_refreshed
    what_prometheus_loki_and_grafana_refuse_is_named
}

/// What Juju refused is known from the cache: without it the retry writes everything once more.
const WITH_ITS_CACHE: &str = "a_databag_that_juju_refuses_is_held_back_and_named";

#[test]
fn a_databag_that_juju_refuses_is_held_back_and_named() {
    run(WITH_ITS_CACHE, Cache::Kept);
}

#[test]
fn no_scenario_file_is_forgotten() {
    let dir = std::fs::read_dir(support::dir()).unwrap();
    let mut files: Vec<String> = dir
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(name.strip_suffix(".yaml")?.to_owned()))
        .filter(|name| name != "charms")
        .collect();
    files.sort();
    let mut listed = ALL.to_vec();
    listed.push(WITH_ITS_CACHE);
    listed.sort_unstable();
    assert_eq!(files, listed);
}
