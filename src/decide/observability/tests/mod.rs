//! A small world to decide in, and the tests by topic.

mod budget;
mod dashboards;
mod gather;
mod own;
mod properties;
mod refusals;
mod rules;

use super::{Outcome, decide};
use crate::databag::dashboard::{decode, encode};
use crate::databag::record::{is_record_key, read_config, read_peer, record_key};
use crate::databag::{Topology, Values, record};
use crate::juju::{Endpoint, Level, RelationId, UnitName};
use crate::observed::observability::{HostHealth, Observability, Outgoing, Principal};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const UUID: &str = "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41";
const UID: &str = "aba19dedc9e97b5baa61c4977d1bdd2ae9665060";

/// What one unit observes.
#[derive(Debug, Clone)]
struct World(Observability);

fn unit(name: &str) -> UnitName {
    name.parse().unwrap()
}

fn relation(endpoint: Endpoint, number: u32) -> RelationId {
    RelationId { endpoint, number }
}

/// The three outgoing relations of a world.
const PROMETHEUS: RelationId = RelationId { endpoint: Endpoint::SendRemoteWrite, number: 101 };
const LOKI: RelationId = RelationId { endpoint: Endpoint::LoggingConsumer, number: 102 };
const GRAFANA: RelationId = RelationId { endpoint: Endpoint::GrafanaDashboards, number: 103 };

