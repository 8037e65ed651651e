//! Reading `config` and peer records: every generation, every whole-value fault.

use super::*;

fn config(rules: &str, logs: &str, dashboards: &str) -> String {
    format!(
        r#"{{"metrics_alert_rules": {rules}, "log_alert_rules": {logs}, "dashboards": {dashboards},
            "metrics_scrape_jobs": "not looked at", "future": [1]}}"#
    )
}

#[test]
fn a_config_is_split_into_compact_texts() {
    let mut values = Values::default();
    let text = config(r#"{"groups": [ ]}"#, "[]", r#"["a\/b", "a/b"]"#);
    let content = read_config(&text, &mut values).unwrap();
    assert_eq!(values.get(&content.metric_rules), Some(r#"{"groups":[]}"#));
    assert_eq!(values.get(&content.log_rules), Some("{}"));
    assert_eq!(content.dashboards, vec![Digest::of("a/b"); 2]);
    assert_eq!(content.faults, []);
}

#[test]
fn a_config_that_is_no_use_as_a_whole_says_where() {
    for (text, path, reason) in [
        ("null", "$", "is null, not an object"),
        ("[1]", "$", "is a list, not an object"),
        ("{\"a", "$", "is not JSON: EOF while parsing a string at line 1 column 3"),
        ("{}", "$", "has no field metrics_alert_rules"),
        (&config("{}", "null", "[]"), "$.log_alert_rules", "is null"),
        (&config("7", "{}", "[]"), "$.metrics_alert_rules", "is a number, not an object"),
        (&config("{}", "[[1,2]]", "[]"), "$.log_alert_rules", "is a list, not an object"),
        (&config("{}", "{}", "{}"), "$.dashboards", "is an object, not a list"),
    ] {
        let fault = read_config(text, &mut Values::default()).unwrap_err();
        assert_eq!(fault, Fault::new(path, reason), "{text}");
    }
    let large = " ".repeat(MAX_VALUE + 1);
    assert_eq!(read_config(&large, &mut Values::default()).unwrap_err().path, "$");
}

#[test]
fn a_dashboard_that_is_no_text_is_left_out_alone() {
    let mut values = Values::default();
    let text = config("{}", "{}", r#"["a", 7, null, "\ud800", "b"]"#);
    let content = read_config(&text, &mut values).unwrap();
    assert_eq!(content.dashboards, [Digest::of("a"), Digest::of("b")]);
    assert_eq!(content.dashboard_path(1), "$.dashboards[4]");
    let paths: Vec<&str> = content.faults.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["$.dashboards[1]", "$.dashboards[2]", "$.dashboards[3]"]);
}

#[test]
fn peer_records_of_all_generations_are_read() {
    let mut values = Values::default();
    for (key, text) in [
        (
            "config-ledger-db/0",
            r#"{"unit_name":"ledger-db/0","relation_id":"9","relation_name":"cos-agent",
                "metrics_alert_rules":null,"log_alert_rules":null,"dashboards":null}"#,
        ),
        ("config-ledger-db/0", r#"{"unit_name":"ledger-db/0","relation_id":9,"relation_name":"cos-agent"}"#),
        (
            "config",
            r#"{"principal_unit_name":"ledger-db/0","principal_relation_id":"9",
                "principal_relation_name":"cos-agent","metrics_alert_rules":{},"dashboards":[]}"#,
        ),
    ] {
        let record = read_peer(key, text, &mut values).unwrap();
        assert_eq!(record.unit.to_string(), "ledger-db/0");
        assert_eq!(record.relation_number, "9");
        assert_eq!(record.content.metric_rules, Digest::of("{}"));
        let written = write_peer(&record, &values);
        assert_eq!(
            written,
            r#"{"unit_name":"ledger-db/0","relation_id":"9","relation_name":"cos-agent","metrics_alert_rules":{},"log_alert_rules":{},"dashboards":[]}"#
        );
        assert_eq!(read_peer(key, &written, &mut values), Ok(record));
    }
}

#[test]
fn unreadable_peer_records_say_where() {
    for (text, path) in [
        ("not json", "$"),
        ("[]", "$"),
        ("{}", "$"),
        (r#"{"unit_name":"ledger-db/0"}"#, "$"),
        (r#"{"unit_name":7,"relation_id":"9"}"#, "$.unit_name"),
        (r#"{"principal_unit_name":"nonsense","relation_id":"9"}"#, "$.principal_unit_name"),
        (r#"{"unit_name":"other/0","relation_id":"9"}"#, "$.unit_name"),
        (r#"{"unit_name":"ledger-db/0","relation_id":[]}"#, "$.relation_id"),
        (r#"{"unit_name":"ledger-db/0","relation_id":"9","relation_name":1}"#, "$.relation_name"),
        (r#"{"unit_name":"ledger-db/0","relation_id":"9","dashboards":"x"}"#, "$.dashboards"),
        (r#"{"unit_name":"ledger-db/0","relation_id":"9","log_alert_rules":true}"#, "$.log_alert_rules"),
    ] {
        let fault = read_peer("config-ledger-db/0", text, &mut Values::default()).unwrap_err();
        assert_eq!(fault.path, path, "{text}");
    }
}

#[test]
fn only_exact_keys_hold_records() {
    for good in ["config", "config-ledger-db/0"] {
        assert!(is_record_key(good), "{good}");
    }
    for foreign in ["config_hash", "config-", "config-x", "config-x/y", "configuration", "node"] {
        assert!(!is_record_key(foreign), "{foreign}");
    }
}

#[test]
fn a_flood_of_dashboards_is_cut() {
    let text = config("{}", "{}", &format!("[{}\"\"]", "\"\",".repeat(5000)));
    let content = read_config(&text, &mut Values::default()).unwrap();
    assert_eq!(content.dashboards.len(), MAX_DASHBOARDS);
    assert_eq!(content.faults[0].path, "$.dashboards[500]");
}
