//! Outgoing templates: each dashboard once, under a uid and an id of its own.

use super::*;
use crate::databag::grafana::template_prefix;

fn sends(dashboards: &[Value]) -> World {
    World::new().principal(3, "db/0", &config(json!({}), json!({}), dashboards))
}

fn uids(outcome: &Outcome) -> Vec<String> {
    let uid = |d: &Value| d["uid"].as_str().unwrap().to_owned();
    templates(outcome).values().map(uid).collect()
}

#[test]
fn a_sound_dashboard_passes_as_it_came() {
    let given = config(json!({}), json!({}), &[dashboard("Disk/IO", UID)]);
    let outcome = World::new().principal(3, "db/0", &given).settle();
    let written: Value = serde_json::from_str(&outcome.outgoing[&GRAFANA]["dashboards"]).unwrap();
    let id = format!("file:harbor_7d1f3c2a_db:disk_io:{UID}");
    assert_eq!(written["templates"][&id]["content"], given["dashboards"][0]);
    assert_eq!(written["templates"][&id]["charm"], json!("lockstep"));
    assert_eq!(written["templates"][&id]["inject_dropdowns"], json!(true));
    assert_eq!(
        written["templates"][&id]["juju_topology"],
        json!({"model": "harbor", "model_uuid": UUID, "application": "lockstep", "unit": "lockstep/0"})
    );
}

#[test]
fn no_title_or_one_title_four_times_is_four_dashboards() {
    // F8: two without a title, one with it inside, one whose title is another principal's too.
    let given = [
        json!({"panels": [1]}),
        json!({"panels": [2]}),
        json!({"dashboard": {"title": "In/side"}}),
        json!({"title": "Shared"}),
    ];
    let other = config(json!({}), json!({}), &[json!({"title": "Shared"})]);
    let outcome = sends(&given).peer("lockstep/1", "web/0", &other).settle();
    let sent = templates(&outcome);
    assert_eq!(sent.len(), 5);
    let unique: std::collections::BTreeSet<String> = uids(&outcome).into_iter().collect();
    assert_eq!(unique.len(), 5);
    assert!(unique.iter().all(|uid| uid.len() == 40));
    let same = [0, 1, 2, 3].map(|n| json!({"title": "Same", "panels": [n]}));
    assert_eq!(templates(&sends(&same).settle()).len(), 4);
    let reversed: Vec<Value> = same.iter().rev().cloned().collect();
    assert_eq!(sends(&same).settle().outgoing, sends(&reversed).settle().outgoing);
}

#[test]
fn a_uid_that_is_made_survives_a_new_version_and_its_neighbours() {
    let uid_of = |given: &[Value], title: &str| {
        let sent = templates(&sends(given).settle());
        let found = sent.values().find(|d| d["title"] == json!(title)).unwrap();
        found["uid"].as_str().unwrap().to_owned()
    };
    let a = json!({"title": "A", "panels": [1]});
    let newer = json!({"title": "A", "panels": [1, 2]});
    let b = json!({"title": "B"});
    let uid = uid_of(std::slice::from_ref(&a), "A");
    assert_eq!(uid_of(&[newer], "A"), uid);
    assert_eq!(uid_of(&[b.clone(), a.clone()], "A"), uid);
    assert_ne!(uid_of(&[b, a], "B"), uid);
    // A short uid is what the provider knows it by; then the title may change.
    let named = |title: &str| json!({"title": title, "uid": "disk-io"});
    assert_eq!(uid_of(&[named("X")], "X"), uid_of(&[named("Y")], "Y"));
}

