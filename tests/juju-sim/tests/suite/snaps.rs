//! snapd, the store and timers as the processes of hooks meet them.
#![expect(clippy::indexing_slicing, reason = "only tests call this")]

use crate::support::{Bed, PRINCIPAL};
use juju_sim::snapd::Change;
use juju_sim::world::World;

/// Two control-plane machines with a kubelet one revision behind the channel's head.
const NODES: &str = "  - store: {publish: [{snap: kubelet, channel: 1.30, revision: 41, version: 1.30.1, services: [daemon]}, {snap: kubectl, channel: 1.30, revision: 7, version: 1.30.1}]}
  - snaps: {unit: all, install: [{name: kubelet, channel: 1.30}, {name: kubectl, channel: 1.30}]}
  - store: {publish: {snap: kubelet, channel: 1.30, revision: 43, version: 1.30.2}}
";

fn bed(files: &[(&str, &str)], units: u32) -> Bed {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, files, units).steps(NODES);
    bed
}

fn changes<'a>(world: &'a World, machine: &str) -> Vec<&'a Change> {
    world.machines[machine].snapd.changes.iter().collect()
}

#[test]
fn a_hook_refreshes_and_the_clock_moves_on_with_it() {
    let body = "snap refresh kubelet\ncat ../../../../../../run/clock\nsnap list kubelet";
    let mut bed = bed(&[("hooks/start", body)], 1);
    bed.settle();
    let printed = bed.printed("app/0").join("\n");
    let expected = "kubelet (1.30/stable) 1.30.2 from Canonical** refreshed\n1762344020.500\nName     Version  Rev  Tracking     Publisher    Notes\nkubelet  1.30.2   43   1.30/stable  canonical**  -";
    assert!(printed.contains(expected), "{printed}");
    let all = changes(&bed.sim.world, "0");
    let by = &all[0].by;
    assert_eq!(
        (by.by.as_str(), by.unit.as_deref(), by.hook.as_deref()),
        ("hook", Some("app/0"), Some("start"))
    );
    assert_eq!(by.argv, ["snap", "refresh", "kubelet"]);
    assert_eq!(all[0].ready.unwrap().0 - all[0].spawn.0, 20_000);
    bed.steps("  - expect: [{snap: {unit: app/0, name: kubelet, revision: 43, service-active: true, restarts: 1, cohort: no}}, {snap-changes: {by: app/0, moving: true, count: 1}}]");
    let story = juju_sim::show::story(&bed.sim.events, false, false);
    assert!(
        story.contains("start, 20 s long\n") && story.contains("snap: kubelet 41 -> 43, in 20 s\n"),
        "{story}"
    );
    assert!(
        juju_sim::show::status(&bed.sim.world).contains("0        amd64  kubelet  1.30.2   43   1.30/stable")
    );
}

#[test]
fn a_hook_that_is_killed_in_a_refresh_leaves_a_change_that_ends_by_itself() {
    let body = "snap refresh kubelet || { code=$?; echo \"exit $code\"; snap list kubelet; exit 0; }";
    let mut bed = bed(&[("hooks/start", body)], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, kill-in-call: 1}\n  - settle: {}");
    let printed = bed.printed("app/0").join("\n");
    let busy = "error: snap \"kubelet\" has \"refresh-snap\" change in progress";
    assert!(
        printed.contains("exit 10") && printed.contains(busy) && printed.contains("  41   "),
        "{printed}"
    );
    bed.steps("  - expect: [{snap: {unit: app/0, name: kubelet, revision: 41}}]\n  - advance: {seconds: 20}\n  - expect: [{snap: {unit: app/0, name: kubelet, revision: 43}}, {snap-changes: {count: 1}}]");
    let story = juju_sim::show::story(&bed.sim.events, false, false);
    assert!(story.contains("kubelet 41 -> 43, still under way"), "{story}");
    assert!(story.contains("(machine 0, kubelet 41 -> 43; begun 12:00:00 by app/0 in start)"), "{story}");
}

