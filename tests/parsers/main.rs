//! Every parser of data from outside, with arbitrary and with damaged texts.
//!
//! No text is a panic. What cannot be read is an error that names its place, on one bounded line, without
//! any cohort key that stood in the text. What was read is written again, where it is ever written, in a
//! form that reads back as the same and is then written the same.
//!
//! A failure prints the smallest changes that give it; its text belongs into `corpus/PARSER/`, which is
//! tried first of all. `PROPTEST_CASES` says how many cases each parser gets (`make fuzz`).

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod checks;
mod databags;
mod kept;
mod mutate;
mod seeds;
mod texts;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::collections::BTreeMap;
use std::path::Path;

/// Cases for each parser in `make test`.
const CASES: u32 = 48;

/// One parser: good texts, and what must hold of any text.
#[derive(Debug)]
struct Parser {
    name: &'static str,
    seeds: fn() -> Vec<String>,
    check: fn(&str) -> Result<(), String>,
}

fn all() -> Vec<Parser> {
    [databags::parsers(), kept::parsers(), texts::parsers()].into_iter().flatten().collect()
}

#[expect(clippy::disallowed_methods, reason = "proptest's own default is too many")]
fn cases() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Good texts, those of the corpus, and any at all, each with some changes.
fn tried(parser: &Parser) {
    let mut texts = (parser.seeds)();
    assert!(!texts.is_empty(), "{} has no good text", parser.name);
    for text in &texts {
        (parser.check)(text).unwrap_or_else(|why| panic!("{}: {why}: {text:?}", parser.name));
    }
    texts.extend(corpus().remove(parser.name).unwrap_or_default());
    let text = prop_oneof![9 => proptest::sample::select(texts), 1 => "(?s).{0,200}"];
    let outcome = TestRunner::new(cases()).run(&(text, mutate::changes()), |(text, changes)| {
        let text = mutate::apply(&text, &changes);
        (parser.check)(&text).map_err(|why| TestCaseError::fail(format!("{why}: {text:?}")))
    });
    if let Err(failure) = outcome {
        panic!("{}: {failure}", parser.name);
    }
}

fn corpus() -> BTreeMap<String, Vec<String>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parsers/corpus");
    let mut corpus = BTreeMap::<String, Vec<String>>::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for file in std::fs::read_dir(path).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            corpus.entry(name.clone()).or_default().push(text);
        }
    }
    corpus
}

#[test]
fn what_once_broke_a_parser_is_read_or_refused() {
    let parsers = all();
    for (name, texts) in corpus() {
        let parser = parsers.iter().find(|parser| parser.name == name);
        let parser = parser.unwrap_or_else(|| panic!("corpus/{name} is of no parser"));
        for text in texts {
            (parser.check)(&text).unwrap_or_else(|why| panic!("{name}: {why}: {text:?}"));
        }
    }
}

macro_rules! tried {
    ($($name:ident)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(#[test]
        fn $name() {
            let parsers = all();
            tried(parsers.iter().find(|parser| parser.name == stringify!($name)).unwrap());
        })*
    };
}

tried! {
    node progress nodes target granted skipped history leader offer versions
    config record alert_rules dashboard event own_alert_rules own_dashboards checked_data
    peers_databags charm_state cache stored_value
    relation_ids relation_list relation_app databag_of_a_tool options_of_a_tool leader_of_a_tool goal_state
    action_parameters
    snap_list snap_info snap_create_cohort snap_changes snap_tasks snap_services snap_version snap_errors
    kubectl_nodes kubectl_node kubectl_pods kubectl_errors
    options refresh_window extra_labels packed_snaps cohort_key words invocation
}

#[test]
fn every_parser_has_its_test() {
    let mut names: Vec<&str> = all().iter().map(|parser| parser.name).collect();
    let mut listed = NAMES.to_vec();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed);
}
