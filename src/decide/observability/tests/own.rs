//! Own records: what replaces them, what they survive, when they go.

use super::*;

fn good(alert: &str) -> Value {
    config(groups(&[group("g", &[alert])]), json!({}), &[])
}

#[test]
fn a_follower_writes_its_records_and_nothing_else() {
    let mut world = World::new().with(|o| o.leader = false).principal(3, "db/0", &good("A"));
    let outcome = world.settle();
    assert_eq!(
        outcome.records["config-db/0"],
        r#"{"unit_name":"db/0","relation_id":"3","relation_name":"cos-agent","metrics_alert_rules":{"groups":[{"name":"g","rules":[{"alert":"A","expr":"up < 1"}]}]},"log_alert_rules":{},"dashboards":[]}"#
    );
    assert_eq!(outcome.outgoing, BTreeMap::new());
    assert_eq!(lines(&outcome), ["active 1 principal observed"]);
    assert_eq!(outcome.observed_principals, 1);
}

#[test]
fn nothing_related_is_quiet_and_a_silent_principal_is_no_fault() {
    assert_eq!(lines(&World::new().settle()), [""; 0]);
    let mut world = World::new().principal(3, "db/0", &good("A")).says(5, "web/0", None);
    let outcome = world.settle();
    assert_eq!(outcome.records.len(), 1);
    assert_eq!(lines(&outcome), ["active 1 principal observed; web/0 has sent nothing yet"]);
}

#[test]
fn every_value_that_is_no_use_keeps_the_last_good_record_and_holds_the_status() {
    let mut world = World::new().principal(3, "db/0", &good("A"));
    let before = world.settle();
    for (text, place) in [
        ("null", "$: is null, not an object"),
        ("[1]", "$: is a list, not an object"),
        ("{", "$: is not JSON: EOF while parsing an object at line 1 column 1"),
        ("{}", "$: has no field metrics_alert_rules"),
        (
            r#"{"metrics_alert_rules":{},"log_alert_rules":null,"dashboards":[]}"#,
            "$.log_alert_rules: is null",
        ),
    ] {
        world = world.says(3, "db/0", Some(text));
        let expected = format!("db/0 (cos-agent:3) config {place}; its last good data stay");
        for _ in 0..3 {
            let outcome = world.settle();
            assert_eq!(blocked(&outcome), [expected.as_str()], "{text}");
            assert_eq!(outcome.records, before.records, "{text}");
            assert_eq!(outcome.outgoing, before.outgoing, "{text}");
        }
    }
    let outcome = world.principal(3, "db/0", &good("B")).settle();
    assert_eq!(lines(&outcome), ["active 1 principal observed"]);
    assert_eq!(alerts(&outcome, PROMETHEUS), ["B"]);
}

#[test]
fn an_emptied_databag_keeps_the_record_and_an_empty_value_replaces_it() {
    let mut world = World::new().principal(3, "db/0", &good("A"));
    world.settle();
    let mut world = world.says(3, "db/0", None);
    assert_eq!(alerts(&world.settle(), PROMETHEUS), ["A"]);
    let mut world = world.principal(3, "db/0", &config(json!({}), json!({}), &[]));
    assert_eq!(alerts(&world.settle(), PROMETHEUS), [""; 0]);
}

#[test]
fn a_record_goes_with_its_principal() {
    let mut world = World::new().principal(3, "db/0", &good("A")).principal(5, "web/0", &good("B"));
    world.settle();
    let mut world = world.with(|o| o.principals.retain(|p| p.relation.number == 5));
    let outcome = world.settle();
    assert_eq!(outcome.records.keys().collect::<Vec<_>>(), ["config-web/0"]);
    assert_eq!(alerts(&outcome, PROMETHEUS), ["B"]);
}

#[test]
fn one_principal_over_two_relations_is_one_record() {
    let outcome =
        World::new().principal(10, "db/0", &good("Ten")).principal(9, "db/0", &good("Nine")).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Nine"]);
    let outcome = World::new().says(9, "db/0", Some("{}")).principal(10, "db/0", &good("Ten")).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Ten"]);
    assert_eq!(
        blocked(&outcome),
        ["db/0 (cos-agent:9) config $: has no field metrics_alert_rules; cos-agent:10 is used"]
    );
}

#[test]
fn an_old_or_foreign_record_below_our_keys_is_replaced_or_removed() {
    let old = r#"{"principal_unit_name":"db/0","principal_relation_id":3,
        "metrics_alert_rules":{"alert":"Old","expr":"up"}}"#;
    let mut world = World::new().says(3, "db/0", None).with(|o| {
        let record = read_peer("config", old, &mut o.values);
        o.own_records.insert("config".into(), record);
        let record = read_peer("config-web/0", "junk", &mut o.values);
        o.own_records.insert("config-web/0".into(), record);
    });
    let outcome = world.settle();
    assert_eq!(outcome.records.keys().collect::<Vec<_>>(), ["config-db/0"]);
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Old"]);
}

#[test]
fn no_secret_reaches_a_record_a_databag_or_a_status() {
    let mut bad = good("A");
    bad["dashboards"] = json!(["SECRET!"]);
    bad["metrics_alert_rules"]["groups"][0]["rules"][0]["for"] = json!("SECRET");
    bad["metrics_alert_rules"]["groups"][0]["rules"][0]["unknown"] = json!("SECRET");
    let outcome = World::new().principal(3, "db/0", &bad).settle();
    assert_eq!(blocked(&outcome).len(), 3);
    for line in blocked(&outcome) {
        assert!(!line.contains("SECRET"), "{line}");
    }
    for bag in outcome.outgoing.values() {
        assert!(!format!("{bag:?}").contains("SECRET"));
    }
    assert!(!outcome.records["config-db/0"].contains("credentials"));
}
