//! Passes on a machine: what is done in which order, what stays away, what is taken back.

use super::machine::{Case, failure, installed, lines, unit, worst};
use crate::juju::{Level, Timestamp};
use crate::observed::collection::{Failure, Occasion};
use serde_json::json;

const LOCK: &str = "LCK..opentelemetry-collector--rev80__lockstep_3";

fn running() -> Case {
    let mut case = Case::new();
    case.pass();
    case
}

#[test]
fn the_file_is_there_before_the_snap_and_the_service_starts_once_at_the_end() {
    let mut case = Case::new();
    let (steps, outcome) = case.pass();
    let expected = [
        &format!("lock {LOCK}"),
        "place true",
        "install",
        "hold",
        "read",
        "plug etc-otelcol-config",
        "plug log-observe",
        "plug home",
        "connect ledger:logs",
        "validate",
        "place true",
        "start",
    ];
    assert_eq!(steps, expected);
    assert_eq!(lines(&outcome), ["active: collecting 1 job, 1 log slot for 1 Prometheus, 1 Loki"]);
    let collected = outcome.collected.unwrap().unwrap();
    assert_eq!(collected.principals.into_iter().collect::<Vec<_>>(), [unit("ledger-db/0")]);
    assert_eq!(outcome.follow_up, Some(60));
    // And then nothing more.
    let (steps, outcome) = case.pass();
    assert_eq!((steps.join(" ").as_str(), outcome.follow_up), ("read", None));
}

#[test]
fn only_a_change_restarts_the_service() {
    let mut case = running();
    case.tells("ledger-db/0", json!([{"job_name": "b"}]), &["ledger:logs"]);
    assert_eq!(case.pass().0, ["read", "validate", "place true", "restart"]);
    case.part.certificates.insert("pem".to_owned());
    assert_eq!(case.pass().0, ["bundle true", "read", "restart"]);
    // Somebody has changed the file: it is put back.
    case.has_file("lockstep_3.yaml", "# lockstep lockstep/3\n");
    assert_eq!(case.pass().0, ["read", "place true", "restart"]);
}

#[test]
fn another_collector_is_yielded_to_and_taken_over_from() {
    for rival in ["file", "lock", "agent"] {
        let mut case = running();
        match rival {
            "file" => case.has_file("otelcol_0.yaml", "extensions:\n"),
            "lock" => drop(
                case.part
                    .machine
                    .locks
                    .insert("LCK..opentelemetry-collector--rev80__otelcol_0".to_owned(), None),
            ),
            _ => case.part.machine.agent = true,
        }
        let (steps, outcome) = case.pass();
        let removes = rival == "agent";
        assert_eq!(steps.contains(&"remove".to_owned()), removes, "{rival}: {steps:?}");
        assert_eq!(steps.contains(&"restart".to_owned()), !removes, "{rival}: {steps:?}");
        assert!(case.own_file().is_none() && !case.part.machine.locks.contains_key(LOCK));
        let name = if removes { "grafana-agent" } else { "otelcol/0" };
        assert_eq!(
            lines(&outcome),
            [format!(
                "waiting: metrics and logs are left to {name} on this machine; set collect=off to accept that, or remove it"
            )]
        );
        assert_eq!(outcome.collected, Some(None));
        assert_eq!(case.pass().0, Vec::<String>::new());
        // It goes, and lockstep takes over.
        case.part.machine.files.clear();
        case.part.machine.locks.clear();
        case.part.machine.agent = false;
        let (_, outcome) = case.pass();
        assert_eq!(worst(&outcome), Some(Level::Active), "{rival}: {:?}", lines(&outcome));
    }
}

#[test]
fn removal_leaves_nothing_and_the_lock_goes_last() {
    for off in [true, false] {
        let mut case = running();
        if off {
            case.on = false;
        } else {
            case.part.occasion = Occasion::Removing;
        }
        let (steps, outcome) = case.pass();
        assert_eq!(steps, ["disconnect ledger:logs", "stop", "remove", "withdraw"]);
        assert_eq!((lines(&outcome), outcome.collected), (vec![], Some(None)));
        assert!(case.part.memory.gate.is_some());
        assert_eq!(case.pass().0, Vec::<String>::new());
    }
}

