//! A table of bad rules: each costs itself alone and is named at a path that exists.

use super::*;

fn faults(text: &str) -> Vec<(String, String)> {
    let rules = AlertRules::read(text);
    let pair = |fault: Fault| (fault.path, fault.reason);
    rules.faults.kept().iter().cloned().map(pair).collect()
}

/// A group with one good rule and one rule made of these fields.
fn with_rule(fields: &str) -> String {
    format!(r#"{{"groups":[{{"name":"g","rules":[{{"alert":"Good","expr":"up"}},{{{fields}}}]}}]}}"#)
}

#[test]
fn one_bad_rule_is_left_out_alone() {
    for (fields, path, reason) in [
        (r#""alert":"A","expr":"up","form":"5m""#, ".form", "is not a field of a rule"),
        (r#""alert":"A""#, "", "has no expr"),
        (r#""alert":"A","expr":null"#, "", "has no expr"),
        (r#""alert":"A","expr":"""#, ".expr", "is empty"),
        (r#""alert":"A","expr":7"#, ".expr", "is a number, not a text"),
        (r#""alert":"A","expr":"up{a=\"b""#, ".expr", "has a string that is not closed"),
        (r#""expr":"up""#, "", "has neither alert nor record"),
        (r#""alert":"A","record":"b","expr":"up""#, "", "has both alert and record"),
        (r#""record":"a-b","expr":"up""#, ".record", "is not the name of a metric"),
        (r#""record":"a","expr":"up","for":"5m""#, ".for", "is not for a recording rule"),
        (
            r#""record":"a","expr":"up","annotations":{"s":"x"}"#,
            ".annotations",
            "is not for a recording rule",
        ),
        (r#""alert":"A","expr":"up","for":"5 min""#, ".for", "is not a duration like 5m or 1h30m"),
        (r#""alert":"A","expr":"up","keep_firing_for":5"#, ".keep_firing_for", "is a number, not a text"),
        (r#""alert":"A","expr":"up","labels":[]"#, ".labels", "is a list, not an object"),
        (r#""alert":"A","expr":"up","labels":{"a":1}"#, ".labels.a", "is a number, not a text"),
        (r#""alert":"A","expr":"up","labels":{"a-b":"x"}"#, ".labels['a-b']", "is not the name of a label"),
        (
            r#""alert":"A","expr":"up","labels":{"juju_model_uuid":"7D1F3C2A-9b4e-4c55-8a10-3f6e2b9d0c41"}"#,
            ".labels.juju_model_uuid",
            "is not a version 4 UUID in lower case",
        ),
        (
            r#""alert":"A","expr":"up","annotations":{"summary":"{{ $value"}"#,
            ".annotations.summary",
            "has a {{ without its }}",
        ),
    ] {
        let text = with_rule(fields);
        let path = format!("$.groups[0].rules[1]{path}");
        assert_eq!(faults(&text), [(path, reason.to_owned())], "{fields}");
        let rules = AlertRules::read(&text);
        assert_eq!(rules.groups[0].rules.len(), 1, "the good rule stays");
    }
}

#[test]
fn one_bad_group_is_left_out_alone() {
    let good = r#"{"name":"good","rules":[{"alert":"Good","expr":"up"}]}"#;
    let rule = r#"[{"alert":"A","expr":"up"}]"#;
    for (group, path, reason) in [
        ("7".to_owned(), "", "is a number, not a group"),
        (format!(r#"{{"rules":{rule}}}"#), "", "has no name"),
        (format!(r#"{{"name":" ","rules":{rule}}}"#), ".name", "is not a text with something in it"),
        (r#"{"name":"g"}"#.to_owned(), "", "has no rules"),
        (r#"{"name":"g","rules":null}"#.to_owned(), "", "has no rules"),
        (r#"{"name":"g","rules":{}}"#.to_owned(), ".rules", "is an object, not a list"),
        (
            format!(r#"{{"name":"g","rules":{rule},"intervall":"5m"}}"#),
            ".intervall",
            "is not a field of a group",
        ),
        (
            format!(r#"{{"name":"g","rules":{rule},"interval":"x"}}"#),
            ".interval",
            "is not a duration like 5m or 1h30m",
        ),
        (format!(r#"{{"name":"g","rules":{rule},"limit":-1}}"#), ".limit", "is not a whole number from 0 up"),
    ] {
        let text = format!(r#"{{"groups":[{group},{good}]}}"#);
        let path = format!("$.groups[0]{path}");
        assert_eq!(faults(&text), [(path, reason.to_owned())], "{group}");
        assert_eq!(AlertRules::read(&text).groups.len(), 1, "{group}");
    }
}

#[test]
fn nothing_is_no_fault() {
    for nothing in ["{}", r#"{"groups":[]}"#, r#"{"groups":null}"#, r#"{"groups":[{"name":"g","rules":[]}]}"#]
    {
        assert_eq!(AlertRules::read(nothing), AlertRules::default());
    }
    // Null fields of a rule are absent fields.
    let rules =
        AlertRules::read(&with_rule(r#""alert":"B","expr":"up","labels":null,"for":null,"record":null"#));
    assert_eq!(rules.faults.count(), 0);
    assert_eq!(rules.groups[0].rules[1].len(), 2);
}

#[test]
fn a_single_rule_becomes_a_group_and_other_shapes_are_named() {
    let rules = AlertRules::read(r#"{"alert":"Lone","expr":"up","for":"5m"}"#);
    assert_eq!(rules.groups[0].name, "Lone");
    for (text, path) in [
        (r#"{"alert":"Lone"}"#, "$"),
        (r#"{"rules":[]}"#, "$"),
        (r#"{"groups":7}"#, "$.groups"),
        ("[]", "$"),
        ("{", "$"),
    ] {
        assert_eq!(faults(text)[0].0, path, "{text}");
    }
    let deep = format!("{{\"groups\":{}{}}}", "[".repeat(200), "]".repeat(200));
    assert_eq!(faults(&deep)[0].0, "$");
}

#[test]
fn host_health_is_known_by_its_name() {
    for (name, expected) in [
        ("harbor_7d1f3c2a_db_HostHealth_rules", true),
        ("harbor_7d1f3c2a_db_HostHealth_alerts", true),
        ("HostHealth_rules_mine", false),
    ] {
        let group = Group { name: name.into(), fields: Map::new(), rules: Vec::new() };
        assert_eq!(group.is_host_health(), expected, "{name}");
    }
}

#[test]
fn extra_labels_are_read_or_refused() {
    let read = |text: &str| read_extra_labels(text).map_err(|e| e.to_string());
    let labels = read(" env:prod, url:http://x ,k2=v2,").unwrap();
    let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}>{v}")).collect();
    assert_eq!(labels, ["env>prod", "k2>v2", "url>http://x"]);
    assert_eq!(read(""), Ok(Default::default()));
    for bad in ["env", "a-b:c", ":x", "env:", "juju_model_uuid:no"] {
        assert_eq!(read(bad), Err(format!("{bad:?} is not a label like severity:page")));
    }
}

#[test]
fn a_flood_of_faults_is_counted_and_bounded() {
    let flood = format!(r#"{{"groups":[{}{{}}]}}"#, "0,".repeat(5000));
    let rules = AlertRules::read(&flood);
    assert_eq!(rules.faults.count(), 5002, "a group of nothing has two");
    assert_eq!(rules.faults.kept().len(), 1000);
    let large = format!(r#"{{"groups":[{}0]}}"#, "0,".repeat(MAX_RULES / 2));
    let reason = "has 2048 KiB, more than 2048".to_owned();
    assert_eq!(faults(&large), [("$".to_owned(), reason)]);
}
