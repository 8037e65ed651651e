//! The program `juju-sim` with a whole scenario.
#![expect(clippy::unwrap_used, reason = "only tests call this")]
#![expect(clippy::disallowed_methods, reason = "the program itself is what is tested")]

use std::process::{Command, Output};

fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juju-sim"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_clear().arg("run").args(args);
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

const GREETINGS: &str = "tests/scenarios/greetings.yaml";
const SNAPS: &str = "tests/scenarios/snaps.yaml";

fn golden(scenario: &str) -> String {
    let place = format!("{}/{}", env!("CARGO_MANIFEST_DIR"), scenario.replace(".yaml", ".txt"));
    let text = std::fs::read_to_string(place).unwrap();
    text.lines().skip_while(|l| l.starts_with('#')).map(|l| format!("{l}\n")).collect()
}

#[test]
fn a_run_prints_a_story_and_tables() {
    for scenario in [GREETINGS, SNAPS] {
        let output = run(&[scenario]);
        assert!(output.status.success());
        assert_eq!(stdout(&output), golden(scenario));
    }
}

#[test]
fn the_same_seed_gives_the_same_run_byte_for_byte() {
    let both = &[GREETINGS, "--json", "--interleave"];
    for args in [&[GREETINGS, "--json"][..], both, &[SNAPS, "--json"]] {
        let first = stdout(&run(args));
        for _ in 0..5 {
            assert_eq!(stdout(&run(args)), first);
        }
    }
}

#[test]
fn the_scenario_holds_for_many_seeds_also_with_hooks_at_the_same_time() {
    for seed in 0..8 {
        let seed = seed.to_string();
        let plain = run(&[GREETINGS, "--seed", &seed]);
        assert!(plain.status.success(), "{}", stdout(&plain));
        let snaps = run(&[SNAPS, "--seed", &seed]);
        assert!(snaps.status.success(), "{}", stdout(&snaps));
        let together = run(&[GREETINGS, "--seed", &seed, "--interleave"]);
        assert!(together.status.success(), "{}", stdout(&together));
    }
}

#[test]
fn json_is_one_object_a_line_and_ends_with_the_world() {
    let output = run(&[GREETINGS, "--json", "--trace"]);
    let text = stdout(&output);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"], "step");
    let hook =
        lines.iter().find(|line| line["event"] == "hook" && line["name"] == "host-relation-changed").unwrap();
    assert_eq!(hook["outcome"], "done");
    assert_eq!(hook["bags"][0]["keys"][0]["key"], "greeting");
    let end = lines.last().unwrap();
    assert_eq!((end["event"].as_str(), end["failure"].as_str()), (Some("end"), None));
    assert_eq!(end["world"]["relations"]["0"]["apps"]["greeter"]["values"]["total"], "1");
    assert!(!text.contains("/tmp/"), "no place of this run only");
}

#[test]
fn a_trace_shows_every_call() {
    let text = stdout(&run(&[GREETINGS, "--trace"]));
    assert!(text.contains("$ relation-set -r peers:0 'greeting=ahoy Grace'\n"), "{text}");
}

#[test]
fn a_failed_expectation_says_what_was_there_and_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("bad.yaml");
    let text = "name: n\ncharms:\n  db: {scripted: true, metadata: {name: db, provides: {sql: sql}}}\nsteps:\n  - deploy: {charm: db}\n  - expect: [{status: {unit: db/0, is: blocked}}]\n";
    std::fs::write(&path, text).unwrap();
    let output = run(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.contains("FAILED: step 2 (expect): expected") && text.contains("it is active"), "{text}");
    assert!(text.contains("what happened last:\n12:00:00 -- deploy db: db/0"), "{text}");
    std::fs::write(&path, "name: n\nsteps:\n  - deploi: {charm: db}\n").unwrap();
    let output = run(&[path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 3"), "{output:?}");
}