#[test]
fn in_the_last_hook_a_step_that_fails_stops_nothing() {
    let mut case = running();
    case.part.occasion = Occasion::Removing;
    case.fails.insert("remove", failure(true));
    assert_eq!(case.pass().0, ["disconnect ledger:logs", "stop", "remove", "withdraw"]);
    // Before it, what may pass is waited for, and the lock stays.
    let mut case = running();
    case.on = false;
    case.fails.insert("remove", failure(true));
    let (steps, outcome) = case.pass();
    assert_eq!(steps.last().unwrap(), "remove");
    assert_eq!((worst(&outcome), outcome.follow_up), (Some(Level::Waiting), Some(60)));
    assert!(case.part.machine.locks.contains_key(LOCK));
    case.fails.clear();
    assert_eq!(case.pass().0, ["remove", "withdraw"]);
}

#[test]
fn a_leaving_unit_that_may_still_run_hooks_does_nothing() {
    let mut case = running();
    case.part.occasion = Occasion::Leaving;
    case.on = false;
    let (steps, outcome) = case.pass();
    assert_eq!((steps, outcome.collected), (vec![], None));
}

#[test]
fn a_store_that_is_away_is_asked_again_with_growing_delays() {
    let mut case = Case::new();
    case.fails.insert("install", failure(true));
    for (delay, tries) in [(60, 1), (120, 2), (300, 3), (600, 4), (600, 5)] {
        let (steps, outcome) = case.pass();
        assert_eq!(steps.last().unwrap(), "install");
        let line = "waiting: cannot install opentelemetry-collector 80 (or set collect=off): why";
        assert_eq!((lines(&outcome), outcome.follow_up), (vec![line.to_owned()], Some(delay)));
        assert_eq!(outcome.memory.trouble.unwrap().tries, tries);
        case.part.now = Timestamp(case.part.now.0 + delay - 1);
        let (steps, outcome) = case.pass();
        assert_eq!((steps.len(), lines(&outcome)), (0, vec![line.to_owned()]));
        case.part.now = Timestamp(case.part.now.0 + 1);
    }
    case.fails.clear();
    assert_eq!(worst(&case.pass().1), Some(Level::Active));
    assert_eq!(case.part.memory.trouble, None);
    let mut case = Case::new();
    case.fails.insert("install", failure(false));
    assert_eq!(worst(&case.pass().1), Some(Level::Blocked));
}

#[test]
fn one_principal_whose_jobs_are_refused_is_left_out_until_it_tells_others() {
    let mut case = running();
    case.tells("web/1", json!([{"job_name": "bad", "relabel_configs": [{"regex": "("}]}]), &[]);
    case.refuses.insert("\"regex\": \"(\"");
    let (steps, outcome) = case.pass();
    assert_eq!(steps, ["read", "validate", "probe 2", "validate", "place true", "restart"]);
    assert_eq!(lines(&outcome)[0], "blocked: the collector refuses the jobs of web/1; not collected");
    assert_eq!(outcome.collected.unwrap().unwrap().principals.len(), 1);
    // It is remembered.
    assert_eq!(case.pass().0, ["read"]);
    case.tells("web/1", json!([{"job_name": "good"}]), &[]);
    let (steps, outcome) = case.pass();
    assert_eq!(steps, ["read", "validate", "place true", "restart"]);
    assert_eq!(worst(&outcome), Some(Level::Active));
}

#[test]
fn a_configuration_that_is_refused_for_no_ones_jobs_leaves_the_old_one_in_force() {
    let mut case = running();
    let before = case.own_file().cloned();
    case.part.host = "cursed".to_owned();
    case.refuses.insert("cursed");
    let (steps, outcome) = case.pass();
    assert_eq!(steps, ["read", "validate", "probe 1"]);
    assert_eq!(
        lines(&outcome),
        ["blocked: the collector refuses its configuration; what was in force before stays"]
    );
    assert_eq!((case.own_file().cloned(), case.part.machine.active), (before, true));
}

