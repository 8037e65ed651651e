//! Hooks of real processes: what they are given, in which order they come, and what becomes of what they wrote.

use crate::support::{Bed, PRINCIPAL, SUBORDINATE, Script};
use juju_sim::sim::{Outcome, Settle};
use juju_sim::world::{HookKind, Life, Pending};

#[test]
fn a_hook_is_given_exactly_jujus_environment() {
    let mut bed = Bed::new("3.6.9");
    let body = "/usr/bin/env | /usr/bin/sort; echo \"zero=$0 args=$#\"; read line || echo no stdin; pwd";
    bed.deploy(SUBORDINATE, &[("hooks/peers-relation-created", body)], 0);
    bed.deploy_known("k8s", 1).steps("  - integrate: [k8s, keep:cos-agent]").settle();
    let charm = "/var/lib/juju/agents/unit-keep-0/charm";
    let lines = bed.printed("keep/0");
    let shown: Vec<&str> =
        lines.iter().map(String::as_str).filter(|l| !l.starts_with("JUJU_CONTEXT_ID=")).collect();
    assert_eq!(
        shown,
        [
            "APT_LISTCHANGES_FRONTEND=none",
            &format!("CHARM_DIR={charm}"),
            "CLOUD_API_VERSION=",
            "DEBIAN_FRONTEND=noninteractive",
            "JUJU_AGENT_SOCKET_ADDRESS=/var/lib/juju/agents/unit-keep-0/agent.socket",
            "JUJU_AGENT_SOCKET_NETWORK=unix",
            "JUJU_API_ADDRESSES=10.0.0.2:17070 10.0.0.3:17070 10.0.0.4:17070",
            "JUJU_AVAILABILITY_ZONE=",
            &format!("JUJU_CHARM_DIR={charm}"),
            "JUJU_CHARM_FTP_PROXY=",
            "JUJU_CHARM_HTTPS_PROXY=",
            "JUJU_CHARM_HTTP_PROXY=",
            "JUJU_CHARM_NO_PROXY=",
            "JUJU_DISPATCH_PATH=hooks/peers-relation-created",
            "JUJU_HOOK_NAME=peers-relation-created",
            "JUJU_MACHINE_ID=0",
            "JUJU_METER_INFO=not set",
            "JUJU_METER_STATUS=AMBER",
            "JUJU_MODEL_NAME=harbor",
            "JUJU_MODEL_UUID=7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41",
            "JUJU_PRINCIPAL_UNIT=k8s/0",
            "JUJU_RELATION=peers",
            "JUJU_RELATION_ID=peers:0",
            "JUJU_REMOTE_APP=keep",
            "JUJU_REMOTE_UNIT=",
            "JUJU_SLA=unsupported",
            "JUJU_UNIT_NAME=keep/0",
            "JUJU_VERSION=3.6.9",
            "LANG=C.UTF-8",
            "PATH=/var/lib/juju/tools/unit-keep-0:/usr/bin:/usr/bin:/bin",
            // The shell itself adds this one.
            &format!("PWD={charm}"),
            "TERM=tmux-256color",
            &format!("zero={charm}/hooks/peers-relation-created args=0"),
            "no stdin",
            charm,
        ]
    );
    let context =
        lines.iter().find_map(|l| l.strip_prefix("JUJU_CONTEXT_ID=keep/0-peers-relation-created-")).unwrap();
    assert!(context.len() == 32 && context.bytes().all(|b| b.is_ascii_hexdigit()), "{context}");
}

#[test]
fn a_principal_has_an_empty_principal_unit_and_4_0_has_no_meter() {
    let mut bed = Bed::new("4.0.1");
    bed.deploy(PRINCIPAL, &[("hooks/install", "/usr/bin/env")], 1).settle();
    let lines = bed.printed("app/0");
    assert!(lines.contains(&"JUJU_PRINCIPAL_UNIT=".to_owned()), "{lines:?}");
    assert!(!lines.iter().any(|l| l.starts_with("JUJU_METER") || l.starts_with("JUJU_SLA")), "{lines:?}");
}

#[test]
fn a_link_is_run_by_its_own_name_and_a_dangling_one_is_missing() {
    let mut bed = Bed::new("3.6.9");
    let dir = Script { metadata: PRINCIPAL, files: &[("run", "echo \"as $0\"")] }
        .write(&bed.dir.path().join("app"));
    std::os::unix::fs::symlink("../run", dir.join("hooks/install")).unwrap();
    std::os::unix::fs::symlink("../nowhere", dir.join("hooks/start")).unwrap();
    std::fs::write(dir.join("hooks/config-changed"), "#!/bin/sh\n").unwrap();
    bed.sim.add_charm("app", &dir).unwrap();
    bed.deploy_known("app", 1).settle();
    assert_eq!(bed.printed("app/0")[0], "as /var/lib/juju/agents/unit-app-0/charm/hooks/install");
    let outcome = |name: &str| bed.records().find(|r| r.name == name).map(|r| r.outcome.clone());
    assert_eq!(outcome("peers-relation-created"), Some(Outcome::Missing));
    // Juju itself makes known hooks executable when it unpacks a charm.
    assert_eq!(outcome("config-changed"), Some(Outcome::Done));
    assert_eq!(outcome("start"), Some(Outcome::Missing));
    assert_eq!(bed.sim.world.units["app/0"].workload.status, "unknown");
}

#[test]
fn a_file_without_the_executable_bit_fails_the_hook() {
    let mut bed = Bed::new("3.6.9");
    let dir = Script { metadata: PRINCIPAL, files: &[("hooks/start", "exit 0")] }
        .write(&bed.dir.path().join("app"));
    std::fs::write(dir.join("dispatch"), "#!/bin/sh\n").unwrap();
    bed.sim.add_charm("app", &dir).unwrap();
    bed.deploy_known("app", 1)
        .steps("  - hook: {unit: app/0}\n  - expect: [{hook-failed: {unit: app/0, hook: install}}]");
    let why = bed.records().next().unwrap().outcome.clone();
    assert_eq!(
        why,
        Outcome::Failed(
            "hook \"install\" (via hook dispatching script: dispatch) failed: permission denied".to_owned()
        )
    );
}

#[test]
fn dispatch_runs_for_everything() {
    let mut bed = Bed::new("3.6.9");
    let files = [
        ("dispatch", "echo \"$JUJU_DISPATCH_PATH $JUJU_HOOK_NAME\""),
        ("hooks/install", "echo never"),
        ("actions.yaml", "show: {description: d}"),
    ];
    bed.deploy(PRINCIPAL, &files, 1).settle().steps("  - action: {unit: app/0, name: show}");
    let lines = bed.printed("app/0");
    assert_eq!(lines[0], "hooks/install install");
    assert_eq!(bed.sim.world.actions[&1].results["stdout"], "actions/show \n");
    assert!(lines.contains(&"hooks/peers-relation-created peers-relation-created".to_owned()));
}

