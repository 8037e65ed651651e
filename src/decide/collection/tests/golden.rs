//! Whole files, in `tests/collector/`. `UPDATE_EXPECT=1 cargo test --lib golden` writes them anew; look at
//! every change: a collector that is older by a charm refresh reads them beside its own.

use super::{mounts, wanted, with};
use crate::decide::collection::{Wanted, render};
use expect_test::{ExpectFile, expect_file};
use serde_json::{Value, json};

fn check(wanted: &Wanted, expected: &ExpectFile) {
    expected.assert_eq(render(wanted).unwrap().text.expose());
}

fn everything() -> Wanted {
    let jobs = json!([
        {"job_name": "ledger-db_0", "path": "/metrics", "port": 9101},
        {
            "job_name": "ledger-db_default_0238798d", "scheme": "https", "metrics_path": "/metrics",
            "authorization": {"type": "Bearer", "credentials": "s3cret$1"},
            "tls_config": {"insecure_skip_verify": true},
            "static_configs": [{"targets": ["localhost:9443"], "labels": {"juju_unit": "forged", "shard": "b"}}],
            "metric_relabel_configs": [
                {"source_labels": ["__name__"], "regex": "ledger_(.*)", "target_label": "short", "replacement": "${1}"},
            ],
        },
    ]);
    let mut wanted = with(wanted(), "ledger-db/0", jobs, &["ledger:logs"]);
    wanted.mounts = mounts(&["ledger audit", "ledger logs-2", "other logs"]);
    wanted.remote_write =
        ["https://cos.example/cos-prometheus-0/api/v1/write", "http://10.1.4.8:9090/api/v1/write"]
            .map(|url| url.to_owned().try_into().unwrap())
            .into();
    wanted.loki =
        ["http://10.1.4.7:3100/loki/api/v1/push"].map(|url| url.to_owned().try_into().unwrap()).into();
    wanted.certificates = true;
    wanted.sole = Some("ledger-db/0".parse().unwrap());
    wanted
}

#[test]
fn golden_everything_of_one_principal() {
    check(&everything(), &expect_file!["../../../../tests/collector/one-principal.yaml"]);
}

#[test]
fn golden_a_second_unit_on_the_machine() {
    let mut second = with(
        everything(),
        "k8s/2",
        json!([{"job_name": "a", "static_configs": [{"targets": ["localhost:1"]}]}]),
        &[],
    );
    second.unit = "lockstep/12".parse().unwrap();
    (second.host_logs, second.sole, second.certificates) = (false, None, false);
    check(&second, &expect_file!["../../../../tests/collector/second-unit.yaml"]);
}

/// The jobs of every golden case of cos-agent.
#[test]
fn golden_jobs_of_the_field() {
    let mut wanted = everything();
    (wanted.jobs, wanted.slots) = Default::default();
    for case in ["01-simple", "07-null-and-extra-fields", "08-old-provider", "09-two-principals-one-unit"] {
        let path = format!("{}/tests/cos_agent/{case}.json", env!("CARGO_MANIFEST_DIR"));
        let case: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for principal in case["principals"].as_array().unwrap() {
            let config: Value =
                serde_json::from_str(principal["databag"]["config"].as_str().unwrap()).unwrap();
            let slots: Vec<&str> =
                config["log_slots"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            wanted = with(
                wanted,
                principal["unit"].as_str().unwrap(),
                config["metrics_scrape_jobs"].clone(),
                &slots,
            );
        }
    }
    assert!(wanted.jobs.len() > 2);
    check(&wanted, &expect_file!["../../../../tests/collector/jobs-of-the-field.yaml"]);
}
