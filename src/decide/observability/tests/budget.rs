//! What does not fit is left out, the largest first, and named.

use super::*;

/// Hex digits that do not compress below half.
fn noise(length: usize, mut seed: u64) -> String {
    let mut digit = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        char::from_digit((seed % 16) as u32, 16).unwrap()
    };
    (0..length).map(|_| digit()).collect()
}

fn sized(title: &str, kib: usize) -> Value {
    let uid = format!("{:040x}", kib);
    json!({"title": title, "uid": uid, "tags": ["charm: db"], "x": noise(kib << 10, kib as u64)})
}

#[test]
fn a_unit_keeps_its_records_within_their_budget() {
    let given = config(
        groups(&[group("g", &["A"])]),
        json!({}),
        &[sized("Small", 20), sized("Large", 60), sized("Middle", 40)],
    );
    let mut world = World::new().principal(3, "db/0", &given).with(|o| o.limits.records = 60 << 10);
    let outcome = world.settle();
    let total: usize = outcome.records.iter().map(|(k, v)| k.len() + v.len()).sum();
    assert!(total <= 60 << 10 && total > 30 << 10, "{total}");
    assert_eq!(
        blocked(&outcome),
        ["db/0 config $.dashboards[1] (41 KiB) left out: more than 60 KiB of cos-agent data"]
    );
    assert_eq!(templates(&outcome).len(), 2);
}

#[test]
fn rules_that_are_too_much_alone_leave_the_last_good_record() {
    let small = config(groups(&[group("g", &["A"])]), json!({}), &[]);
    let large = config(groups(&[group(&"g".repeat(5000), &["B"])]), json!({}), &[]);
    let mut world = World::new().with(|o| o.limits.records = 4096).principal(3, "db/0", &small);
    world.settle();
    let mut world = world.principal(3, "db/0", &large);
    let outcome = world.settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["A"]);
    assert_eq!(blocked(&outcome), ["db/0 config: 5 KiB of rules, more than 4 KiB; its last good data stay"]);
    let outcome = world.with(|o| o.own_records.clear()).settle();
    assert_eq!(outcome.records, BTreeMap::new());
}

#[test]
fn an_outgoing_databag_leaves_out_the_largest_dashboards() {
    let first = config(json!({}), json!({}), &[sized("Small", 20), sized("Large", 60)]);
    let second = config(json!({}), json!({}), &[sized("Middle", 40)]);
    let mut world = World::new()
        .peer("lockstep/1", "db/0", &first)
        .peer("lockstep/2", "web/0", &second)
        .with(|o| o.limits.outgoing_bag = 60 << 10);
    let outcome = world.settle();
    let bag = &outcome.outgoing[&GRAFANA];
    assert!(bag.iter().map(|(k, v)| k.len() + v.len()).sum::<usize>() <= 60 << 10);
    let titles: Vec<String> = templates(&outcome).values().map(|d| d["title"].to_string()).collect();
    assert_eq!(titles, ["\"Small\"", "\"Middle\""]);
    assert_eq!(
        blocked(&outcome),
        ["db dashboard Large (42 KiB) left out: more than 60 KiB on grafana-dashboards-provider"]
    );
}

#[test]
fn large_rules_go_the_same_way_but_never_our_own_group() {
    let given = config(groups(&[group("g", &["A"]), group(&"h".repeat(5000), &["B"])]), json!({}), &[]);
    let world = World::new().principal(3, "db/0", &given);
    let outcome = world.clone().with(|o| o.limits.outgoing_bag = 5000).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["A"]);
    let outcome = world.with(|o| o.limits.outgoing_bag = 10).settle();
    assert!(outcome.outgoing[&PROMETHEUS]["alert_rules"].contains("lockstep_forwarder_info"));
    assert_eq!(sent(&outcome, PROMETHEUS).len(), 0);
}

#[test]
fn statuses_are_bounded() {
    let rules: Vec<Value> = (0..500).map(|n| json!({"alert": n})).collect();
    let given = config(groups(&[json!({"name": "g", "rules": rules})]), json!({}), &[]);
    let outcome = World::new().principal(3, "db/0", &given).settle();
    assert_eq!(outcome.statuses.len(), 41);
    assert_eq!(outcome.statuses[40].line, "960 more faults in cos-agent data");
    let mut given = config(json!({}), json!({}), &[]);
    given["metrics_alert_rules"] =
        json!({"groups": [{"name": "g", "rules": [{"alert": "A", "expr": "up", "ü\n".repeat(900): 1}]}]});
    let outcome = World::new().principal(3, "db/0", &given).settle();
    let line = &outcome.statuses[0].line;
    assert!(line.len() <= 410 && !line.contains('\n'), "{line}");
}