#[test]
fn hooks_come_in_the_order_of_a_deployment() {
    for seed in 0..20 {
        let mut bed = Bed::seeded("3.6.9", seed);
        bed.deploy(PRINCIPAL, &[], 2).deploy_known("db", 1);
        bed.steps(
            "  - integrate: [app, db]\n  - databag: {relation: [app:db, db:sql], app: db, set: {a: 1}}",
        )
        .settle();
        let leader = bed.sim.world.leader_of("app").unwrap().to_owned();
        for unit in ["app/0", "app/1"] {
            let other = if unit == "app/0" { "app/1" } else { "app/0" };
            let mut hooks = bed.hooks(unit);
            hooks[1..3].sort();
            let third = if leader == unit { "leader-elected" } else { "leader-settings-changed" };
            assert_eq!(
                hooks,
                [
                    "install",
                    "db-relation-created db",
                    "peers-relation-created app",
                    third,
                    "config-changed",
                    "start",
                    // Application data that was there early comes before the first unit.
                    "db-relation-changed db",
                    "db-relation-joined db/0",
                    "db-relation-changed db/0",
                    &format!("peers-relation-joined {other}"),
                    &format!("peers-relation-changed {other}"),
                ],
                "seed {seed}"
            );
        }
    }
}

#[test]
fn orders_that_juju_leaves_free_depend_on_the_seed_alone() {
    let run = |seed| {
        let mut bed = Bed::seeded("3.6.9", seed);
        bed.deploy(PRINCIPAL, &[("hooks/install", "echo $JUJU_CONTEXT_ID")], 3).deploy_known("db", 1);
        bed.steps("  - integrate: [app, db]").settle();
        serde_json::to_string(&bed.sim.events).unwrap() + &bed.sim.world.dump().to_string()
    };
    assert_eq!(run(5), run(5));
    let different: std::collections::BTreeSet<String> = (0..5).map(run).collect();
    assert_eq!(different.len(), 5);
}

#[test]
fn a_failed_hook_loses_what_it_buffered_and_keeps_what_it_said() {
    let mut bed = Bed::new("3.6.9");
    let body = "relation-set -r peers:0 a=1; relation-set -r peers:0 --app b=1; state-set c=1; open-port 80; status-set blocked why; application-version-set 2; juju-log loud; exit 3";
    bed.deploy(PRINCIPAL, &[("hooks/config-changed", body)], 1);
    bed.steps("  - settle: {retries: 0}\n  - expect:\n    - hook-failed: {unit: app/0, hook: config-changed}\n    - databag: {relation: [app:peers], unit: app/0, empty: true}\n    - databag: {relation: [app:peers], app: app, empty: true}\n    - state: {unit: app/0, lacks: [c]}\n    - ports: {unit: app/0, are: []}\n    - version: {unit: app/0, is: '2'}\n    - status-history: {unit: app/0, has: ['blocked: why']}\n    - log: {unit: app/0, level: INFO, contains: loud}\n    - status: {unit: app/0, is: error, message: 'hook failed: \"config-changed\"'}\n    - log: {unit: app/0, level: ERROR, contains: 'hook \"config-changed\" (via explicit, bespoke hook script) failed: exit status 3'}");
}

#[test]
fn a_refused_commit_fails_the_hook_and_the_retry_succeeds() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "state-set a=1")], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, fail-commit: true}\n  - settle: {retries: 0}\n  - expect:\n    - hook-failed: {unit: app/0, hook: start}\n    - log: {contains: 'cannot apply changes: '}\n    - state: {unit: app/0, lacks: [a]}\n  - settle: {}\n  - expect:\n    - state: {unit: app/0, has: {a: '1'}}\n    - status: {unit: app/0, is: unknown}");
}

#[test]
fn a_failed_hook_blocks_all_others_but_no_action() {
    let mut bed = Bed::new("3.6.9");
    let files = [
        ("hooks/config-changed", "config=$(config-get n); test \"$config\" != 1"),
        ("config.yaml", "options: {n: {type: int, default: 0}}"),
        ("actions.yaml", "show: {description: d}"),
        ("actions/show", "echo hello"),
    ];
    bed.deploy(PRINCIPAL, &files, 1).settle();
    bed.steps("  - config: {application: app, set: {n: 1}}\n  - settle: {retries: 0}\n  - mark: failed");
    bed.deploy_known("db", 1);
    bed.steps("  - integrate: [app, db]\n  - update-status: {units: all}\n  - settle: {retries: 0}\n  - action: {unit: app/0, name: show}\n  - expect:\n    - hooks: {unit: app/0, since: failed, sequence: []}\n    - action: {as: show, status: completed, result: {stdout: \"hello\\n\", return-code: 0}}");
    // It is tried again after 5 s, 10 s, 20 s, with the data that there is then.
    bed.steps("  - settle: {}\n  - expect: [{hook-failed: {unit: app/0, hook: config-changed}}]");
    let times: Vec<u64> = bed.records().filter(|r| r.name == "config-changed").map(|r| r.time.0).collect();
    let gaps: Vec<u64> = times.windows(2).skip(1).map(|w| (w[1] - w[0]) / 1000).collect();
    assert_eq!(gaps[..3], [5, 10, 20]);
    assert!(matches!(bed.sim.world.units["app/0"].uniter.pending, Pending::Failed { attempts: 4, .. }));
    bed.steps("  - config: {application: app, set: {n: 2}}\n  - settle: {}\n  - expect:\n    - hooks: {unit: app/0, since: failed, has: [config-changed, db-relation-created db, db-relation-joined db/0]}\n    - agent-status: {unit: app/0, is: idle}");
}

#[test]
fn a_skipped_hook_counts_as_done() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/install", "exit 1")], 1);
    bed.steps("  - settle: {retries: 0}\n  - resolve: {unit: app/0, retry: false}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, has: [install, config-changed, start]}}]");
}

#[test]
fn leadership_lost_between_call_and_commit_fails_the_hook() {
    let mut bed = Bed::new("3.6.9");
    let body = "if test \"$(is-leader)\" = True; then relation-set -r peers:0 --app a=1; juju-log x; fi";
    bed.deploy(PRINCIPAL, &[("hooks/config-changed", body), ("config.yaml", "options: {n: {type: int}}")], 2)
        .settle();
    bed.steps("  - leader: {unit: app/0}\n  - settle: {}\n  - mark: before\n  - config: {application: app, set: {n: 1}}\n  - fault: {unit: app/0, hook: config-changed, lose-leadership-at-call: 3}\n  - hook: {unit: app/0}\n  - expect:\n    - hook-failed: {unit: app/0}\n    - log: {contains: 'cannot apply changes: checking leadership continuity: \"app/0\" is not leader of \"app\"'}\n    - leader: {application: app, is: app/1}\n  - settle: {}\n  - expect:\n    - databag: {relation: [app:peers], app: app, has: {a: '1'}}\n    - hooks: {unit: app/1, since: before, has: [leader-elected]}\n    - hooks: {unit: app/0, since: before, lacks: [leader-elected]}");
}