impl World {
    /// A leader, `lockstep/0`, with three outgoing relations and no principal.
    fn new() -> Self {
        let outgoing = |relation| Outgoing { relation, event: None, own: Some(BTreeMap::new()) };
        Self(Observability {
            topology: Topology {
                model: "harbor".into(),
                model_uuid: UUID.into(),
                application: "lockstep".parse().unwrap(),
                charm: "lockstep".into(),
            },
            unit: unit("lockstep/0"),
            leader: true,
            peers_related: true,
            principals: Vec::new(),
            own_records: BTreeMap::new(),
            peer_records: BTreeMap::new(),
            outgoing: [PROMETHEUS, LOKI, GRAFANA].map(outgoing).to_vec(),
            collected: Default::default(),
            strangers: Default::default(),
            options: Default::default(),
            limits: Default::default(),
            values: Values::default(),
            memo: Default::default(),
            rollout: None,
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Observability)) -> Self {
        change(&mut self.0);
        self
    }

    /// A principal that says this on `cos-agent`; any earlier word of it on that relation is replaced.
    fn says(mut self, number: u32, name: &str, config: Option<&str>) -> Self {
        let id = relation(Endpoint::CosAgent, number);
        let config = config.map(|text| read_config(text, &mut self.0.values));
        self.0.principals.retain(|p| p.relation != id);
        self.0.principals.push(Principal { relation: id, unit: unit(name), config });
        self
    }

    fn principal(self, number: u32, name: &str, config: &Value) -> Self {
        self.says(number, name, Some(&config.to_string()))
    }

    /// What a key of a peer's databag holds.
    fn peer_raw(mut self, peer: &str, key: &str, text: &str) -> Self {
        assert!(is_record_key(key));
        let record = read_peer(key, text, &mut self.0.values);
        let records = self.0.peer_records.entry(unit(peer)).or_default();
        records.insert(key.to_owned(), record);
        self
    }

    /// A peer's record of a principal that said this.
    fn peer(mut self, peer: &str, name: &str, config: &Value) -> Self {
        let content = read_config(&config.to_string(), &mut self.0.values).unwrap();
        let record = record::Record {
            unit: unit(name),
            relation_number: "7".into(),
            relation_name: "cos-agent".into(),
            content,
        };
        let text = record::write_peer(&record, &self.0.values);
        self.peer_raw(peer, &record_key(&unit(name)), &text)
    }

    /// The outgoing databags are as they were left.
    fn holding(mut self, before: &Outcome) -> Self {
        for outgoing in &mut self.0.outgoing {
            outgoing.own = before.outgoing.get(&outgoing.relation).cloned();
        }
        self
    }

    /// Decides, acts, and checks that there is nothing left to do.
    fn settle(&mut self) -> Outcome {
        let outcome = decide(&self.0);
        self.act(&outcome);
        assert_eq!(decide(&self.0), outcome, "deciding again changes something");
        outcome
    }

    fn act(&mut self, outcome: &Outcome) {
        let values = &mut self.0.values;
        self.0.own_records =
            outcome.records.iter().map(|(key, text)| (key.clone(), read_peer(key, text, values))).collect();
        for outgoing in &mut self.0.outgoing {
            if let Some(bag) = outcome.outgoing.get(&outgoing.relation) {
                outgoing.own = Some(bag.clone());
            }
        }
        self.0.memo = outcome.memo.clone();
    }
}

/// A `config` value.
fn config(metrics: Value, logs: Value, dashboards: &[Value]) -> Value {
    let dashboards: Vec<String> = dashboards.iter().map(|json| encode(&json.to_string()).unwrap()).collect();
    json!({
        "metrics_alert_rules": metrics, "log_alert_rules": logs, "dashboards": dashboards,
        "metrics_scrape_jobs": [{"authorization": {"credentials": "SECRET"}}], "log_slots": "a:b:c",
        "tracing_protocols": ["jaeger_grpc", "unheard-of"],
    })
}

/// One group of alerts of those names.
fn group(name: &str, alerts: &[&str]) -> Value {
    let rules: Vec<Value> = alerts.iter().map(|alert| json!({"alert": alert, "expr": "up < 1"})).collect();
    json!({"name": name, "rules": rules})
}

fn groups(groups: &[Value]) -> Value {
    json!({ "groups": groups })
}

/// A dashboard that may pass as it is.
fn dashboard(title: &str, uid: &str) -> Value {
    json!({"title": title, "uid": uid, "tags": ["charm: db"], "version": 1})
}

/// What a databag's `alert_rules` holds, our own group left out.
fn sent(outcome: &Outcome, relation: RelationId) -> Vec<Value> {
    let rules: Value = serde_json::from_str(&outcome.outgoing[&relation]["alert_rules"]).unwrap();
    let groups = rules["groups"].as_array().cloned().unwrap_or_default();
    let ours = |group: &&Value| group["name"] != json!("harbor_7d1f3c2a_lockstep:lockstep_rules");
    groups.iter().filter(ours).cloned().collect()
}

fn names(groups: &[Value]) -> Vec<&str> {
    groups.iter().map(|group| group["name"].as_str().unwrap()).collect()
}

/// Names of all alerts that go to a relation.
fn alerts(outcome: &Outcome, relation: RelationId) -> Vec<String> {
    let groups = sent(outcome, relation);
    let rules = groups.iter().flat_map(|group| group["rules"].as_array().unwrap());
    rules.map(|rule| rule["alert"].as_str().unwrap_or("?").to_owned()).collect()
}

/// Decoded dashboards by template id.
fn templates(outcome: &Outcome) -> BTreeMap<String, Value> {
    let written: Value = serde_json::from_str(&outcome.outgoing[&GRAFANA]["dashboards"]).unwrap();
    let templates = written["templates"].as_object().unwrap().iter();
    templates
        .map(|(id, template)| {
            let decoded = decode(template["content"].as_str().unwrap()).unwrap();
            (id.clone(), serde_json::from_str(&decoded.json).unwrap())
        })
        .collect()
}

fn blocked(outcome: &Outcome) -> Vec<&str> {
    outcome
        .statuses
        .iter()
        .filter(|status| status.level == Level::Blocked)
        .map(|status| status.line.as_str())
        .collect()
}

fn lines(outcome: &Outcome) -> Vec<String> {
    let line = |s: &crate::juju::Status| format!("{} {}", s.level, s.line);
    outcome.statuses.iter().map(line).collect()
}

fn host_health_on(observed: &mut Observability) {
    observed.options.host_health = HostHealth::On;
}
