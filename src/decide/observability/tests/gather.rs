//! The leader's choice: per application and kind, a function of the data alone.

use super::*;
use crate::observed::observability::Strangers;
use std::collections::BTreeSet;

fn full(alert: &str) -> Value {
    config(groups(&[group("g", &[alert])]), groups(&[group("l", &[alert])]), &[dashboard(alert, UID)])
}

fn nothing() -> Value {
    config(json!({}), json!({}), &[])
}

#[test]
fn something_beats_nothing_per_kind() {
    let metrics_only = config(groups(&[group("g", &["Mine"])]), json!({}), &[]);
    let outcome = World::new()
        .principal(3, "db/0", &metrics_only)
        .peer("lockstep/1", "db/1", &full("Sibling"))
        .peer("lockstep/2", "db/2", &nothing())
        .settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Mine"]);
    assert_eq!(alerts(&outcome, LOKI), ["Sibling"]);
    assert_eq!(templates(&outcome).len(), 1);
}

#[test]
fn a_principal_that_starts_up_hides_nothing() {
    let starting = config(groups(&[group("x_HostHealth_rules", &["HostDown"])]), json!({}), &[]);
    let outcome = World::new()
        .with(host_health_on)
        .principal(3, "db/0", &starting)
        .peer("lockstep/1", "db/1", &full("Sibling"))
        .settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Sibling"]);
}

#[test]
fn fewer_faults_beat_more_then_the_lowest_unit_number_wins() {
    let bad = groups(&[group("g", &["Bad"]), json!({"name": "h"})]);
    let outcome = World::new()
        .peer("lockstep/1", "db/1", &config(bad, json!({}), &[]))
        .peer("lockstep/2", "db/10", &full("Ten"))
        .peer("lockstep/3", "db/2", &full("Two"))
        .settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Two"]);
    assert_eq!(blocked(&outcome), [""; 0], "what is not chosen costs nothing");
}

#[test]
fn no_order_and_no_leader_changes_a_byte() {
    let (a, b, c) = (full("A"), full("B"), nothing());
    let seen_by_0 = World::new()
        .principal(3, "db/0", &c)
        .principal(4, "web/0", &a)
        .peer("lockstep/1", "db/1", &b)
        .peer("lockstep/2", "web/1", &b)
        .settle();
    let mut shuffled = World::new()
        .peer("lockstep/2", "web/1", &b)
        .peer("lockstep/1", "db/1", &b)
        .principal(4, "web/0", &a)
        .principal(3, "db/0", &c)
        .with(|o| o.outgoing.reverse());
    assert_eq!(shuffled.settle(), seen_by_0);
    let seen_by_1 = World::new()
        .with(|o| o.unit = unit("lockstep/1"))
        .principal(3, "db/1", &b)
        .peer("lockstep/0", "web/0", &a)
        .peer("lockstep/0", "db/0", &c)
        .peer("lockstep/2", "web/1", &b)
        .settle();
    assert_eq!(seen_by_1.outgoing, seen_by_0.outgoing);
}