#[test]
fn the_lease_of_a_dead_machine_runs_out() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 2).settle();
    bed.steps("  - leader: {unit: app/0}\n  - settle: {}\n  - machine-dead: {unit: app/0}\n  - advance: {seconds: 30}\n  - expect: [{leader: {application: app, is: app/0}}]\n  - advance: {seconds: 31}\n  - settle: {}\n  - expect: [{leader: {application: app, is: app/1}}]");
    assert_eq!(bed.hooks("app/1").last().map(String::as_str), Some("leader-elected"));
}

#[test]
fn leader_elected_is_left_out_if_leadership_is_lost_before_it() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/leader-elected", "exit 1")], 2);
    bed.steps("  - settle: {retries: 0}");
    let first = bed.sim.world.leader_of("app").unwrap().to_owned();
    let second = if first == "app/0" { "app/1" } else { "app/0" };
    bed.steps(&format!("  - expect: [{{hook-failed: {{unit: {first}, hook: leader-elected}}}}]\n  - mark: m\n  - leader: {{unit: {second}}}\n  - hook: {{unit: {first}}}\n  - expect: [{{hooks: {{unit: {first}, since: m, lacks: [leader-elected]}}}}, {{agent-status: {{unit: {first}, is: idle}}}}]"));
}

#[test]
fn changes_coalesce_and_a_write_of_the_same_value_wakes_nobody() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).deploy_known("db", 1);
    let databag = |owner: &str, value: &str| {
        format!("  - databag: {{relation: [app:db, db:sql], {owner}, set: {{a: '{value}'}}}}\n")
    };
    bed.steps("  - integrate: [app, db]\n  - settle: {}\n  - mark: m");
    bed.steps(
        &(databag("unit: db/0", "1")
            + &databag("unit: db/0", "2")
            + &databag("unit: db/0", "3")
            + &databag("app: db", "1")),
    );
    bed.settle().steps("  - expect: [{hooks: {unit: app/0, since: m, sequence: [db-relation-changed db, db-relation-changed db/0]}}]\n  - mark: n");
    bed.steps(&databag("unit: db/0", "3"))
        .settle()
        .steps("  - expect: [{hooks: {unit: app/0, since: n, sequence: []}}]");
}

#[test]
fn a_leader_is_woken_by_its_own_peer_application_data() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(
        PRINCIPAL,
        &[
            ("hooks/leader-elected", "relation-set -r peers:0 --app a=1"),
            ("hooks/peers-relation-changed", "echo \"[$JUJU_REMOTE_APP] [$JUJU_REMOTE_UNIT]\""),
        ],
        1,
    );
    bed.settle();
    assert_eq!(bed.hooks("app/0").last().map(String::as_str), Some("peers-relation-changed app"));
    assert_eq!(bed.printed("app/0"), ["[app] []"]);
}

#[test]
fn a_subordinate_sees_only_its_own_principal() {
    let mut bed = Bed::new("3.6.9");
    let body = "echo \"$(relation-ids cos-agent) $(relation-list) ${JUJU_PRINCIPAL_UNIT}\"; for u in k8s/0 k8s/1; do relation-get ingress-address $u 2>&1 || true; done";
    bed.deploy(SUBORDINATE, &[("hooks/cos-agent-relation-joined", body)], 0).deploy_known("k8s", 2);
    bed.steps("  - deploy: {charm: k8s, application: worker, units: 1}\n  - integrate: [k8s:cos-agent, keep]\n  - integrate: [worker:cos-agent, keep]\n  - settle: {}");
    let unit = bed.sim.unit_named("keep@k8s/0").unwrap();
    assert_eq!(
        bed.printed(&unit),
        [
            "cos-agent:1 k8s/0 k8s/0",
            "10.1.0.10",
            "ERROR cannot read settings for unit \"k8s/1\" in relation \"keep:cos-agent k8s:cos-agent\": unit \"k8s/1\": settings not found",
        ]
    );
    let worker = bed.sim.unit_named("keep@worker/0").unwrap();
    assert_eq!(bed.printed(&worker)[0], "cos-agent:2 worker/0 worker/0");
    assert_eq!(bed.sim.world.units[&worker].machine, bed.sim.world.units["worker/0"].machine);
}

#[test]
fn juju_info_runs_no_hooks_beside_a_real_principal() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).deploy(SUBORDINATE, &[], 0);
    assert!(bed.try_steps("  - integrate: [app, keep:cos-agent]").is_err());
    bed.steps("  - settle: {}\n  - integrate: [app:juju-info, keep:node]\n  - settle: {}\n  - expect: [{hooks: {unit: keep/0, has: [install, node-relation-created app, start, node-relation-joined app/0]}}]");
    assert!(!bed.hooks("app/0").iter().any(|hook| hook.contains("juju-info")));
    bed.steps("  - remove-relation: {relation: [app:juju-info, keep:node]}\n  - settle: {}\n  - expect:\n    - exists: {unit: keep/0, not: true}\n    - exists: {relation: [app:juju-info, keep:node], not: true}\n    - exists: {unit: app/0}");
}

#[test]
fn a_leaving_unit_is_departed_at_once_and_leaves_its_peers_last() {
    let mut bed = Bed::new("3.6.9");
    let body = "echo \"$JUJU_REMOTE_UNIT leaves, departing $JUJU_DEPARTING_UNIT, left: $(relation-list)\"";
    bed.deploy(
        SUBORDINATE,
        &[("hooks/peers-relation-departed", body), ("hooks/cos-agent-relation-departed", body)],
        0,
    );
    bed.deploy_known("k8s", 3).steps("  - integrate: [k8s:cos-agent, keep]\n  - settle: {}");
    let units: Vec<String> = (0..3).map(|n| bed.sim.unit_named(&format!("keep@k8s/{n}")).unwrap()).collect();
    bed.steps("  - mark: m\n  - remove-unit: {unit: k8s/0}");
    // The others may well be told before the leaving unit has run anything.
    bed.steps(&format!("  - hook: {{unit: {}}}", units[1]));
    assert!(
        bed.sim.world.units.contains_key(&units[0]) && bed.sim.world.units[&units[0]].life == Life::Dying
    );
    bed.settle();
    let mut others = [units[1].as_str(), &units[2]];
    others.sort();
    bed.steps(&format!(
        "  - expect:\n    - hooks: {{unit: {}, since: m, sequence: [cos-agent-relation-departed k8s/0, cos-agent-relation-broken k8s, peers-relation-departed {}, peers-relation-departed {}, stop, remove]}}\n    - exists: {{unit: {}, not: true}}\n    - exists: {{unit: k8s/0, not: true}}",
        units[0], others[0], others[1], units[0]
    ));
    let gone = &units[0];
    assert_eq!(
        bed.printed(gone),
        [
            format!("k8s/0 leaves, departing {gone}, left: "),
            format!("{} leaves, departing {gone}, left: {}", others[0], others[1]),
            format!("{} leaves, departing {gone}, left: ", others[1]),
        ]
    );
    assert_eq!(bed.printed(&units[1]), [format!("{gone} leaves, departing {gone}, left: {}", units[2])]);
    assert!(!bed.sim.world.machines.contains_key("0"));
}