#[test]
fn a_bad_job_is_named_and_the_rest_is_collected() {
    let mut case = Case::new();
    case.tells("ledger-db/0", json!([{"job_name": "a"}, {"job_name": "b", "port": 1}]), &["nonsense"]);
    let (_, outcome) = case.pass();
    assert_eq!(
        lines(&outcome),
        [
            "blocked: ledger-db/0 config $.metrics_scrape_jobs[1].port: is no field that is known here (job b); not collected",
            "blocked: ledger-db/0 config $.log_slots[0]: is not snap:slot; not collected",
            "active: collecting 1 job, 0 log slots for 1 Prometheus, 1 Loki",
        ]
    );
}

#[test]
fn a_slot_that_cannot_be_connected_stops_nothing() {
    let mut case = Case::new();
    case.tells("ledger-db/0", json!([]), &["ledger:logs", "missing:logs"]);
    case.fails.insert("connect ledger", failure(false));
    let (_, outcome) = case.pass();
    assert_eq!(
        lines(&outcome),
        [
            "blocked: log slot ledger:logs does not connect: why",
            "waiting: log slot missing:logs: its snap is not installed yet",
            "active: collecting 0 jobs, 0 log slots for 1 Prometheus, 1 Loki",
        ]
    );
    assert_eq!(outcome.memory.slots_again, Some(Timestamp(1600)));
    case.fails.clear();
    case.has_snap("missing");
    assert_eq!(case.pass().0[1..3], ["connect ledger:logs", "connect missing:logs"]);
    // Nobody names it any more.
    case.tells("ledger-db/0", json!([]), &["missing:logs"]);
    assert_eq!(case.pass().0[1], "disconnect ledger:logs");
}

#[test]
fn a_plug_that_is_denied_is_told_with_the_command_and_nothing_starts() {
    let mut case = Case::new();
    case.fails.insert("plug log-observe", failure(false));
    let (steps, outcome) = case.pass();
    assert!(!steps.contains(&"start".to_owned()));
    let line = "blocked: cannot run snap connect opentelemetry-collector:log-observe :log-observe: why";
    assert_eq!(lines(&outcome), [line]);
}

#[test]
fn a_service_that_does_not_stay_up_is_started_once_an_update_status() {
    let mut case = Case::new();
    case.stays_up = false;
    let down = "blocked: the collector does not run: see snap logs opentelemetry-collector";
    let (steps, outcome) = case.pass();
    assert_eq!((steps.last().unwrap().as_str(), lines(&outcome)[0].as_str()), ("start", down));
    assert_eq!(case.pass().0, ["read"]);
    case.part.occasion = Occasion::UpdateStatus;
    assert_eq!(case.pass().0, ["read", "start"]);
}

#[test]
fn a_snapd_without_holds_is_no_fault_and_another_revision_is_moved() {
    let mut case = Case::new();
    case.fails.insert("hold", Failure { unsupported: true, ..failure(false) });
    assert_eq!(worst(&case.pass().1), Some(Level::Active));
    case.part.machine.installed = Ok(Some(installed("79", false)));
    let (steps, _) = case.pass();
    // snapd itself starts the services of a snap anew that it moves.
    assert_eq!(steps, ["hold", "move", "read"]);
    // Another lockstep unit, of another charm build, wants another one: nobody moves it to and fro.
    case.part.machine.installed = Ok(Some(installed("79", false)));
    let lock = "LCK..opentelemetry-collector--rev79__lockstep_1";
    case.part.machine.locks.insert(lock.to_owned(), Some(unit("lockstep/1")));
    assert!(!case.pass().0.contains(&"move".to_owned()));
}

