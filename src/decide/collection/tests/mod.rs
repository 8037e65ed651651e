mod golden;
mod machine;
mod properties;
mod steps;

use super::{Wanted, render};
use crate::databag::{Topology, scrape};
use crate::observed::Collection;
use crate::snap::Mount;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What a unit beside one principal wants that has told nothing.
pub(crate) fn wanted() -> Wanted {
    Wanted {
        unit: "lockstep/3".parse().unwrap(),
        topology: Topology {
            model: "harbor".to_owned(),
            model_uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".to_owned(),
            application: "lockstep".parse().unwrap(),
            charm: "lockstep".to_owned(),
        },
        host: "node-1".to_owned(),
        jobs: BTreeMap::new(),
        slots: BTreeMap::new(),
        mounts: BTreeSet::new(),
        remote_write: BTreeSet::new(),
        loki: BTreeSet::new(),
        certificates: false,
        host_logs: true,
        sole: None,
    }
}

/// What a unit observes beside a principal that tells a job and a slot, where COS takes both.
pub(crate) fn part() -> Collection {
    machine::Case::new().part
}

/// The same with a principal that tells these jobs and slots.
pub(crate) fn with(mut wanted: Wanted, principal: &str, jobs: Value, slots: &[&str]) -> Wanted {
    let read = scrape::read(&json!({"metrics_scrape_jobs": jobs, "log_slots": slots}).to_string()).unwrap();
    let unit: crate::juju::UnitName = principal.parse().unwrap();
    for slot in read.slots {
        wanted.slots.entry(slot).or_insert(unit.clone());
    }
    wanted.jobs.insert(unit, read.jobs);
    wanted
}

/// What snapd has mounted, as `snap place`.
fn mounts(of: &[&str]) -> BTreeSet<Mount> {
    let mount = |text: &&str| {
        let (snap, place) = text.split_once(' ').unwrap();
        Mount { snap: snap.parse().unwrap(), place: place.to_owned() }
    };
    of.iter().map(mount).collect()
}

/// The configuration behind the header, as the collector reads it.
fn config(wanted: &Wanted) -> Option<Value> {
    let rendered = render(wanted)?;
    let text: String =
        rendered.text.expose().lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    Some(serde_json::from_str(&text).unwrap())
}

#[test]
fn metrics_and_logs_do_not_need_each_other_and_nothing_wanted_is_no_file() {
    let both = with(wanted(), "ledger-db/0", json!([{"job_name": "a"}]), &["ledger:logs"]);
    assert_eq!(render(&both), None);
    let url = |text: &str| BTreeSet::from([text.to_owned().try_into().unwrap()]);
    let pipelines = |wanted: &Wanted| {
        let config = config(wanted).unwrap();
        config["service"]["pipelines"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let metrics = Wanted { remote_write: url("http://p/write"), ..both.clone() };
    assert_eq!(pipelines(&metrics), ["metrics/lockstep_3"]);
    assert_eq!(render(&metrics).unwrap().collected.len(), 1);
    let logs = Wanted { loki: url("http://l/push"), ..both.clone() };
    assert_eq!(pipelines(&logs), ["logs/lockstep_3"]);
    assert_eq!(render(&logs).unwrap().collected.len(), 0);
    // Nothing is mounted yet, and another unit ships the machine's lines.
    assert_eq!(render(&Wanted { host_logs: false, ..logs }), None);
}

#[test]
fn a_ca_is_added_to_the_systems_own_for_https_alone() {
    let mut wanted = with(wanted(), "ledger-db/0", json!([{"job_name": "a"}]), &[]);
    wanted.certificates = true;
    wanted.remote_write =
        ["http://p/write", "https://p/write"].map(|url| url.to_owned().try_into().unwrap()).into();
    let config = config(&wanted).unwrap();
    let with_tls: Vec<&Value> = config["exporters"]
        .as_object()
        .unwrap()
        .values()
        .filter(|exporter| exporter["tls"].is_object())
        .collect();
    assert_eq!(with_tls.len(), 1);
    assert_eq!(with_tls[0]["endpoint"], "https://p/write");
    assert_eq!(with_tls[0]["tls"]["include_system_ca_certs_pool"], true);
    assert!(config.to_string().matches("insecure_skip_verify").next().is_none());
}

#[test]
fn lines_of_the_machine_are_the_one_principals_and_lockstep_s_where_there_are_several() {
    let mut wanted = with(wanted(), "ledger-db/0", json!([]), &[]);
    wanted.loki = BTreeSet::from(["http://l/push".to_owned().try_into().unwrap()]);
    let labels = |wanted: &Wanted| {
        config(wanted).unwrap()["receivers"]["filelog/lockstep_3/var-log"]["attributes"].clone()
    };
    let several = labels(&wanted);
    assert_eq!((&several["juju_application"], &several["juju_unit"]), (&json!("lockstep"), &Value::Null));
    wanted.sole = Some("ledger-db/0".parse().unwrap());
    let one = labels(&wanted);
    assert_eq!((&one["juju_application"], &one["juju_unit"]), (&json!("ledger-db"), &json!("ledger-db/0")));
    assert_eq!(one["collected_by"], "lockstep");
}