#[test]
fn a_client_that_its_hook_ends_leaves_the_change_running() {
    let body = "snap refresh kubelet & pid=$!\nwhile [ \"$(cut -d. -f1 ../../../../../../run/clock)\" -lt 1762344100 ]; do sleep 0.02; done\nkill -TERM $pid; wait $pid || echo \"client: $?\"; snap changes --abs-time | sed -n 2p";
    let mut bed = bed(&[("hooks/start", body)], 1);
    bed.steps("  - snap-times: {refresh: 1200}\n  - settle: {}");
    let printed = bed.printed("app/0").join("\n");
    assert!(
        printed.contains("client: 143") && printed.contains("Doing") && !printed.contains("refreshed"),
        "{printed}"
    );
    bed.steps("  - live: {minutes: 30}\n  - expect: [{snap: {unit: app/0, name: kubelet, revision: 43}}]");
}

#[test]
fn a_failed_refresh_is_undone_and_says_why_on_several_lines() {
    let body = "snap refresh kubelet 2>&1 || echo \"exit $?\"; snap list kubelet";
    let mut bed = bed(&[("hooks/start", body)], 1);
    bed.steps("  - store: {outage: {kind: damaged, requests: [download], times: 1}}\n  - settle: {}");
    let printed = bed.printed("app/0").join("\n");
    let text = "error: cannot perform the following tasks:\n- Download snap \"kubelet\" (43) from channel \"1.30/stable\" (sha3-384 mismatch";
    assert!(printed.contains(text) && printed.contains("exit 1") && printed.contains("  41   "), "{printed}");
    bed.steps("  - expect: [{snap: {unit: app/0, name: kubelet, revision: 41, restarts: 0}}, {snap-changes: {status: Error, count: 1}}]");
}

#[test]
fn another_machine_may_refresh_meanwhile_only_where_hooks_run_at_the_same_time() {
    let one = |interleaved: bool| {
        let mut at_once = 0;
        for seed in 0..6 {
            let mut bed = if interleaved { Bed::interleaved(seed) } else { Bed::seeded("3.6.9", seed) };
            bed.deploy(PRINCIPAL, &[("hooks/start", "snap refresh kubelet")], 3).steps(NODES).settle();
            let apart =
                bed.try_steps("  - expect: [{snap-changes: {moving: true, machines-at-once: 1}}]").is_ok();
            at_once += usize::from(!apart);
        }
        at_once
    };
    assert_eq!(one(false), 0);
    assert!(one(true) > 0);
}

#[test]
fn several_names_with_a_cohort_fail_the_scenario() {
    let mut bed = bed(&[("hooks/start", "snap refresh kubelet kubectl --cohort=KEY")], 1);
    let why = bed.try_steps("  - settle: {}").unwrap_err().to_string();
    assert!(
        why.contains("snap refresh kubelet kubectl --cohort=KEY: with several names --cohort is dropped"),
        "{why}"
    );
}

#[test]
fn what_the_real_client_rejects_fails_the_scenario() {
    for (line, code, text) in [
        ("snap refresh kubelet --cohorts=K", 64, "unknown flag `cohorts'"),
        ("snap create-cohort", 64, "the required argument `<snap> (at least 1 argument)` was not provided"),
        ("snap frobnicate", 64, "unknown command \"frobnicate\", see 'snap help'."),
        ("snap list --long", 64, "unknown flag `long'"),
        ("snap refresh kubelet --channel", 64, "expected argument for flag `--channel'"),
    ] {
        let body = format!("{line} 2>&1 || echo \"exit $?\"");
        let mut bed = bed(&[("hooks/start", body.as_str())], 1);
        let why = bed.try_steps("  - settle: {}").unwrap_err().to_string();
        assert!(why.contains(&format!("app/0 in start: {line}: {text}")), "{why}");
        let printed = bed.printed("app/0").join("\n");
        assert!(
            printed.contains(&format!("error: {text}")) && printed.contains(&format!("exit {code}")),
            "{printed}"
        );
    }
    // An old snapd without holds may be found out by trying.
    let mut bed = bed(&[("hooks/start", "snap refresh --hold kubelet || echo \"exit $?\"")], 1);
    bed.steps("  - snapd-version: {unit: app/0, is: 2.57.6}\n  - settle: {}");
    assert!(bed.printed("app/0").join("\n").contains("exit 64"));
}

