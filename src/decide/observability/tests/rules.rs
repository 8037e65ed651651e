//! Outgoing groups: names, labels, placeholder, options, our own group.

use super::*;

fn metrics(of: Value) -> Value {
    config(of, json!({}), &[])
}

fn prometheus(world: World) -> Vec<Value> {
    let mut world = world;
    sent(&world.settle(), PROMETHEUS)
}

#[test]
fn names_carry_the_application_once_whatever_the_provider_calls_them() {
    for (name, rest) in [
        ("harbor_7d1f3c2a_ledger_db_disk_rules", "disk_rules"),
        ("harbor_7d1f3c2a_ledger_db_disk_alerts", "disk_alerts"),
        ("harbor_7d1f3c2a_ledger_db:disk_rules", "disk_rules"),
        ("harbor_7d1f3c2a_ledger_dbx_rules", "harbor_7d1f3c2a_ledger_dbx_rules"),
        ("harbor_7d1f3c2a_ledger_db", "harbor_7d1f3c2a_ledger_db"),
        ("bare group / ü", "bare_group___\u{fc}"),
    ] {
        let rest = rest.replace('\u{fc}', "_");
        let world = World::new().principal(3, "ledger-db/0", &metrics(groups(&[group(name, &["A"])])));
        assert_eq!(names(&prometheus(world)), [format!("harbor_7d1f3c2a_ledger_db:{rest}")]);
    }
}

#[test]
fn one_bare_name_in_two_applications_or_twice_in_one_stays_apart() {
    let twice = |order: [&str; 2]| {
        let both = order.map(|alert| group("g", &[alert]));
        let world = World::new().principal(3, "db/0", &metrics(groups(&both))).peer(
            "lockstep/1",
            "db-g/0",
            &metrics(groups(&[group("g", &["C"])])),
        );
        prometheus(world)
    };
    let sent = twice(["A", "B"]);
    assert_eq!(sent, twice(["B", "A"]), "their order does not matter");
    assert_eq!(sent.len(), 3);
    let mut unique = names(&sent);
    unique.dedup();
    assert_eq!(unique.len(), 3);
    assert_eq!(names(&sent)[2], "harbor_7d1f3c2a_db_g:g");
    assert_eq!(twice(["A", "A"]).len(), 2, "word for word the same is one");
    // A name that a third group already has is not taken.
    let taken = names(&sent)[0].split_once(':').unwrap().1.to_owned();
    let three = [group("g", &["A"]), group("g", &["B"]), group(&taken, &["D"])];
    let world = World::new().principal(3, "db/0", &metrics(groups(&three)));
    let sent = prometheus(world);
    let unique: std::collections::BTreeSet<&str> = names(&sent).into_iter().collect();
    assert_eq!(unique.len(), 3, "{unique:?}");
}

#[test]
fn absent_labels_are_the_principals_and_present_ones_stay() {
    let given = json!({"groups": [{"name": "g", "rules": [
        {"alert": "Bare", "expr": "up"},
        {"alert": "Null", "expr": "up", "labels": null},
        {"alert": "Full", "expr": "up", "labels": {"juju_application": "other", "juju_model": "", "x": "y"}},
    ]}]});
    let world = World::new().peer("lockstep/1", "db/0", &metrics(given));
    let sent = prometheus(world);
    let labels = |n: usize| sent[0]["rules"][n]["labels"].clone();
    let own = json!({"juju_model": "harbor", "juju_model_uuid": UUID, "juju_application": "db"});
    assert_eq!(labels(0), own);
    assert_eq!(labels(1), own);
    assert_eq!(
        labels(2),
        json!({"juju_model": "", "juju_model_uuid": UUID, "juju_application": "other", "x": "y"})
    );
}