#[test]
fn a_dying_leader_leads_until_it_is_gone() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/stop", "is-leader")], 2).settle();
    let leader = bed.sim.world.leader_of("app").unwrap().to_owned();
    bed.steps(&format!("  - remove-unit: {{unit: {leader}}}")).settle();
    assert_eq!(bed.printed(&leader), ["True"]);
    let next = bed.sim.world.leader_of("app").unwrap().to_owned();
    assert_ne!(next, leader);
    assert!(bed.hooks(&next).contains(&"leader-elected".to_owned()));
    let settled = bed.records().position(|r| r.unit == leader && r.name == "stop").unwrap();
    let after: Vec<&str> =
        bed.records().skip(settled).filter(|r| r.unit == leader).map(|r| r.name.as_str()).collect();
    assert_eq!(after, ["stop", "remove"]);
}

#[test]
fn removing_a_relation_departs_the_other_side_and_breaks() {
    let mut bed = Bed::new("3.6.9");
    let broken = "echo \"[$JUJU_REMOTE_APP] [$JUJU_REMOTE_UNIT] ids: $(relation-ids db) list: $(relation-list) own: $(relation-get -r $JUJU_RELATION_ID a app/0)\"";
    let files = [
        ("hooks/db-relation-created", "relation-set a=1"),
        ("hooks/db-relation-departed", "echo \"$JUJU_DEPARTING_UNIT\""),
        ("hooks/db-relation-broken", broken),
    ];
    for restart in [false, true] {
        let mut bed_ = Bed::new("3.6.9");
        std::mem::swap(&mut bed, &mut bed_);
        bed.deploy(PRINCIPAL, &files, 1)
            .deploy_known("db", 1)
            .steps("  - integrate: [app, db]\n  - settle: {}");
        if restart {
            bed.steps("  - agent-restart: {unit: app/0}");
        }
        bed.steps("  - remove-relation: {relation: [app:db, db:sql]}\n  - settle: {}\n  - expect: [{exists: {relation: [app:db, db:sql], not: true}}]");
        let app = if restart { "" } else { "db" };
        assert_eq!(bed.printed("app/0"), ["db/0".to_owned(), format!("[{app}] [] ids:  list:  own: 1")]);
    }
}

#[test]
fn peers_are_never_broken_unless_the_agent_was_restarted() {
    for restart in [false, true] {
        let mut bed = Bed::new("3.6.9");
        bed.deploy(PRINCIPAL, &[], 2).settle();
        if restart {
            bed.steps("  - agent-restart: {unit: app/1}");
        }
        bed.steps("  - remove-unit: {unit: app/1}\n  - settle: {}");
        let broken = bed.hooks("app/1").iter().any(|hook| hook.starts_with("peers-relation-broken"));
        assert_eq!(broken, restart);
    }
}

#[test]
fn a_removed_application_leaves_nothing() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(SUBORDINATE, &[], 0).deploy_known("k8s", 2).steps("  - integrate: [k8s:cos-agent, keep]\n  - settle: {}\n  - remove-application: {application: keep}\n  - settle: {}\n  - expect: [{exists: {application: keep, not: true}}, {exists: {application: k8s}}]");
    assert!(bed.sim.world.relations.is_empty());
}

#[test]
fn a_unit_that_comes_back_has_a_fresh_bag() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).deploy_known("db", 1).steps("  - integrate: [app, db]\n  - databag: {relation: [app:db, db:sql], unit: db/0, set: {a: 1}}\n  - settle: {}");
    let before = bed.sim.world.relations[&1].units["db/0"].bag.version;
    bed.sim.world.leave_scope(1, "db/0");
    bed.settle();
    assert_eq!(bed.bag(1, "db/0")["a"], "1", "readable until the relation goes");
    bed.sim.world.units.get_mut("db/0").unwrap().uniter.relations.clear();
    bed.sim.world.enter_scopes("db/0");
    bed.settle();
    assert!(!bed.bag(1, "db/0").contains_key("a"));
    assert!(bed.sim.world.relations[&1].units["db/0"].bag.version > before);
    let hooks = bed.hooks("app/0");
    assert_eq!(
        hooks[hooks.len() - 3..],
        ["db-relation-departed db/0", "db-relation-joined db/0", "db-relation-changed db/0"]
    );
}

#[test]
fn a_refresh_swaps_files_and_keeps_state() {
    let mut bed = Bed::new("3.6.9");
    let files = [
        ("hooks/start", "state-set a=1; relation-set -r peers:0 b=1; echo mine > own-file"),
        ("hooks/upgrade-charm", "echo old"),
        ("lib/old", ""),
    ];
    bed.deploy(PRINCIPAL, &files, 1).settle();
    let metadata = PRINCIPAL.replace("peers:\n", "peers:\n  more: {interface: more}\n");
    let new = [(
        "hooks/upgrade-charm",
        "echo new $(state-get a) $(relation-get -r peers:0 b app/0); test ! -e lib/old; test -e own-file",
    )];
    let path = Script { metadata: &metadata, files: &new }.write(&bed.dir.path().join("new"));
    bed.steps(&format!("  - mark: m\n  - refresh: {{application: app, path: {}}}\n  - settle: {{}}\n  - expect: [{{no-hook-errors: true}}]", path.display()));
    let hooks = bed.hooks("app/0");
    let upgraded = hooks.iter().position(|hook| hook == "upgrade-charm").unwrap();
    assert_eq!(hooks[upgraded + 1..], ["config-changed", "more-relation-created app"]);
    assert_eq!(bed.printed("app/0"), ["new 1 1"]);
    assert_eq!(bed.sim.world.applications["app"].charm.revision, 1);
}

#[test]
fn a_unit_in_error_takes_new_files_only_by_force_and_without_upgrade_charm() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "exit 1")], 1).steps("  - settle: {retries: 0}");
    let path = Script { metadata: PRINCIPAL, files: &[("hooks/start", "echo good")] }
        .write(&bed.dir.path().join("new"));
    let path = path.display();
    bed.steps(&format!("  - refresh: {{application: app, path: {path}}}\n  - settle: {{retries: 1}}\n  - expect: [{{hook-failed: {{unit: app/0, hook: start}}}}]"));
    bed.steps(&format!("  - refresh: {{application: app, path: {path}, force-units: true}}\n  - settle: {{}}\n  - expect: [{{status: {{unit: app/0, is: unknown}}}}, {{hooks: {{unit: app/0, lacks: [upgrade-charm]}}}}]"));
    assert_eq!(bed.printed("app/0").last().map(String::as_str), Some("good"));
}

