//! Field case F8 to the end: which dashboards really reach Grafana.

use crate::golden::meaning::decoded;
use crate::support::{Cache, run};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn f8_all_four_dashboards_reach_grafana_each_under_an_id_and_a_uid_of_its_own() {
    let ended = run("f8_dashboards_with_one_title_or_none_are_all_forwarded", Cache::Kept);
    let ends = ["lockstep:grafana-dashboards-provider", "grafana:grafana-dashboard"].map(str::to_owned);
    let relation = ended.sim.relation_named(&ends).unwrap();
    let bag = &ended.sim.world.relations[&relation].apps["lockstep"].values;
    let written: Value = serde_json::from_str(&bag["dashboards"]).unwrap();
    let templates: BTreeMap<String, Value> = serde_json::from_value(written["templates"].clone()).unwrap();
    let dashboards: Vec<Value> =
        templates.values().map(|template| decoded(&template["content"]).unwrap()).collect();
    let uids: BTreeSet<&str> =
        dashboards.iter().map(|dashboard| dashboard["uid"].as_str().unwrap()).collect();
    assert_eq!((templates.len(), uids.len()), (5, 5));
    assert_eq!(dashboards.iter().filter(|dashboard| dashboard["title"] == "Control Plane").count(), 2);
    let marks: BTreeSet<String> =
        dashboards.iter().filter_map(|d| d.get("x")).map(Value::to_string).collect();
    assert_eq!(marks.len(), 2, "both that have no title");
    assert!(templates.keys().all(|id| !id.contains('/')), "{:?}", templates.keys());
}