#[test]
fn one_uid_twice_is_one_dashboard_only_if_it_is_the_same_one() {
    let one = json!({"title": "One", "uid": UID, "tags": ["charm: db"], "version": 1});
    let two = json!({"title": "Two", "uid": UID, "tags": ["charm: db"], "version": 2});
    assert_eq!(templates(&sends(&[one.clone(), one.clone()]).settle()).len(), 1);
    let outcome = sends(&[one.clone(), two.clone()]).settle();
    let sent = templates(&outcome);
    assert_eq!(sent.len(), 2);
    let kept = sent.values().find(|d| d["uid"] == json!(UID)).unwrap();
    assert_eq!(kept["title"], json!("Two"), "what Grafana would have shown keeps it");
    assert_eq!(outcome.outgoing, sends(&[two, one.clone()]).settle().outgoing);
    // Two deployments of one charm mean the same dashboard: the uid stays.
    let other = config(json!({}), json!({}), std::slice::from_ref(&one));
    let outcome = sends(&[one]).peer("lockstep/1", "db-two/0", &other).settle();
    assert_eq!(uids(&outcome), [UID, UID]);
}

#[test]
fn the_tag_names_the_principals_charm_if_its_rules_tell() {
    let tag = |labels: &[Value]| {
        let rule = |l: &Value| json!({"alert": "A", "expr": "up", "labels": l});
        let rules: Vec<Value> = labels.iter().map(rule).collect();
        let given = config(
            groups(&[json!({"name": "g", "rules": rules})]),
            json!({}),
            &[json!({"title": "A", "tags": ["x"]})],
        );
        let outcome = World::new().principal(3, "db/0", &given).settle();
        templates(&outcome).values().next().unwrap()["tags"].clone()
    };
    let charm = |name: &str| json!({"juju_charm": name});
    assert_eq!(tag(&[charm("postgresql"), json!({})]), json!(["x", "charm: postgresql"]));
    assert_eq!(tag(&[charm("a"), charm("b")]), json!(["x", "charm: db"]));
    assert_eq!(tag(&[]), json!(["x", "charm: db"]));
}

#[test]
fn each_corrupt_dashboard_costs_itself_alone() {
    let mut given = config(
        json!({}),
        json!({}),
        &[
            json!([]),
            json!({"tags": null, "title": "Null tags"}),
            json!({"title": 7}),
            json!({"templating": {}}),
            json!({"title": "x".repeat(5000)}),
            dashboard("Good", UID),
        ],
    );
    let encoded = given["dashboards"].as_array_mut().unwrap();
    encoded.extend([json!("#"), json!("/Td6WFoAAATm1rRG"), json!(7), json!(null)]);
    let mut world = World::new().principal(3, "db/0", &given);
    let outcome = world.settle();
    let sent = templates(&outcome);
    let titles: Vec<usize> = sent.values().map(|d| d["title"].as_str().unwrap().len()).collect();
    assert_eq!(titles, [4, 9, 5000]);
    assert!(sent.keys().all(|id| id.len() < 200));
    let places: Vec<&str> =
        blocked(&outcome).into_iter().map(|line| line.split(": ").next().unwrap()).collect();
    let at = |n: usize| format!("db/0 (cos-agent:3) config $.dashboards[{n}]");
    assert_eq!(places, [8, 9, 0, 2, 3, 6, 7].map(at));
}

#[test]
fn ids_of_one_application_are_never_taken_for_anothers() {
    let topology = World::new().0.topology;
    let prefix = |name: &str| template_prefix(&topology, &name.parse().unwrap());
    assert!(!prefix("db-replica").starts_with(&prefix("db")));
}

#[test]
fn no_dashboards_is_an_empty_object_and_decoding_happens_once() {
    let outcome = World::new().settle();
    assert!(outcome.outgoing[&GRAFANA]["dashboards"].starts_with(r#"{"templates":{},"#));
    let mut world = sends(&[dashboard("Good", UID), json!({"title": "Rewritten"})]);
    let outcome = world.settle();
    // With the memo alone a dashboard that is rewritten needs no text any more.
    let source = &world.0.principals[0].config.as_ref().unwrap().as_ref().unwrap().dashboards[1];
    let mut fewer = Values::default();
    for (digest, text) in world.0.values.iter() {
        if digest != source {
            fewer.keep(text);
        }
    }
    world.0.values = fewer;
    assert_eq!(decide(&world.0).outgoing, outcome.outgoing);
}