#[test]
fn the_placeholder_goes_from_metrics_and_becomes_a_matcher_for_logs() {
    let rule = |expr: &str| json!({"alert": "A", "expr": expr});
    for (expr, metric, log) in [
        ("up{%%juju_topology%%}", "up{}", r#"up{job=~".+"}"#),
        (
            r#"up{%%juju_topology%%, a="b"} + x{%%juju_topology%% ,c="d"}"#,
            r#"up{ a="b"} + x{c="d"}"#,
            r#"up{job=~".+", a="b"} + x{job=~".+" ,c="d"}"#,
        ),
        (r#"up{a="b",%%juju_topology%%}"#, r#"up{a="b",}"#, r#"up{a="b",job=~".+"}"#),
        ("up", "up", "up"),
    ] {
        let world = World::new().principal(3, "db/0", &config(rule(expr), rule(expr), &[]));
        let outcome = world.clone().settle();
        assert_eq!(sent(&outcome, PROMETHEUS)[0]["rules"][0]["expr"], json!(metric));
        assert_eq!(sent(&outcome, LOKI)[0]["rules"][0]["expr"], json!(log));
    }
}

#[test]
fn host_health_of_who_is_collected_goes_out() {
    let given = groups(&[group("harbor_7d1f3c2a_db_HostHealth_rules", &["HostDown"]), group("g", &["A"])]);
    let world = World::new().principal(3, "db/0", &config(given.clone(), given, &[]));
    let collected = |app: &str| world.clone().with(|o| o.collected.extend([app.parse().unwrap()])).settle();
    assert_eq!(alerts(&collected("db"), PROMETHEUS), ["HostDown", "A"]);
    assert_eq!(alerts(&collected("web"), PROMETHEUS), ["A"]);
}

#[test]
fn options_choose_what_goes_out() {
    let given = groups(&[
        group("harbor_7d1f3c2a_db_HostHealth_rules", &["HostDown"]),
        group("harbor_7d1f3c2a_db_HostHealth_alerts", &["HostDownOld"]),
        group("g", &["A"]),
    ]);
    let world = World::new().principal(3, "db/0", &config(given.clone(), given, &[]));
    for (health, expected) in [
        (HostHealth::Auto, vec!["A"]),
        (HostHealth::Off, vec!["A"]),
        (HostHealth::On, vec!["HostDownOld", "HostDown", "A"]),
    ] {
        let outcome = world.clone().with(|o| o.options.host_health = health).settle();
        assert_eq!(alerts(&outcome, PROMETHEUS), expected);
        assert_eq!(alerts(&outcome, LOKI), expected);
    }
    let off = world.clone().with(|o| o.options.alert_rules = false).settle();
    for relation in [PROMETHEUS, LOKI] {
        assert_eq!(off.outgoing[&relation]["alert_rules"], "{}");
    }
    let labelled = world
        .with(|o| {
            for (name, value) in
                [("env", "prod"), ("juju_application", "x"), ("bad-name", "x"), ("juju_model_uuid", "x")]
            {
                o.options.extra_labels.insert(name.into(), value.into());
            }
        })
        .settle();
    assert_eq!(
        sent(&labelled, PROMETHEUS)[0]["rules"][0]["labels"],
        json!({"env": "prod", "juju_application": "x", "juju_model": "harbor", "juju_model_uuid": UUID})
    );
}

#[test]
fn our_own_group_comes_first_with_our_own_identity() {
    let identity = json!({
        "juju_model": "harbor", "juju_model_uuid": UUID, "juju_application": "lockstep",
        "juju_charm": "lockstep", "env": "prod", "rollout": "idle",
    });
    let first = |outcome: &Outcome, relation: RelationId| -> Value {
        let rules: Value = serde_json::from_str(&outcome.outgoing[&relation]["alert_rules"]).unwrap();
        rules["groups"][0].clone()
    };
    let world = World::new().with(|o| {
        for (name, value) in [("env", "prod"), ("juju_application", "x")] {
            o.options.extra_labels.insert(name.into(), value.into());
        }
        o.rollout = Some(BTreeMap::from([("rollout".into(), "idle".into())]));
    });
    let nothing = world.clone().settle();
    assert_eq!(first(&nothing, PROMETHEUS)["rules"][0]["labels"], identity);
    assert_eq!(nothing.outgoing[&LOKI]["alert_rules"], "{}");
    let outcome =
        world.principal(3, "a/0", &config(json!({}), json!({"alert": "A", "expr": "up"}), &[])).settle();
    let group = first(&outcome, PROMETHEUS);
    assert_eq!(group["name"], json!("harbor_7d1f3c2a_lockstep:lockstep_rules"));
    assert_eq!(group["rules"][0]["record"], json!("lockstep_forwarder_info"));
    assert_eq!(group["rules"][0]["expr"], json!("vector(1)"));
    let labels = &first(&outcome, LOKI)["rules"][0]["labels"];
    assert_eq!(labels["juju_application"], json!("lockstep"));
    // What we write passes our own checks.
    for relation in [PROMETHEUS, LOKI] {
        let text = &outcome.outgoing[&relation]["alert_rules"];
        assert_eq!(crate::databag::rules::AlertRules::read(text).faults.count(), 0);
    }
}

#[test]
fn one_bad_item_is_left_out_and_all_else_goes_on() {
    let given = json!({"groups": [
        {"name": "g", "rules": [{"alert": "Good", "expr": "up"}, {"alert": "Bad"}]},
        {"name": "h", "rules": []},
        null,
    ]});
    let outcome = World::new()
        .principal(3, "db/0", &metrics(given))
        .peer("lockstep/1", "web/0", &metrics(groups(&[group("g", &["Other"])])))
        .settle();
    assert_eq!(alerts(&outcome, PROMETHEUS), ["Good", "Other"]);
    assert_eq!(
        blocked(&outcome),
        [
            "db/0 (cos-agent:3) config $.metrics_alert_rules.groups[0].rules[1]: has no expr; left out",
            "db/0 (cos-agent:3) config $.metrics_alert_rules.groups[2]: is null, not a group; left out",
        ]
    );
}

#[test]
fn a_loki_databag_names_the_application_and_no_leader() {
    let outcome = World::new().with(|o| o.unit = unit("lockstep/7")).settle();
    let metadata: Value = serde_json::from_str(&outcome.outgoing[&LOKI]["metadata"]).unwrap();
    assert_eq!(
        metadata,
        json!({"model": "harbor", "model_uuid": UUID, "application": "lockstep", "unit": "lockstep/0", "charm_name": "lockstep"})
    );
}
