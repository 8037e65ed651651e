//! The real charm executable, as unpacked from the packed file, in a simulated Juju model.
//!
//! A scenario runs twice, with the charm's cache and with the cache deleted before each hook, and must
//! end in the same databags and statuses. Of rollouts one of each family does so always, and the others
//! in `make soak`.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod cache;
mod chaos;
mod counts;
mod dashboards;
mod facts;
mod golden;
mod invariants;
mod kills;
mod large;
mod leaders;
mod support;
mod upgrades;

use support::{Cache, run};

fn twice(name: &str) {
    let warm = run(name, Cache::Kept);
    let cold = run(name, Cache::DeletedBeforeEachHook);
    support::assert_same(&warm, &cold);
}

macro_rules! scenarios {
    (always twice: $($name:ident)* ; twice in soak: $($other:ident)*) => {
        const ALL: &[&str] = &[$(stringify!($name),)* $(stringify!($other)),*];
        $(#[test]
        fn $name() {
            twice(stringify!($name));
        })*
        $(#[test]
        fn $other() {
            run(stringify!($other), Cache::Kept);
        })*
        mod cold {
            $(#[test]
            #[ignore = "make soak"]
            fn $other() {
                super::twice(stringify!($other));
            })*
        }
    };
}

scenarios! {
    always twice:
    demo
    cohorts_form_and_a_new_revision_moves_the_cluster_in_order
    a_worker_that_fails_beside_another_lets_that_one_finish_and_nobody_follows
    a_leader_that_has_just_come_takes_nothing_away_that_others_know
    a_node_that_is_not_ready_after_a_refresh_stops_the_rollout
    a_store_outage_in_the_middle_of_a_rollout_changes_nothing_and_heals
    f13_two_units_on_one_machine_move_its_snaps_once
    f5_a_failed_query_to_the_store_makes_no_new_keys
    update_status_alone_brings_every_member_there
    an_upgrade_stops_at_a_failure_and_can_be_retried_skipped_or_rolled_back
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
    collection_scrapes_and_ships_and_leaves_nothing_behind
    ;
    twice in soak:
    demo_rollout
    a_bad_revision_is_rolled_back_and_stays_refused
    a_channel_without_a_track_is_followed_as_snapd_names_it
    a_client_that_is_killed_leaves_a_change_that_is_waited_for
    a_closed_refresh_window_keeps_everybody_back
    a_follower_application_never_runs_ahead_of_its_source
    a_follower_in_another_model_never_runs_ahead_of_its_source
    a_grant_for_a_target_that_was_replaced_is_answered_with_ready
    a_granted_machine_that_is_dead_is_named_and_skipped_by_force
    a_granted_unit_that_is_removed_gives_its_turn_to_the_next
    a_key_that_the_store_refuses_is_a_status_and_not_a_hook_error
    a_new_node_with_a_newer_revision_comes_to_the_cohort
    a_new_revision_moves_three_control_plane_units_and_then_five_workers
    a_principal_charm_installs_what_it_packs_and_a_later_unit_what_the_others_run
    a_principal_that_pins_and_holds_is_left_alone
    a_principal_that_refreshes_in_every_hook_stays_in_the_cohort
    a_snap_added_to_the_option_gets_a_key_and_the_others_keep_theirs
    a_unit_that_failed_half_way_tells_what_is_done_and_goes_on_from_there
    an_admin_who_takes_a_unit_out_of_the_cohort_is_noticed
    an_auto_refresh_under_way_is_waited_for
    collection_of_two_units_on_a_machine_shares_one_collector
    collection_survives_a_store_outage_and_bad_jobs
    collection_yields_to_another_collector_and_takes_over_when_it_goes
    every_command_that_a_status_tells_is_run_as_it_is_printed
    every_command_that_an_action_tells_is_run_as_it_is_printed
    f4_a_new_revision_of_a_worker_only_snap_makes_one_new_key
    keys_are_made_anew_at_sixty_days_and_restart_nothing
    no_updates_available_is_not_believed
    the_first_formation_waits_for_units_that_still_deploy
    with_manual_cohort_refresh_nothing_moves_before_the_action
    an_upgrade_is_held_until_its_checks_pass_or_are_overridden
    upgrade_begins_by_no_charm_refresh_and_waits_for_every_unit_of_it
    upgrade_beside_a_newer_charm_waits_where_it_cannot_read_it_and_ignores_what_it_does_not_know
    upgrade_checks_name_a_jump_a_way_down_and_a_newer_patch
    upgrade_of_a_principal_charm_begins_with_its_refresh_and_goes_back_with_the_old_one
    upgrade_of_two_units_goes_on_when_one_of_them_is_removed
    upgrade_one_unit_begins_by_itself_and_a_unit_added_later_is_taken_along
    upgrade_pauses_where_the_option_says_now_and_goes_on_as_the_status_says
    upgrade_of_two_architectures_waits_for_what_the_store_has_for_each
    upgrade_survives_units_that_come_and_go_and_another_leader
    upgrade_that_a_principal_began_is_followed_one_by_one
    upgrade_that_fails_on_the_first_in_the_middle_and_at_the_last_goes_on_as_the_status_says
    upgrade_that_is_under_way_lets_no_new_revision_in_and_then_takes_it
    upgrade_to_a_third_channel_while_one_runs_is_taken_from_where_each_unit_is
}

/// What Juju refused is known from the cache: without it the retry writes everything once more.
const REFUSED: &str = "a_databag_that_juju_refuses_is_held_back_and_named";
/// Hooks that are killed have gone less far without it, and a time of reading differs by a second.
const KILLED: &str = "upgrade_moves_that_are_killed_or_not_committed_are_finished_once";

#[test]
fn a_databag_that_juju_refuses_is_held_back_and_named() {
    run(REFUSED, Cache::Kept);
}

#[test]
fn upgrade_moves_that_are_killed_or_not_committed_are_finished_once() {
    run(KILLED, Cache::Kept);
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
    listed.extend([REFUSED, KILLED]);
    listed.sort_unstable();
    assert_eq!(files, listed);
}
