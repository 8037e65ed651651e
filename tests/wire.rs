//! What lockstep writes on a hook tool's standard input, read by the parser that Juju's tools have:
//! `juju_sim::wire` reproduces yaml.v2 and shares no code with lockstep.

use juju_sim::wire::yaml_v2::string_map;
use lockstep::tools::string_map::render;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn there_and_back(entries: &BTreeMap<String, String>) -> Result<BTreeMap<String, String>, String> {
    let changes = entries.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
    Ok(string_map(render(&changes).as_bytes())?.into_iter().collect())
}

#[test]
fn values_that_yaml_would_refuse_or_fold_arrive_as_they_were() {
    let values = [
        "",
        "null",
        "~",
        "1.50",
        "say \"hi\" \\ C:\\new",
        "line\nline\r\n\ttab",
        "\u{7f}",
        "\u{80}\u{84}\u{85}\u{86}\u{9f}",
        "\u{a0}\u{feff}\u{2028}\u{2029}",
        "\u{fffe}\u{ffff}",
        "😀 grüße / {a: [b]}",
        "\0\u{1}\u{1f}",
        "# no comment: - ? & * ! | > ' %",
        "trailing blank ",
    ];
    for value in values {
        let entries = BTreeMap::from([("config-k8s/0".to_owned(), value.to_owned())]);
        assert_eq!(there_and_back(&entries), Ok(entries), "{value:?}");
    }
}

#[test]
fn a_value_of_three_mebibytes_arrives_whole() {
    let value = "{\"a\": \"ü\u{85}\\\"}\n".repeat((3 << 20) / 16);
    let entries = BTreeMap::from([("dashboards".to_owned(), value)]);
    assert_eq!(there_and_back(&entries), Ok(entries));
}

#[test]
fn a_deleted_key_arrives_as_an_empty_value() {
    let text = render(&BTreeMap::from([("gone".to_owned(), None)]));
    assert_eq!(string_map(text.as_bytes()).unwrap(), [("gone".to_owned(), String::new())]);
}

proptest! {
    #[test]
    fn any_text_arrives_as_it_was(
        entries in proptest::collection::btree_map("[a-z][a-z0-9/-]{0,40}", any::<String>(), 0..6)
    ) {
        prop_assert_eq!(there_and_back(&entries), Ok(entries));
    }
}
