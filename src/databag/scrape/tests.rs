use super::*;

fn read_of(jobs: Value, slots: Value) -> Jobs {
    read(&json!({JOBS: jobs, SLOTS: slots, "dashboards": 7}).to_string()).unwrap()
}

fn faults(jobs: Value) -> Vec<String> {
    read_of(jobs, json!([])).faults.iter().map(ToString::to_string).collect()
}

#[test]
fn old_jobs_become_standard_and_repeated_names_are_told_apart() {
    let old = json!({"job_name": "db_0", "path": "/metrics", "port": "9101"});
    let read = read_of(json!([old, {"job_name": "a"}, {"job_name": "a"}, {"job_name": "a_2"}]), json!([]));
    assert_eq!(read.faults, []);
    let names: Vec<&str> = read.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["a", "a_2", "a_2_2", "db_0"]);
    let expected = json!({
        "metrics_path": "/metrics",
        "static_configs": [{"targets": ["localhost:9101"]}],
        "tls_config": {"insecure_skip_verify": true},
    });
    assert_eq!(Value::from(read.jobs[3].expose().clone()), expected);
}

#[test]
fn a_bad_job_is_named_and_left_out_and_its_values_are_not_told() {
    let table = [
        (json!(7), "$.metrics_scrape_jobs[0]: is a number, not an object"),
        (json!({}), "$.metrics_scrape_jobs[0]: has no job_name"),
        (
            json!({"job_name": "a", "port": 1, "path": "x"}),
            ".metrics_path: is no path that begins with / (job a)",
        ),
        (json!({"job_name": "a", "port": 0, "path": "/"}), ".port: is no port"),
        (json!({"job_name": "a", "port": 80}), ".port: is no field that is known here (job a)"),
        (
            json!({"job_name": "a", "kubernetes_sd_configs": []}),
            "is discovery, which is not supported (job a)",
        ),
        (
            json!({"job_name": "a", "bearer_token_file": "/s3cret"}),
            "is a file, which the collector cannot read (job a)",
        ),
        (
            json!({"job_name": "a", "tls_config": {"ca_file": "/s3cret"}}),
            ".tls_config.ca_file: is a file, which the collector cannot read (job a)",
        ),
        (
            json!({"job_name": "a", "bearer_token": "s3cret", "authorization": {"credentials": "s3cret"}}),
            ".bearer_token: stands beside other credentials (job a)",
        ),
        (
            json!({"job_name": "a", "scrape_timeout": "2m"}),
            ".scrape_timeout: is longer than the interval (job a)",
        ),
        (
            json!({"job_name": "a", "scrape_timeout": "10s", "scrape_interval": "5s"}),
            ".scrape_timeout: is longer than the interval (job a)",
        ),
        (
            json!({"job_name": "a", "scrape_interval": "s3cret"}),
            ".scrape_interval: is no duration such as 30s (job a)",
        ),
        (
            json!({"job_name": "a", "static_configs": [{"targets": ["http://s3cret"]}]}),
            ".static_configs[0].targets[0]: is not host:port (job a)",
        ),
        (
            json!({"job_name": "a", "static_configs": [{"targets": [], "labels": {"a-b": "s3cret"}}]}),
            ".static_configs[0].labels: has a name that is no label's (job a)",
        ),
        (
            json!({"job_name": "a", "metric_relabel_configs": [{"action": "s3cret"}]}),
            ".metric_relabel_configs[0].action: is no action of relabelling (job a)",
        ),
        (
            json!({"job_name": "a", "authorization": {"credentials": ["s3cret"]}}),
            ".authorization.credentials: is a list, not a text (job a)",
        ),
        (
            json!({"job_name": "a", "scrape_protocols": ["s3cret"]}),
            ".scrape_protocols[0]: is no protocol that is known here (job a)",
        ),
        (
            json!({"job_name": "a", "tls_config": {"min_version": "1.2"}}),
            ".tls_config.min_version: is no version such as TLS12 (job a)",
        ),
        (json!({"job_name": "a", "no_proxy": "b"}), ".no_proxy: stands without a proxy_url (job a)"),
        (
            json!({"job_name": "a", "proxy_from_environment": true, "proxy_url": "http://b"}),
            ".proxy_from_environment: stands beside another proxy (job a)",
        ),
        (json!({"job_name": "a", "params": {"p": "s3cret"}}), ".params.p: is a text, not a list (job a)"),
    ];
    for (bad, expected) in table {
        let found = faults(json!([bad, {"job_name": "good"}]));
        assert!(found.len() == 1 && found[0].ends_with(expected), "{found:?} for {expected}");
        assert!(!found[0].contains("s3cret"), "{found:?}");
        assert_eq!(read_of(json!([bad, {"job_name": "good"}]), json!([])).jobs.len(), 1);
    }
    assert_eq!(faults(json!({"a": 1})), ["$.metrics_scrape_jobs: is an object, not a list"]);
}

#[test]
fn what_charms_of_the_field_send_is_good() {
    let jobs = json!([{
        "job_name": "apiserver", "scheme": "https", "metrics_path": "/metrics", "scrape_interval": "15s",
        "authorization": {"type": "Bearer", "credentials": "x"}, "tls_config": {"insecure_skip_verify": true},
        "static_configs": [{"targets": ["localhost:6443", "[::1]:80"], "labels": {"node": "a", "n": 1}}],
        "relabel_configs": [{"target_label": "job", "replacement": "apiserver"}],
        "metric_relabel_configs": [
            {"source_labels": ["__name__"], "regex": "a(.*)", "action": "drop", "target_label": null},
        ],
        "honor_labels": null,
    }]);
    // A null within a list of the job is Prometheus' own zero value.
    let mut without = jobs.clone();
    without[0]["metric_relabel_configs"][0].as_object_mut().unwrap().remove("target_label");
    assert_eq!(faults(without), Vec::<String>::new());
    assert_eq!(faults(jobs).len(), 1);
}

#[test]
fn slots_are_a_snap_and_a_name_each_once() {
    let read = read_of(
        json!([]),
        json!(["ledger:logs", "ledger:logs", "a-b:c-d2", "x", "a:b:c", ":logs", "ledger:", "--x:y", 7]),
    );
    let slots: Vec<String> = read.slots.iter().map(ToString::to_string).collect();
    assert_eq!(slots, ["a-b:c-d2", "ledger:logs"]);
    let paths: Vec<&str> = read.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, (3..9).map(|n| format!("$.log_slots[{n}]")).collect::<Vec<_>>());
}

#[test]
fn the_digest_sees_jobs_and_slots_alone_and_debug_shows_no_secret() {
    let one = json!({JOBS: [{"job_name": "a", "bearer_token": "s3cret"}], "dashboards": []}).to_string();
    let two = json!({JOBS: [{"job_name": "a", "bearer_token": "s3cret"}], "dashboards": ["x"]}).to_string();
    assert_eq!(digest(&one), digest(&two));
    assert_ne!(digest(&one), digest("{}"));
    assert_ne!(digest("{"), digest("{}"));
    assert!(!format!("{:?}", read(&one)).contains("s3cret"));
    assert!(read("[").is_err());
    let many: Vec<Value> = (0..250).map(|n| json!({"job_name": n.to_string()})).collect();
    let read = read_of(json!(many), json!([]));
    assert_eq!((read.jobs.len(), read.faults.len()), (MOST, 1));
    let large = json!([{"job_name": "a", "bearer_token": "x".repeat(MAX_JOBS)}]);
    assert_eq!(faults(large), ["$.metrics_scrape_jobs: are more than 1024 KiB"]);
}