#[test]
fn an_admin_and_an_auto_refresh_are_told_apart_by_who_began_a_change() {
    let mut bed = bed(&[], 2);
    bed.steps(
        "  - settle: {}
  - run: {unit: app/0, args: [snap, refresh, kubelet], says: refreshed}
  - auto-refresh: {unit: all}
  - expect:
      - snap-changes: {by: admin, count: 1, unit: app/0}
      - snap-changes: {by: auto-refresh, count: 1, unit: app/1, status: Doing}
      - snap: {unit: app/1, name: kubelet, revision: 41}
  - run: {unit: app/1, args: [snap, refresh, kubelet], exit: 10, says: 'has \"auto-refresh\" change in progress'}
  - run: {unit: app/1, args: [snap, watch, '--last=auto-refresh']}
  - expect: [{snap: {unit: app/1, name: kubelet, revision: 43}}]
  - run: {unit: app/1, args: [snap, frobnicate], exit: 64}",
    );
}

#[test]
fn scripted_principals_run_their_commands_in_each_of_their_hooks() {
    let mut bed = Bed::new("3.6.9");
    bed.steps(
        "  - store: {publish: [{snap: kubelet, channel: 1.30, revision: 41, services: [daemon]}, {snap: k8s, channel: 1.30, revision: 5, confinement: classic}]}
  - deploy: {charm: k8s, units: 2, snaps: [{name: kubelet, channel: 1.30}], commands: [[snap, refresh, kubelet, --channel=1.30/stable]]}
  - deploy: {charm: k8s, application: canonical, commands: [[snap, install, k8s, --classic, --channel=1.30/stable], [snap, refresh, --hold, k8s]]}
  - settle: {}
  - expect:
      - snap: {unit: canonical/0, name: k8s, revision: 5, held: true}
      - hooks: {unit: k8s/1, sequence: [start]}
      - snap-changes: {unit: k8s/0, count: 0}
  - store: {publish: {snap: kubelet, channel: 1.30, revision: 42}}
  - live: {minutes: 10}
  - expect:
      - snap: {unit: k8s/0, name: kubelet, revision: 42}
      - snap: {unit: k8s/1, name: kubelet, revision: 42}
      - snap-changes: {by: k8s/0, count: 1}
  - store: {publish: {snap: kubelet, channel: 1.31, revision: 50}}
  - commands: {application: k8s, set: [[snap, refresh, kubelet, --channel=1.31/stable]]}
  - settle: {}
  - expect: [{snap: {unit: k8s/0, name: kubelet, revision: 50, channel: 1.31/stable}}]",
    );
}

#[test]
fn a_cohort_gives_each_architecture_its_own_number_and_a_new_machine_of_an_application_its_snaps() {
    let mut bed = Bed::new("3.6.9");
    bed.steps(
        "  - store: {publish: [{snap: kubelet, channel: 1.30, revision: 41}, {snap: kubelet, channel: 1.30, revision: 42, arch: arm64}]}
  - deploy: {charm: k8s, units: 1, snaps: [{name: kubelet, channel: 1.30}]}
  - add-unit: {application: k8s, arch: arm64}
  - expect: [{snap: {unit: k8s/0, name: kubelet, revision: 41}}, {snap: {unit: k8s/1, name: kubelet, revision: 42}}]
  - run: {unit: k8s/0, args: [snap, create-cohort, kubelet], says: cohort-key}",
    );
    let key = bed.sim.world.store.cohorts.keys().next().unwrap().clone();
    assert!(key.len() > 80);
    bed.steps(
        "  - store: {publish: [{snap: kubelet, channel: 1.30, revision: 43}, {snap: kubelet, channel: 1.30, revision: 44, arch: arm64}]}
  - run: {unit: all, args: [snap, refresh, kubelet]}
  - expect: [{snap: {unit: k8s/0, name: kubelet, revision: 43}}, {snap: {unit: k8s/1, name: kubelet, revision: 44}}]",
    );
    bed.steps(&format!("  - run: {{unit: all, args: [snap, refresh, kubelet, --cohort={key}]}}"));
    bed.steps("  - expect: [{snap: {unit: k8s/0, name: kubelet, revision: 41, cohort: yes}}, {snap: {unit: k8s/1, name: kubelet, revision: 42, cohort: {same-as: k8s/0}}}]");
}