#[test]
fn config_changed_also_tells_of_a_new_address() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("config.yaml", "options: {n: {type: int}}")], 2).settle();
    bed.steps("  - mark: m\n  - config: {application: app, set: {n: 1}}\n  - config: {application: app, set: {n: null}}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, since: m, sequence: []}}]\n  - address-change: {unit: app/0, address: 10.9.9.9}\n  - settle: {}\n  - expect:\n    - hooks: {unit: app/0, since: m, sequence: [config-changed]}\n    - hooks: {unit: app/1, since: m, sequence: [peers-relation-changed app/0]}\n    - databag: {relation: [app:peers], unit: app/0, has: {ingress-address: 10.9.9.9, egress-subnets: 10.9.9.9/32, private-address: 10.9.9.9}}");
}

#[test]
fn update_status_runs_when_idle_and_any_hook_cancels_it() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("config.yaml", "options: {n: {type: int}}")], 1).settle();
    bed.steps("  - mark: m\n  - advance: {minutes: 3}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, since: m, sequence: []}}]\n  - advance: {minutes: 4}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, since: m, sequence: [update-status]}}]\n  - mark: n\n  - update-status: {units: [app/0]}\n  - config: {application: app, set: {n: 1}}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, since: n, sequence: [config-changed]}}]");
}

#[test]
fn a_killed_hook_runs_again_without_an_error() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "state-set a=1; status-set active; juju-log x")], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, kill-at-call: 2}\n  - settle: {}\n  - expect: [{no-hook-errors: true}, {hooks: {unit: app/0, has: [start, start]}}, {state: {unit: app/0, has: {a: '1'}}}]");
    let starts: Vec<_> = bed.records().filter(|r| r.name == "start").collect();
    assert!(
        matches!(starts[0].outcome, Outcome::Killed(_))
            && starts[0].statuses.is_empty()
            && starts[0].state.is_empty()
    );
    assert_eq!(starts[1].outcome, Outcome::Done);
}

#[test]
fn a_hook_that_kills_itself_is_judged_by_version_and_signal() {
    for (juju, signal, failed) in
        [("3.6.9", "KILL", false), ("3.1.0", "KILL", true), ("3.6.9", "TERM", false), ("3.6.9", "ABRT", true)]
    {
        let mut bed = Bed::new(juju);
        let body = format!("test -e ../once && exit 0; echo > ../once; kill -{signal} $$");
        bed.deploy(PRINCIPAL, &[("hooks/install", &body)], 1).settle();
        let installs: Vec<_> =
            bed.records().filter(|r| r.name == "install").map(|r| r.outcome.clone()).collect();
        assert_eq!(installs.len(), 2);
        assert_eq!(matches!(installs[0], Outcome::Failed(_)), failed, "{juju} {signal}: {installs:?}");
    }
}

#[test]
fn a_hook_whose_agent_died_is_an_error_first() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "juju-log a; juju-log b")], 1);
    bed.steps("  - fault: {unit: app/0, hook: start, kill-at-call: 2, by: agent}\n  - settle: {retries: 0}\n  - expect: [{hook-failed: {unit: app/0, hook: start}}]\n  - settle: {}\n  - expect: [{agent-status: {unit: app/0, is: idle}}]");
}

#[test]
fn a_reboot_owes_every_started_unit_a_start() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 2).settle();
    bed.steps("  - mark: m\n  - reboot: {unit: app/0}\n  - settle: {}\n  - expect: [{hooks: {unit: app/0, since: m, sequence: [start]}}, {hooks: {unit: app/1, since: m, sequence: []}}]");
    let mut bed = Bed::new("3.6.9");
    let body = "state-set a=1; test -e ../once && exit 0; echo > ../once; juju-reboot --now; echo never";
    bed.deploy(PRINCIPAL, &[("hooks/config-changed", body)], 1).settle();
    assert!(!bed.printed("app/0").contains(&"never".to_owned()));
    bed.steps("  - expect: [{no-hook-errors: true}, {hooks: {unit: app/0, has: [config-changed, config-changed, start]}}]");
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "test -e ../once && exit 0; echo > ../once; juju-reboot")], 1)
        .settle();
    bed.steps("  - expect: [{hooks: {unit: app/0, has: [start, start]}}]");
}

#[test]
fn juju_writes_statuses_of_its_own() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1).settle().steps("  - remove-unit: {unit: app/0}");
    let mut history = Vec::new();
    while let Some(unit) = bed.sim.world.units.get("app/0") {
        history = unit.history.iter().filter(|h| h.kind == "workload").map(|h| h.info.to_string()).collect();
        bed.sim.settle(Settle { hooks: Some(1), retries: 0 }).unwrap();
    }
    assert_eq!(
        history,
        [
            "waiting: waiting for machine",
            "maintenance: installing charm software",
            "unknown",
            "maintenance: stopping charm software",
            "maintenance",
            "maintenance: cleaning up prior to charm deletion",
            "terminated",
        ]
    );
}

#[test]
fn actions_report_and_commit() {
    let mut bed = Bed::new("3.6.9");
    let files = [
        (
            "actions.yaml",
            "show:\n  description: d\n  params: {size: {type: integer, default: 3}}\nbad: {description: d}\nnone: {description: d}\n",
        ),
        (
            "actions/show",
            "echo out; echo err >&2; echo \"$JUJU_ACTION_NAME $JUJU_ACTION_UUID $JUJU_ACTION_TAG [$JUJU_HOOK_NAME] $JUJU_DISPATCH_PATH\"; action-set a.b=\"$(action-get size)\"; state-set x=1; action-fail no",
        ),
        ("actions/bad", "state-set y=1; exit 4"),
    ];
    bed.deploy(PRINCIPAL, &files, 1).settle();
    bed.steps("  - action: {unit: app/leader, name: show, as: first}\n  - expect:\n    - action: {as: first, status: failed, message-contains: no, result: {a.b: '3', return-code: 0, stderr: \"err\\n\"}, output-contains: 'show 1 action-1 [] actions/show'}\n    - state: {unit: app/0, has: {x: '1'}}\n  - action: {unit: app/0, name: bad}\n  - expect:\n    - action: {as: bad, status: failed, message-contains: exit status 4, result: {return-code: 4}}\n    - state: {unit: app/0, lacks: [y]}\n    - agent-status: {unit: app/0, is: idle}\n  - action: {unit: app/0, name: none}\n  - expect: [{action: {as: none, status: failed, message-contains: 'action not implemented on unit \"app/0\"'}}]\n  - action: {unit: app/0, name: unknown}\n  - expect: [{action: {as: unknown, status: failed, message-contains: 'cannot run \"unknown\" action: not defined'}}]\n  - action: {unit: app/0, name: show, params: {size: big}, as: wrong}\n  - expect: [{action: {as: wrong, status: failed, message-contains: 'validation failed'}}]\n  - fault: {unit: app/0, hook: show, fail-commit: true}\n  - action: {unit: app/0, name: show, as: refused}\n  - expect: [{action: {as: refused, status: failed, message-contains: committing requested changes failed}}, {agent-status: {unit: app/0, is: idle}}]");
}

