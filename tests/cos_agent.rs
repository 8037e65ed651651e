//! The golden cases of `tests/cos_agent/`, through `decide` and compared on meaning.

#![expect(clippy::indexing_slicing, reason = "a missing field of a JSON value is null")]

#[path = "support/meaning.rs"]
mod meaning;

use lockstep::databag::record::{is_record_key, read_config, read_peer};
use lockstep::databag::{Topology, Values};
use lockstep::decide::observability::{Outcome, decide};
use lockstep::juju::{Level, RelationId, UnitName};
use lockstep::observed::observability::{
    ForwardOptions, HostHealth, Observability, Outgoing, Principal, Records,
};
use meaning::{Bag, Written, differences};
use serde_json::Value;
use std::collections::BTreeMap;

type Error = Box<dyn std::error::Error>;

/// What a charm observes in a case, built as the observing part of a pass does it.
fn observed(case: &Value) -> Result<Observability, Error> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut values = Values::default();
    let unit: UnitName = text(&case["local_unit"]).parse()?;
    let mut principals = Vec::new();
    for principal in case["principals"].as_array().into_iter().flatten() {
        let config = principal["databag"]["config"].as_str();
        principals.push(Principal {
            relation: format!("{}:{}", text(&principal["relation_name"]), principal["relation_id"])
                .parse()?,
            unit: text(&principal["unit"]).parse()?,
            config: config.map(|config| read_config(config, &mut values)),
        });
    }
    let own_records = records(&case["own_peer_databag_before"], &mut values);
    let mut peer_records = BTreeMap::new();
    for (peer, bag) in case["peers"].as_object().into_iter().flatten() {
        peer_records.insert(peer.parse()?, records(bag, &mut values));
    }
    let mut outgoing = Vec::new();
    for (endpoint, number) in case["outgoing_relations"].as_object().into_iter().flatten() {
        outgoing.push(Outgoing {
            relation: format!("{endpoint}:{number}").parse()?,
            event: None,
            own: Some(Bag::new()),
        });
    }
    Ok(Observability {
        topology: Topology {
            model: text(&case["model"]["name"]),
            model_uuid: text(&case["model"]["uuid"]),
            application: unit.application().clone(),
            charm: text(&case["charm_name"]),
        },
        unit,
        leader: case["leader"] == Value::Bool(true),
        peers_related: true,
        principals,
        own_records,
        peer_records,
        outgoing,
        collected: Default::default(),
        strangers: Default::default(),
        options: ForwardOptions { host_health: HostHealth::On, ..ForwardOptions::default() },
        limits: Default::default(),
        values,
        memo: Default::default(),
        rollout: None,
    })
}

fn records(bag: &Value, values: &mut Values) -> Records {
    let keys = bag.as_object().into_iter().flatten();
    keys.filter(|(key, _)| is_record_key(key))
        .map(|(key, text)| (key.clone(), read_peer(key, text.as_str().unwrap_or_default(), values)))
        .collect()
}

fn written(outcome: &Outcome, case: &Value) -> Result<Written, Error> {
    let bag = |endpoint: &str| -> Result<Bag, Error> {
        let id: RelationId = format!("{endpoint}:{}", case["outgoing_relations"][endpoint]).parse()?;
        Ok(outcome.outgoing.get(&id).cloned().unwrap_or_default())
    };
    Ok(Written {
        peers: outcome.records.clone(),
        remote_write: bag("send-remote-write")?,
        loki: bag("logging-consumer")?,
        dashboards: bag("grafana-dashboards-provider")?,
    })
}

/// What would be observed after the outcome was acted upon.
fn after(observed: &Observability, outcome: &Outcome) -> Observability {
    let mut after = observed.clone();
    after.own_records = outcome
        .records
        .iter()
        .map(|(key, text)| (key.clone(), read_peer(key, text, &mut after.values)))
        .collect();
    for outgoing in &mut after.outgoing {
        if let Some(bag) = outcome.outgoing.get(&outgoing.relation) {
            outgoing.own = Some(bag.clone());
        }
    }
    after.memo = outcome.memo.clone();
    after
}

fn cases() -> Result<Vec<Value>, Error> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cos_agent");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            cases.push(serde_json::from_str(&std::fs::read_to_string(path)?)?);
        }
    }
    cases.sort_by_key(|case: &Value| case["name"].to_string());
    Ok(cases)
}

#[test]
fn every_case_comes_out_as_the_reference_has_it() {
    let cases = cases().unwrap();
    assert_eq!(cases.len(), 11);
    for case in cases {
        let name = &case["name"];
        let observed = observed(&case).unwrap();
        let outcome = decide(&observed);
        let found = differences(&case, &written(&outcome, &case).unwrap());
        assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
        let again = decide(&after(&observed, &outcome));
        assert_eq!(again, outcome, "{name}: deciding again changes something");
        let blocked: Vec<&str> = outcome
            .statuses
            .iter()
            .filter(|status| status.level == Level::Blocked)
            .map(|status| status.line.as_str())
            .collect();
        if name == "11-invalid-json-config" {
            assert_eq!(
                blocked,
                [
                    "kubernetes-control-plane/0 (cos-agent:3) config $: is not JSON: EOF while parsing a string at line 1 column 300; not forwarded"
                ]
            );
        } else {
            assert_eq!(blocked, [""; 0], "{name}");
        }
    }
}

#[test]
fn the_comparison_sees_what_must_not_differ() {
    let case = &cases().unwrap()[0];
    let outcome = decide(&observed(case).unwrap());
    let good = || written(&outcome, case).unwrap();
    let replaced = |bag: &mut Bag, from: &str, to: &str| {
        for value in bag.values_mut() {
            assert!(value.contains(from), "{from}");
            *value = value.replace(from, to);
        }
    };
    let change = |f: &dyn Fn(&mut Written)| {
        let mut written = good();
        f(&mut written);
        differences(case, &written).len()
    };
    assert_eq!(change(&|_| {}), 0);
    assert!(change(&|w| w.peers.clear()) > 0);
    assert!(change(&|w| replaced(&mut w.peers, "\"relation_id\":\"3\"", "\"relation_id\":3")) > 0);
    assert!(change(&|w| replaced(&mut w.remote_write, "15m", "16m")) > 0);
    assert!(change(&|w| replaced(&mut w.remote_write, "> 0.1", "> 0.2")) > 0);
    assert!(change(&|w| w.loki.clear()) > 0);
    assert!(change(&|w| w.dashboards.clear()) > 0);
    assert!(
        change(&|w| replaced(&mut w.dashboards, "\"inject_dropdowns\":true", "\"inject_dropdowns\":false"))
            > 0
    );
}