#[test]
fn a_timer_runs_a_command_in_the_units_context_also_while_a_hook_is_in_error() {
    let start = "systemd-run --unit=again --collect --on-active=30 --property=RuntimeMaxSec=60 -- juju-exec app/0 \"state-set again=yes; ./hooks/again\"\nsystemctl is-active again.timer\nexit 1";
    let again = "echo \"in context of $JUJU_UNIT_NAME\"; snap list kubelet; systemd-run --unit=again --on-active=10 -- true || echo \"exit $?\"";
    let mut bed = bed(&[("hooks/start", start), ("hooks/again", again)], 1);
    bed.steps("  - settle: {retries: 0}\n  - expect: [{hook-failed: {unit: app/0, hook: start}}]");
    assert!(bed.printed("app/0").contains(&"active".to_owned()));
    assert_eq!(bed.sim.world.machines["0"].transient["again"].by.as_deref(), Some("app/0"));
    bed.steps("  - advance: {seconds: 60}\n  - expect: [{state: {unit: app/0, has: {again: yes}}}]");
    let printed = bed.printed("app/0").join("\n");
    assert!(printed.contains("in context of app/0"), "{printed}");
    // A unit's name is taken as long as its service runs.
    let text =
        "Failed to start transient timer unit: Unit again.service was already loaded or has a fragment file.";
    assert!(printed.contains(text) && printed.contains("exit 1"), "{printed}");
    assert!(bed.sim.world.machines["0"].transient.is_empty());
    let record = bed.records().find(|r| r.kind == "exec").unwrap();
    assert_eq!((record.time.0 - 1_762_344_000_000) / 1000, 30);
}

#[test]
fn timers_do_not_fire_where_they_are_switched_off() {
    let start = "systemd-run --unit=again --on-active=30s juju-exec app/0 \"juju-log fired\"";
    let mut bed = bed(&[("hooks/start", start)], 1);
    bed.steps(
        "  - timers: false\n  - settle: {}\n  - live: {minutes: 2}\n  - expect: [{log: {lacks: fired}}]",
    );
    bed.steps("  - timers: true\n  - settle: {}\n  - expect: [{log: {contains: fired, level: INFO}}]");
}

#[test]
fn a_hook_of_the_same_machine_cannot_wait_for_itself() {
    let mut bed = bed(&[("hooks/start", "juju-exec app/0 true")], 1);
    let why = bed.try_steps("  - settle: {retries: 0}").unwrap_err().to_string();
    assert!(why.contains("waits for ever"), "{why}");
}

#[test]
fn a_dead_machine_takes_up_its_change_when_it_boots() {
    let mut bed = bed(&[], 1);
    bed.steps(
        "  - settle: {}
  - auto-refresh: {unit: app/0}
  - machine-dead: {unit: app/0}
  - advance: {hours: 1}
  - expect: [{snap: {unit: app/0, name: kubelet, revision: 41}}]
  - reboot: {unit: app/0}
  - expect: [{snap: {unit: app/0, name: kubelet, revision: 41}}]
  - advance: {seconds: 20}
  - expect: [{snap: {unit: app/0, name: kubelet, revision: 43}}]",
    );
}