#[test]
fn undeclared_parameters_are_rejected_from_4_0_on() {
    for (juju, status) in [("3.6.9", "completed"), ("4.0.1", "failed")] {
        let mut bed = Bed::new(juju);
        bed.deploy(PRINCIPAL, &[("actions.yaml", "show: {description: d}"), ("actions/show", "echo")], 1)
            .settle();
        bed.steps(&format!("  - action: {{unit: app/0, name: show, params: {{x: 1}}}}\n  - expect: [{{action: {{as: show, status: {status}}}}}]"));
    }
}

#[test]
fn a_command_line_runs_in_the_units_context() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(
        PRINCIPAL,
        &[(
            "tool",
            "echo \"$1 [$JUJU_HOOK_NAME] ${JUJU_DISPATCH_PATH-unset} ${JUJU_RELATION-unset}\"; state-set a=1",
        )],
        1,
    )
    .settle();
    bed.steps("  - exec: {unit: app/0, args: [$CHARM/tool, pass]}\n  - expect: [{state: {unit: app/0, has: {a: '1'}}}]\n  - exec: {unit: app/0, args: [/usr/bin/false], fails: true}");
    assert_eq!(bed.printed("app/0"), ["pass [] unset unset"]);
}

#[test]
fn one_machine_runs_one_hook_and_another_machine_runs_its_own_meanwhile() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/update-status", "juju-log one; juju-log two")], 2).settle();
    bed.steps("  - update-status: {units: all}\n  - fault: {unit: app/0, hook: update-status, at-call: {call: 2, do: [{hook: {unit: app/1}}]}}\n  - hook: {unit: app/0}");
    let last: Vec<_> = bed
        .records()
        .filter(|r| r.name == "update-status")
        .map(|r| (r.unit.as_str(), r.during.as_deref()))
        .collect();
    assert_eq!(last, [("app/1", Some("app/0 update-status")), ("app/0", None)]);
    bed.deploy(SUBORDINATE, &[], 0).steps("  - integrate: [app:juju-info, keep:node]\n  - settle: {}");
    let beside = bed.sim.unit_named("keep@app/0").unwrap();
    let result = bed.try_steps(&format!("  - update-status: {{units: all}}\n  - fault: {{unit: app/0, hook: update-status, at-call: {{call: 2, do: [{{hook: {{unit: {beside}}}}}]}}}}\n  - hook: {{unit: app/0}}"));
    assert!(format!("{:#}", result.unwrap_err()).contains("machine 0 already runs a hook"));
}

#[test]
fn the_clock_is_a_file_that_moves_during_a_call() {
    let mut bed = Bed::new("3.6.9");
    let body = "clock=${JUJU_CHARM_DIR%/var/lib/juju/*}/run/clock; read a < $clock; juju-log x; read b < $clock; echo $a $b";
    bed.deploy(PRINCIPAL, &[("hooks/install", body)], 1);
    bed.steps("  - fault: {unit: app/0, advance-at-call: {call: 1, seconds: 20}}\n  - hook: {unit: app/0}");
    assert_eq!(bed.printed("app/0"), ["1762344000.100 1762344020.100"]);
}

#[test]
fn a_call_that_no_correct_charm_makes_fails_the_scenario_with_its_argv() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/install", "relation-set --nope a=1 || true")], 1);
    let error = bed.try_steps("  - settle: {}").unwrap_err();
    let text = format!("{error:#}");
    assert!(
        text.contains("app/0 in install: relation-set --nope a=1: option provided but not defined: --nope"),
        "{text}"
    );
}

#[test]
fn a_tool_that_the_version_lacks_is_not_there() {
    let mut bed = Bed::new("4.0.1");
    bed.deploy(PRINCIPAL, &[("hooks/install", "leader-get || echo exit $?")], 1).settle();
    assert!(bed.printed("app/0").contains(&"exit 127".to_owned()), "{:?}", bed.printed("app/0"));
}

#[test]
fn standard_input_reaches_a_tool_that_asks_for_it() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "echo '{\"a\": \" x \"}' | relation-set -r peers:0 --file -; echo 'b: y' > in; state-set --file in; relation-get -r peers:0 -o out a app/0; read o < out; echo \"$o\"")], 1).settle();
    assert_eq!(bed.bag(0, "app/0")["a"], " x ");
    assert_eq!(bed.sim.world.units["app/0"].state["b"], "y");
}

#[test]
fn a_stale_context_is_refused_and_a_background_child_does_not_block() {
    let mut bed = Bed::new("3.6.9");
    let body = "JUJU_CONTEXT_ID=app/0-old juju-log x || true; JUJU_CONTEXT_ID= juju-log x || true; /usr/bin/sleep 1000 &";
    bed.deploy(PRINCIPAL, &[("hooks/install", body)], 1).steps("  - hook: {unit: app/0}");
    assert_eq!(
        bed.printed("app/0"),
        ["ERROR bad request: wrong context ID; got \"app/0-old\"", "ERROR JUJU_CONTEXT_ID not set"]
    );
}

#[test]
fn output_goes_to_the_log_line_by_line() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/install", "printf '%5000s\\n' x; echo bad >&2; printf end")], 1)
        .steps("  - hook: {unit: app/0}");
    let mut lines: Vec<(String, usize)> =
        bed.sim.world.log.iter().map(|l| (l.level.to_string(), l.text.len())).collect();
    lines.sort();
    let expected = [("DEBUG", 3), ("DEBUG", 904), ("DEBUG", 4096), ("WARNING", 3)];
    assert_eq!(lines, expected.map(|(level, size)| (level.to_owned(), size)));
    assert!(bed.sim.world.log.iter().all(|l| l.module == "install"));
}

#[test]
fn output_between_two_calls_is_told_stream_by_stream() {
    let mut bed = Bed::new("3.6.9");
    let body = "echo 1; echo 2 >&2; echo 3; juju-log call; echo 4 >&2; echo 5; /usr/bin/sleep 1000 &";
    bed.deploy(PRINCIPAL, &[("hooks/install", body)], 1).steps("  - hook: {unit: app/0}");
    let lines: Vec<&str> = bed.sim.world.log.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(lines, ["1", "3", "2", "call", "5", "4"]);
}

#[test]
fn programs_of_a_machine_answer_in_and_outside_hooks() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(
        PRINCIPAL,
        &[(
            "hooks/update-status",
            "snap list || echo exit $?; /usr/bin/env -i ${PATH%%:*}/../../../../../usr/bin/snap list || true",
        )],
        1,
    )
    .settle();
    bed.steps("  - program: {unit: app/0, name: snap, answer: {exit: 3, stdout: \"no snaps\\n\"}}\n  - update-status: {units: all}\n  - settle: {}");
    assert_eq!(bed.printed("app/0"), ["no snaps", "exit 3", "no snaps"]);
}