#[test]
fn two_units_on_a_machine_share_the_snap_and_one_ships_the_machines_lines() {
    let mut one = running();
    assert!(one.own_file().unwrap().header.as_ref().unwrap().host);
    // The second one, on the same machine.
    let mut two = Case::new();
    two.part.unit = unit("lockstep/1");
    two.part.sources.clear();
    two.tells("web/0", json!([{"job_name": "w"}]), &["ledger:logs"]);
    two.part.machine = one.part.machine.clone();
    two.connections = one.connections.clone();
    let (steps, _) = two.pass();
    assert_eq!(
        steps,
        ["lock LCK..opentelemetry-collector--rev80__lockstep_1", "read", "validate", "place true", "restart"]
    );
    assert!(!two.own_file().unwrap().header.as_ref().unwrap().host);
    // Lines of the machine are no longer the first one's principal's alone.
    one.part.machine = two.part.machine.clone();
    assert_eq!(one.pass().0, ["read", "validate", "place true", "restart"]);
    assert!(one.own_file().unwrap().header.as_ref().unwrap().host);
    // It goes: the snap, and the connection that the other names too, stay.
    one.on = false;
    assert_eq!(one.pass().0, ["withdraw", "restart"]);
    two.part.machine = one.part.machine.clone();
    two.pass();
    assert!(two.own_file().unwrap().header.as_ref().unwrap().host);
    two.part.occasion = Occasion::Removing;
    assert_eq!(two.pass().0, ["stop", "remove", "withdraw"]);
}

#[test]
fn of_two_that_ship_the_machines_lines_the_first_by_name_goes_on() {
    for (other, goes_on) in [("lockstep/1", false), ("lockstep/12", true)] {
        let mut case = running();
        case.has_file("other.yaml", &format!("# lockstep {other} host\n"));
        case.pass();
        assert_eq!(case.own_file().unwrap().header.as_ref().unwrap().host, goes_on, "{other}");
    }
}

#[test]
fn what_is_not_related_or_not_told_is_quiet_and_a_missing_url_is_waited_for() {
    let mut case = Case::new();
    case.part.remote_write = Default::default();
    case.part.loki = Default::default();
    assert_eq!(lines(&case.pass().1), Vec::<String>::new());
    case.part.remote_write.related = true;
    case.part.remote_write.silent.insert("prometheus".parse().unwrap());
    let (steps, outcome) = case.pass();
    assert_eq!(steps, Vec::<String>::new());
    assert_eq!(lines(&outcome), ["waiting: no remote-write URL from prometheus yet"]);
    case.part.sources.clear();
    assert_eq!(lines(&case.pass().1), Vec::<String>::new());
}

#[test]
fn an_architecture_without_a_collector_is_told_with_the_way_out() {
    let mut case = Case::new();
    case.part.architecture = crate::snap::Architecture::Riscv64;
    let (steps, outcome) = case.pass();
    assert_eq!(
        (steps.len(), lines(&outcome)),
        (0, vec!["blocked: there is no collector for riscv64: set collect=off".to_owned()])
    );
}

#[test]
fn a_principal_that_sends_garbage_or_starts_anew_costs_nothing() {
    let mut case = running();
    case.part.sources.clear();
    case.part.silent.insert(unit("ledger-db/0"));
    let (steps, outcome) = case.pass();
    assert_eq!((steps, &outcome.collected), (vec![], &None));
    let line = "active: ledger-db/0 tells nothing that can be read: what was collected before goes on";
    assert_eq!(lines(&outcome), [line]);
    // One that has never told anything holds nobody up.
    let mut case = Case::new();
    case.part.silent.insert(unit("web/0"));
    assert_eq!(worst(&case.pass().1), Some(Level::Active));
    case.tells("ledger-db/0", json!([{"job_name": "b"}]), &[]);
    assert!(case.pass().0.contains(&"restart".to_owned()));
    // And one that is gone is gone.
    let mut case = running();
    case.part.sources.clear();
    assert!(case.pass().0.contains(&"withdraw".to_owned()));
}

#[test]
fn a_hundred_slots_are_connected_over_several_passes() {
    let mut case = Case::new();
    let slots: Vec<String> = (0..100).map(|number| format!("snap-{number}:logs")).collect();
    (0..100).for_each(|number| case.has_snap(&format!("snap-{number}")));
    case.tells("ledger-db/0", json!([]), &slots.iter().map(String::as_str).collect::<Vec<_>>());
    let mut passes = 0;
    loop {
        let (steps, outcome) = case.pass();
        passes += 1;
        assert!(steps.len() <= 30 && passes < 9, "{steps:?}");
        if steps.contains(&"start".to_owned()) {
            assert_eq!(worst(&outcome), Some(Level::Active), "{:?}", lines(&outcome));
            break;
        }
        assert_eq!((outcome.memory.gate, outcome.follow_up), (None, Some(5)));
    }
    assert!(passes > 3);
}