#[test]
fn a_fork_and_the_same_seed_go_on_alike() {
    let body = "snap create-cohort kubelet; snap refresh kubelet";
    let keys = |seed| {
        let mut bed = Bed::seeded("3.6.9", seed);
        bed.deploy(PRINCIPAL, &[("hooks/start", body)], 1).steps(NODES);
        let mut copy = bed.sim.fork(&bed.dir.path().join("copy")).unwrap();
        bed.settle();
        copy.settle(juju_sim::sim::Settle::default()).unwrap();
        assert_eq!(copy.world.dump(), bed.sim.world.dump());
        bed.sim.world.store.cohorts.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(4), keys(4));
    assert_ne!(keys(4), keys(5));
}

#[test]
fn a_sweep_kills_a_hook_also_within_its_calls() {
    let mut bed = bed(&[("hooks/start", "juju-log one; snap refresh kubelet || true; juju-log two")], 1);
    bed.steps(
        "  - settle: {hooks: 3}
  - for-each-call: {unit: app/0, hook: start, within: true, do: [{settle: {}}, {live: {minutes: 2}}, {expect: [{snap: {unit: app/0, name: kubelet, revision: 43}}, {snap-changes: {moving: true, count: 1}}]}]}",
    );
    let story = juju_sim::show::story(&bed.sim.events, false, false);
    assert!(story.contains("the same again 3 times, app/0 killed in each"), "{story}");
}

#[test]
fn things_happen_while_a_call_is_under_way() {
    let mut bed = bed(&[("hooks/start", "snap refresh kubelet\njuju-log \"now $(is-leader)\"")], 2);
    bed.steps(
        "  - settle: {hooks: 4}
  - fault: {unit: app/0, hook: start, in-call: {call: 1, do: [{run: {unit: app/0, args: [snap, refresh, kubelet], exit: 10}}, {expect: [{snap: {unit: app/0, name: kubelet, revision: 41}}]}, {hook: {unit: app/1}}, {mark: inside}]}}
  - settle: {}
  - expect: [{snap: {unit: app/0, name: kubelet, revision: 43}}, {snap: {unit: app/1, name: kubelet, revision: 43}}]",
    );
    // A fault within a call that is never made fails the scenario.
    let why = bed
        .try_steps(
            "  - fault: {unit: app/0, kill-in-call: 9}\n  - update-status: {units: app/0}\n  - settle: {}",
        )
        .unwrap_err();
    assert!(why.to_string().contains("a fault never came true"), "{why:#}");
}

#[test]
fn a_machine_that_dies_in_a_call_takes_its_hook_along() {
    let mut bed = bed(&[("hooks/start", "snap create-cohort kubelet; juju-log done")], 1);
    bed.steps(
        "  - fault: {unit: app/0, hook: start, in-call: {call: 1, do: [{machine-dead: {unit: app/0}}]}}
  - settle: {}
  - expect: [{log: {lacks: done}}]
  - reboot: {unit: app/0}
  - settle: {}
  - expect: [{log: {contains: done}}]",
    );
}

#[test]
fn a_machine_without_snapd_has_no_such_program() {
    let mut bed =
        bed(&[("hooks/start", "command -v snap || echo absent"), ("hooks/update-status", "snap version")], 1);
    bed.steps("  - snapd: {unit: app/0, is: absent}\n  - settle: {}");
    assert!(bed.printed("app/0").contains(&"absent".to_owned()));
    bed.steps("  - snapd: {unit: app/0, is: down}\n  - update-status: {units: app/0}\n  - settle: {}");
    assert!(bed.printed("app/0").contains(&"snapd   unavailable".to_owned()));
}