#[test]
fn scripted_peers_beside_real_units() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(
        PRINCIPAL,
        &[(
            "hooks/peers-relation-changed",
            "test -z \"$JUJU_REMOTE_UNIT\" || echo \"$JUJU_REMOTE_UNIT $(relation-get a)\"",
        )],
        1,
    )
    .settle();
    bed.steps("  - scripted-units: {application: app, units: 12}\n  - databag: {relation: [app:peers], unit: app/10, set: {a: ten}}\n  - settle: {}");
    let printed = bed.printed("app/0");
    assert_eq!(printed.len(), 12);
    assert_eq!(printed[..3], ["app/1 ", "app/10 ten", "app/11 "], "in string order");
    bed.steps("  - databag: {relation: [app:peers], app: app, set: {t: 1}}\n  - remove-unit: {unit: app/3}\n  - settle: {}");
    let hooks = bed.hooks("app/0");
    assert_eq!(hooks[hooks.len() - 2..], ["peers-relation-departed app/3", "peers-relation-changed app"]);
    assert!(bed.try_steps("  - databag: {relation: [app:peers], unit: app/0, set: {a: 1}}").is_err());
}

#[test]
fn a_fork_goes_its_own_way() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(
        PRINCIPAL,
        &[("hooks/update-status", "n=$(state-get n); state-set n=$((n + 1)); echo $n >> ../counts")],
        1,
    )
    .settle();
    bed.steps("  - update-status: {units: all}\n  - settle: {}");
    let mut fork = bed.sim.fork(&bed.dir.path().join("fork")).unwrap();
    let tick = |sim: &mut juju_sim::sim::Sim| {
        sim.update_status(&["app/0".to_owned()]).unwrap();
        sim.settle(Settle::default()).unwrap();
    };
    tick(&mut fork);
    tick(&mut fork);
    tick(&mut bed.sim);
    assert_eq!(fork.world.units["app/0"].state["n"], "3");
    assert_eq!(bed.sim.world.units["app/0"].state["n"], "2");
    let lines = |sim: &juju_sim::sim::Sim| {
        std::fs::read_to_string(sim.paths_of("app/0").unwrap().agent("app/0").join("counts"))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!((lines(&fork), lines(&bed.sim)), (3, 2));
}

#[test]
fn an_observer_sees_the_world_after_every_hook() {
    let mut bed = Bed::new("3.6.9");
    let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let into = seen.clone();
    bed.sim.observe(move |world, event| {
        if let juju_sim::sim::Event::Hook(record) = event {
            let started = world.dump()["units"]["app/0"]["uniter"]["started"].as_bool();
            into.borrow_mut().push((record.name.clone(), started));
        }
    });
    bed.deploy(PRINCIPAL, &[], 1).settle();
    let seen = seen.borrow();
    assert_eq!(seen.first(), Some(&("install".to_owned(), Some(false))));
    assert_eq!(seen.last(), Some(&("start".to_owned(), Some(true))));
}

#[test]
fn a_cold_cache_is_emptied_before_every_hook() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1);
    let files = [
        ("hooks/start", "test ! -e ../cache; echo > ../cache"),
        ("hooks/update-status", "test ! -e ../cache && echo cold || echo warm"),
    ];
    let path = Script { metadata: &PRINCIPAL.replace("name: app", "name: other"), files: &files }
        .write(&bed.dir.path().join("other"));
    for (globs, expected) in [(vec![], "warm"), (vec!["cach?".to_owned()], "cold")] {
        let mut options = juju_sim::sim::Options::new(bed.dir.path().join(expected));
        options.tool = Some(env!("CARGO_BIN_EXE_juju-sim-tool").into());
        options.cold_cache = globs;
        let mut sim = juju_sim::sim::Sim::new(options).unwrap();
        sim.add_charm("other", &path).unwrap();
        bed.sim = sim;
        bed.deploy_known("other", 1).steps("  - settle: {}\n  - update-status: {units: all}\n  - settle: {}");
        assert_eq!(bed.printed("other/0").last().map(String::as_str), Some(expected));
    }
}

#[test]
fn a_model_that_does_not_rest_names_what_loops() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/peers-relation-changed", "n=$(relation-get -r peers:0 --app n app); test $(is-leader) = True && relation-set -r peers:0 --app n=$((n + 1))"), ("hooks/leader-elected", "relation-set -r peers:0 --app n=1")], 1);
    let error = format!("{:#}", bed.try_steps("  - settle: {}").unwrap_err());
    assert!(
        error.contains("does not come to rest within 400 hooks")
            && error.contains("times peers-relation-changed of app/0"),
        "{error}"
    );
}

#[test]
fn a_fault_that_never_comes_true_fails_the_scenario() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[], 1);
    let text = "name: n\nsteps:\n  - fault: {unit: app/0, hook: never, kill-at-call: 1}\n  - settle: {}\n";
    let scenario = juju_sim::scenario::Scenario::parse(text, bed.dir.path()).unwrap();
    let error = format!("{:#}", scenario.run(&mut bed.sim).unwrap_err());
    assert_eq!(error, "a fault never came true: in never of app/0: the process is killed at call 1");
}

#[test]
fn kinds_of_hooks_have_the_names_of_juju() {
    assert_eq!(HookKind::LeaderSettingsChanged.stem(), "leader-settings-changed");
    assert_eq!(HookKind::RelationBroken.stem(), "relation-broken");
}

#[test]
fn a_hook_is_killed_at_each_of_its_calls_in_turn() {
    let mut bed = Bed::new("3.6.9");
    let body = "state-set a=1; relation-set -r peers:0 b=1; status-set active; juju-log x";
    bed.deploy(PRINCIPAL, &[("hooks/start", body)], 1);
    let text = "  - for-each-call:\n      unit: app/0\n      hook: start\n      do:\n        - settle: {}\n        - expect:\n          - no-hook-errors: true\n          - hooks: {unit: app/0, has: [start]}\n          - state: {unit: app/0, has: {a: '1'}}\n";
    bed.steps(text);
    assert!(bed.hooks("app/0").is_empty(), "the simulation itself stays where it is");
    bed.settle();
    let mut ends = std::collections::BTreeSet::new();
    let calls = bed.sim.for_each_call("app/0", Some("update-status"), Default::default(), |sim| {
        sim.update_status(&["app/0".to_owned()])?;
        sim.settle(Settle::default())?;
        ends.insert(sim.world.end_state().to_string());
        Ok(())
    });
    assert_eq!((calls.unwrap(), ends.len()), (0, 1));
}

