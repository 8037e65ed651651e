//! The mutants of `tests/mutants/` fit the tree: every patch applies, and the tests that it names exist.
//!
//! `make mutants` builds and runs them; it takes minutes, so it is not part of `make test`.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "support/sources.rs"]
mod sources;

use sources::sources;
use std::collections::BTreeSet;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The patches by name, with their texts.
fn patches() -> Vec<(String, String)> {
    let files = std::fs::read_dir(root().join("tests/mutants")).unwrap().map(|entry| entry.unwrap().path());
    let patches = files.filter(|path| path.extension().is_some_and(|extension| extension == "patch"));
    let mut patches: Vec<(String, String)> = patches
        .map(|path| {
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(path).unwrap())
        })
        .collect();
    patches.sort();
    patches
}

/// The hunks of a patch: file and old lines.
fn hunks(patch: &str) -> Vec<(String, String)> {
    let (mut file, mut hunks) = (String::new(), Vec::new());
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("+++ b/") {
            name.clone_into(&mut file);
        } else if line.starts_with("@@ ") {
            hunks.push((file.clone(), String::new()));
        } else if let (Some((_, old)), false) = (hunks.last_mut(), line.starts_with("---"))
            && let Some(text) = line.strip_prefix([' ', '-'])
        {
            old.push_str(text);
            old.push('\n');
        }
    }
    hunks
}

/// The names of all functions, and of all scenarios, of a test target.
fn names(target: &str) -> BTreeSet<String> {
    let mut files = Vec::new();
    match target {
        "lib" => sources(&root().join("src"), &mut files),
        "scenarios" => sources(&root().join("tests/scenarios"), &mut files),
        other => files.push(root().join(format!("tests/{other}.rs"))),
    }
    let text: String = files.iter().map(read).collect();
    let functions = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
    let listed = text.split("scenarios! {").skip(1).filter_map(|rest| rest.split('}').next());
    let scenarios = listed.flat_map(str::split_whitespace);
    functions.chain(scenarios).map(str::to_owned).collect()
}

#[test]
fn every_patch_applies_to_exactly_one_place() {
    let patches = patches();
    assert!(patches.len() >= 25, "only {} mutants", patches.len());
    for (name, patch) in patches {
        let hunks = hunks(&patch);
        assert!(!hunks.is_empty(), "{name} changes nothing");
        for (file, old) in hunks {
            assert!(file.starts_with("src/"), "{name} changes {file}");
            let places = read(&file).matches(&old).count();
            assert_eq!(places, 1, "{name} does not fit {file}; its lines are\n{old}");
        }
    }
}

#[test]
fn every_test_that_a_mutant_names_exists() {
    for (mutant, patch) in patches() {
        let expected: Vec<&str> = patch.lines().filter_map(|line| line.strip_prefix("# expect: ")).collect();
        assert!(!expected.is_empty(), "{mutant} names no test");
        for line in expected {
            let (target, test) = line.split_once(' ').unwrap();
            let function = test.rsplit("::").next().unwrap();
            assert!(names(target).contains(function), "{mutant}: there is no {target} {test}");
        }
    }
}

/// One for each field case that there is a scenario of; others are shown by tests of the library.
#[test]
fn every_field_case_has_a_mutant() {
    let case = |name: &str| name.split('_').next().map(str::to_owned).filter(|case| is_case(case));
    let with_scenario: BTreeSet<String> = names("scenarios").iter().filter_map(|name| case(name)).collect();
    let with_mutant: BTreeSet<String> = patches().iter().filter_map(|(name, _)| case(name)).collect();
    assert!(with_scenario.is_subset(&with_mutant), "{with_scenario:?} {with_mutant:?}");
}

fn is_case(text: &str) -> bool {
    text.strip_prefix('f')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}