#[test]
fn an_admins_script_calls_the_machines_programs() {
    let mut bed = bed(&[], 1);
    bed.steps(
        "  - settle: {}
  - run: {unit: app/0, args: [sh, -c, 'snap refresh kubelet && snap list kubelet | tail -n 1'], says: '  43   '}
  - run: {unit: app/0, args: [sh, -c, 'snap frobnicate'], exit: 64, says: unknown command}
  - run: {unit: app/0, args: [juju-exec, app/0, 'state-set by=admin']}
  - run: {unit: app/0, args: [juju-exec, app/7, 'true'], exit: 1}
  - expect: [{state: {unit: app/0, has: {by: admin}}}, {snap-changes: {by: admin, count: 1}}]",
    );
}

#[test]
fn systemctl_tells_of_timers_and_of_services_that_failed() {
    let mut bed = bed(&[], 1);
    bed.steps(
        "  - settle: {}
  - run: {unit: app/0, args: [systemd-run, --unit=a, '--on-active=1min', 'false'], says: 'Running timer as unit: a.timer'}
  - run: {unit: app/0, args: [systemd-run, --unit=b, --on-active=90, --timer-property=AccuracySec=1s, -p, Type=oneshot, --, juju-exec, app/0, 'true']}
  - run: {unit: app/0, args: [systemd-run, --unit=a, --on-active=5, 'true'], exit: 1, says: Unit a.timer was already loaded}
  - run: {unit: app/0, args: [systemctl, list-timers, --no-legend], says: a.timer a.service}
  - run: {unit: app/0, args: [systemctl, stop, b.timer]}
  - run: {unit: app/0, args: [systemctl, stop, b.timer], exit: 5, says: Unit b.timer not loaded}
  - run: {unit: app/0, args: [systemctl, is-active, b.timer], exit: 3, says: inactive}
  - advance: {seconds: 61}
  - run: {unit: app/0, args: [systemctl, is-active, a.service], exit: 3, says: failed}
  - run: {unit: app/0, args: [systemd-run, --unit=a, --on-active=5, 'true'], exit: 1, says: Unit a.service was already loaded}
  - run: {unit: app/0, args: [systemctl, reset-failed, a.service]}
  - run: {unit: app/0, args: [systemd-run, --unit=a, --on-active=5, 'true']}
  - run: {unit: app/0, args: [systemctl, is-active, snap.kubelet.daemon], says: active}",
    );
    let why = bed.try_steps("  - run: {unit: app/0, args: [systemd-run, --scope, 'true']}").unwrap_err();
    assert!(why.to_string().contains("systemd-run"), "{why:#}");
}

#[test]
fn an_outage_may_be_of_one_request_of_one_machine_and_so_many_times() {
    let mut bed = bed(&[], 2);
    bed.steps(
        "  - settle: {}
  - store: {outage: {status: 503, requests: [cohorts], unit: app/0, times: 2}}
  - run: {unit: app/1, args: [snap, create-cohort, kubelet]}
  - run: {unit: app/0, args: [snap, create-cohort, kubelet], exit: 1, says: got unexpected HTTP status code 503}
  - run: {unit: app/0, args: [snap, refresh, kubelet]}
  - run: {unit: app/0, args: [snap, create-cohort, kubelet], exit: 1}
  - run: {unit: app/0, args: [snap, create-cohort, kubelet]}
  - store: {slow: 40, outage: {says: 'Cohort key rejected', requests: [refresh]}}
  - run: {unit: app/1, args: [snap, refresh, kubelet], exit: 1, says: Cohort key rejected}
  - store: {outage: none}",
    );
    let dump = bed.sim.world.dump();
    assert_eq!(dump["store"]["faults"], serde_json::json!([]));
    assert_eq!(dump["store"]["cohorts"].as_object().unwrap().len(), 2);
    let change = &dump["machines"]["0"]["snapd"]["changes"][0];
    assert_eq!(
        (change["by"]["by"].as_str(), change["moves"][0]["to"]["revision"].as_str()),
        (Some("admin"), Some("43"))
    );
    assert_eq!(change["by"]["argv"], serde_json::json!(["snap", "refresh", "kubelet"]));
}