#[test]
fn a_fault_without_an_occasion_fails_the_scenario() {
    let fault = |fault: &str| {
        let mut bed = Bed::new("3.6.9");
        bed.deploy(PRINCIPAL, &[("hooks/install", "juju-log x; exit 1")], 1);
        let text = format!("  - fault: {{unit: app/0, hook: install, {fault}}}\n  - hook: {{unit: app/0}}");
        bed.try_steps(&text).map_err(|e| format!("{e:#}"))
    };
    assert_eq!(fault("kill-at-call: 1"), Ok(()));
    assert_eq!(fault("kill-at-call: 2, optional: true"), Ok(()));
    assert_eq!(fault("kill-at-call: 1, counting: {tool: juju-log, argv-contains: x}"), Ok(()));
    for unfit in [
        "kill-at-call: 2",
        "kill-at-call: 1, counting: {tool: is-leader}",
        "kill-at-call: 1, counting: {argv-contains: y}",
        "fail-commit: true",
        "tool-answer: {tool: is-leader}",
        "advance-at-call: {call: 9, seconds: 1}",
    ] {
        let text = fault(unfit).unwrap_err();
        assert!(text.contains("a fault never came true") && text.contains("there were 1 calls"), "{text}");
    }
}

#[test]
fn hooks_of_other_machines_run_inside_tool_calls() {
    let mut together = 0;
    for seed in 0..3 {
        let mut bed = Bed::interleaved(seed);
        let body = "relation-set -r peers:0 a=$(relation-ids peers); is-leader; state-set n=1";
        bed.deploy(PRINCIPAL, &[("hooks/peers-relation-joined", body), ("hooks/start", body)], 4).settle();
        bed.steps("  - expect: [{no-hook-errors: true}]");
        for unit in ["app/0", "app/1", "app/2", "app/3"] {
            assert_eq!(bed.bag(0, unit)["a"], "peers:0");
        }
        together += bed.records().filter(|r| r.during.is_some()).count();
    }
    assert!(together > 3, "{together}");
}

#[test]
fn a_hook_that_fails_inside_a_call_of_another_machine_is_not_retried_either() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/start", "juju-log x; test $JUJU_UNIT_NAME = app/0")], 2);
    let until_start = |unit: &str| format!("  - repeat: {{times: 4, do: [{{hook: {{unit: {unit}}}}}]}}\n");
    bed.steps(&(until_start("app/0") + &until_start("app/1")));
    bed.steps("  - fault: {unit: app/0, hook: start, at-call: {call: 1, do: [{hook: {unit: app/1}}]}}\n  - settle: {retries: 0}\n  - expect: [{hook-failed: {unit: app/1, hook: start}}]");
    assert_eq!(bed.records().filter(|r| r.name == "start" && r.unit == "app/1").count(), 1);
}

#[test]
fn a_dead_machine_is_removed_by_force() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(SUBORDINATE, &[], 0)
        .deploy_known("k8s", 2)
        .steps("  - integrate: [k8s:cos-agent, keep]\n  - settle: {}");
    let gone = bed.sim.unit_named("keep@k8s/0").unwrap();
    let stays = bed.sim.unit_named("keep@k8s/1").unwrap();
    bed.steps(&format!("  - mark: m\n  - machine-dead: {{unit: k8s/0}}\n  - remove-unit: {{unit: k8s/0, force: true}}\n  - settle: {{}}\n  - expect:\n    - exists: {{unit: {gone}, not: true}}\n    - leader: {{application: keep, is: {stays}}}\n    - hooks: {{unit: {stays}, since: m, has: [peers-relation-departed {gone}]}}"));
    assert!(bed.try_steps(&format!("  - leader: {{unit: {gone}}}")).is_err());
}

#[test]
fn the_end_of_a_run_does_not_depend_on_its_order() {
    let end = |seed| {
        let mut bed = Bed::seeded("3.6.9", seed);
        bed.deploy(PRINCIPAL, &[("hooks/start", "status-set active here; relation-set -r peers:0 a=1")], 3)
            .settle();
        bed.sim.world.end_state().to_string()
    };
    assert_eq!(end(1), end(2));
}

#[test]
fn a_fault_that_waits_comes_true_in_the_first_hook_that_makes_its_call() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/install", "juju-log x"), ("hooks/start", "is-leader; juju-log x")], 1);
    let killed = "kill-at-call: 1, counting: {tool: is-leader}";
    let refused = "fail-commit: true, counting: {tool: is-leader}";
    bed.steps(&format!(
        "  - fault: {{unit: app/0, {killed}, waits: true}}\n  - fault: {{unit: app/0, {refused}, waits: true}}\n  - settle: {{}}"
    ));
    let starts: Vec<_> = bed.records().filter(|r| r.name == "start").map(|r| &r.outcome).collect();
    assert!(matches!(starts[..], [Outcome::Killed(_), Outcome::Failed(_), Outcome::Done]), "{starts:?}");
    assert!(bed.records().filter(|r| r.name == "install").all(|r| r.outcome == Outcome::Done));
    assert!(bed.sim.armed().is_empty());
}

#[test]
fn a_command_that_a_text_tells_is_run_to_the_letter() {
    let files = [
        (
            "config.yaml",
            "options: {level: {type: int, description: d}, text: {type: string, description: d}}",
        ),
        ("actions.yaml", "mend:\n  description: d\n  params: {unit: {type: string}}"),
        ("actions/mend", "action-set next=\"then: juju config app text=NUMBER\""),
        (
            "hooks/start",
            "status-set blocked \"down: juju run app/0 mend unit=app/0, or juju config app level=NUMBER (+1 more)\"",
        ),
    ];
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &files, 1).settle();
    bed.steps("  - run-advised: {unit: app/0}\n  - run-advised: {action: mend, fill: {NUMBER: '7'}}");
    bed.steps("  - run-advised: {unit: app/0, begins: juju config, fill: {NUMBER: '7'}}");
    let config = bed.sim.world.applications["app"].config();
    assert_eq!((config["level"].as_i64(), config["text"].as_str()), (Some(7), Some("7")));
    let unfit = [
        ("{unit: app/0, begins: juju integrate}", "no command `juju integrate"),
        ("{unit: app/0, begins: juju config}", "what stands for level=NUMBER?"),
        ("{unit: app/0, begins: juju run, fill: {NUMBER: '7'}}", "nothing is said of NUMBER"),
    ];
    for (step, why) in unfit {
        let error = bed.try_steps(&format!("  - run-advised: {step}")).unwrap_err();
        assert!(format!("{error:#}").contains(why), "{error:#}");
    }
}

#[test]
fn a_charm_that_is_like_another_one_differs_in_its_files_alone() {
    let mut bed = Bed::new("3.6.9");
    bed.deploy(PRINCIPAL, &[("hooks/upgrade-charm", "cat word"), ("word", "one")], 1).settle();
    let files = [("word".to_owned(), "two".to_owned()), ("version".to_owned(), "2.0".to_owned())].into();
    bed.sim.add_charm_like("next", "app", &files).unwrap();
    bed.steps("  - refresh: {application: app, charm: next}\n  - settle: {}");
    assert_eq!(bed.printed("app/0"), ["two"]);
    assert_eq!(bed.sim.world.applications["app"].charm.version, "2.0");
}