#[test]
fn an_unreadable_record_costs_no_other_and_nothing_that_was_out() {
    let mut world = World::new()
        .principal(3, "db/0", &full("A"))
        .peer("lockstep/1", "web/0", &full("B"))
        .peer("lockstep/2", "db-replica/0", &full("C"));
    let before = world.settle();
    for (text, reason) in [
        ("junk", "$: is not JSON: expected value at line 1 column 1"),
        ("[]", "$: is a list, not an object"),
        (r#"{"unit":"web/0"}"#, "$: has no field unit_name"),
        (
            r#"{"unit_name":"web/0","relation_id":"7","dashboards":7}"#,
            "$.dashboards: is a number, not a list",
        ),
    ] {
        let mut world = world.clone().peer_raw("lockstep/1", "config-web/0", text);
        let outcome = world.settle();
        assert_eq!(outcome.outgoing, before.outgoing, "{text}");
        assert_eq!(
            blocked(&outcome),
            [format!("lockstep/1 config-web/0 {reason}; what went out for web stays")]
        );
        // A new leader finds the same in the databags.
        let outcome = world
            .with(|o| o.unit = unit("lockstep/5"))
            .peer("lockstep/0", "db/0", &full("A"))
            .with(|o| o.principals.clear())
            .settle();
        assert_eq!(outcome.outgoing, before.outgoing, "{text}");
    }
    let outcome = world
        .clone()
        .peer_raw("lockstep/1", "config-web/0", "junk")
        .peer("lockstep/3", "web/1", &full("B1"))
        .settle();
    assert_eq!(alerts(&outcome, LOKI), ["A", "C", "B1"]);
    assert_eq!(
        blocked(&outcome),
        [
            "lockstep/1 config-web/0 $: is not JSON: expected value at line 1 column 1; web is taken from another unit"
        ]
    );
}

#[test]
fn what_stays_takes_part_in_new_options() {
    let mut world = World::new().peer("lockstep/1", "web/0", &full("B"));
    world.settle();
    let mut world = world
        .peer_raw("lockstep/1", "config-web/0", "junk")
        .with(|o| drop(o.options.extra_labels.insert("env".into(), "prod".into())));
    let outcome = world.settle();
    let groups = sent(&outcome, PROMETHEUS);
    assert_eq!(groups[0]["rules"][0]["labels"]["env"], json!("prod"));
}

#[test]
fn where_the_own_databag_is_not_known_it_is_left_as_it_is() {
    let outcome = World::new()
        .peer_raw("lockstep/1", "config-web/0", "junk")
        .with(|o| o.outgoing.iter_mut().for_each(|outgoing| outgoing.own = None))
        .settle();
    assert_eq!(outcome.outgoing, BTreeMap::new());
}

#[test]
fn faults_of_peers_are_named_once_and_by_the_leader_only() {
    let mut bad = full("A");
    bad["dashboards"] = json!(["junk"]);
    let world = World::new().peer("lockstep/1", "db/1", &bad).peer("lockstep/2", "db/2", &bad);
    let outcome = world.clone().settle();
    assert_eq!(
        blocked(&outcome),
        ["lockstep/1 config-db/1 $.dashboards[0]: is not xz or LZMA data: too short; left out"]
    );
    let follower = world.clone().with(|o| o.leader = false).settle();
    assert_eq!(lines(&follower), [""; 0]);
    let outcome = world.principal(3, "db/3", &bad).settle();
    assert_eq!(
        blocked(&outcome),
        ["db/3 (cos-agent:3) config $.dashboards[0]: is not xz or LZMA data: too short; left out"]
    );
}

#[test]
fn a_departed_peer_takes_along_what_no_other_unit_has() {
    let mut world = World::new()
        .peer("lockstep/1", "db/0", &full("A"))
        .peer("lockstep/2", "db/1", &full("A"))
        .peer("lockstep/1", "web/0", &full("W"));
    assert_eq!(alerts(&world.settle(), PROMETHEUS), ["A", "W"]);
    let outcome = world.with(|o| drop(o.peer_records.remove(&unit("lockstep/1")))).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["A"]);
}

#[test]
fn three_hundred_units_of_forty_applications_are_forty_contents() {
    let contents: Vec<Value> = (0..40).map(|n| full(&format!("A{n}"))).collect();
    let mut world = World::new();
    for n in 0..300 {
        let (peer, unit) = (format!("lockstep/{}", n + 1), format!("app{}/{}", n % 40, n / 40));
        world = world.peer(&peer, &unit, &contents[n % 40]);
    }
    let outcome = world.settle();
    assert_eq!(templates(&outcome).len(), 40);
    assert_eq!(alerts(&outcome, PROMETHEUS).len(), 40);
    assert_eq!(lines(&outcome), [""; 0], "no principal of its own: quiet");
}

#[test]
fn a_leader_that_has_not_met_everybody_takes_nothing_away_that_only_strangers_know() {
    let before =
        World::new().principal(3, "db/0", &full("Db")).peer("lockstep/1", "web/0", &full("Web")).settle();
    // Another unit leads, and knows nobody but itself.
    let led = |strangers: Strangers| {
        World::new()
            .principal(3, "db/0", &full("New"))
            .holding(&before)
            .with(|observed| observed.strangers = strangers)
    };
    let outcome = led(Strangers::Any).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["New", "Web"]);
    assert_eq!(alerts(&outcome, LOKI), ["New", "Web"]);
    assert_eq!(templates(&outcome).len(), 2);
    let web = BTreeSet::from(["web".parse().unwrap()]);
    assert_eq!(outcome.strangers, web);
    // Later: still not there, then met.
    let outcome = led(Strangers::These(web.clone())).settle();
    assert_eq!(
        (alerts(&outcome, PROMETHEUS), &outcome.strangers),
        (vec!["New".to_owned(), "Web".to_owned()], &web)
    );
    let outcome = led(Strangers::These(web)).peer("lockstep/1", "web/0", &full("Newer")).settle();
    assert_eq!(
        (alerts(&outcome, PROMETHEUS), outcome.strangers.len()),
        (vec!["New".to_owned(), "Newer".to_owned()], 0)
    );
    let outcome = led(Strangers::None).settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["New"]);
}
