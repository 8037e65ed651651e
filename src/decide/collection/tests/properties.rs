//! What holds of every configuration, whatever principals tell.

use super::{config, mounts, wanted};
use crate::databag::scrape;
use crate::decide::collection::{Wanted, render};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A text that a principal may put anywhere: dollars in every number, references, odd characters.
fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("$"),
        Just("$$"),
        Just("${env:HOME}"),
        Just("${file:/etc/shadow}"),
        Just("}"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("a"),
        Just("\""),
        Just("# x"),
        Just("\n"),
        Just("ü"),
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

fn job() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec!["a", "b", "a_2"]);
    (name, text(), text(), text(), 0..4u8).prop_map(|(name, one, two, three, kind)| {
        let mut job = json!({
            "job_name": format!("{name}{one}"),
            "static_configs": [{"targets": ["localhost:1"], "labels": {"x": two, "juju_unit": two}}],
            "relabel_configs": [{"target_label": "y", "replacement": three}],
        });
        match kind {
            0 => job["bearer_token"] = json!(three),
            1 => job["basic_auth"] = json!({"username": one, "password": three}),
            2 => job["params"] = json!({one: [three]}),
            _ => job["scheme"] = json!(two),
        }
        job
    })
}

fn any_wanted() -> impl Strategy<Value = Wanted> {
    let principals = prop::collection::btree_map(
        prop::sample::select(vec!["db/0", "db/1", "db/10", "k8s/2"]),
        (
            prop::collection::vec(job(), 0..4),
            prop::sample::subsequence(vec!["ledger:logs", "etcd:logs", "xx:y"], 0..3),
        ),
        0..3,
    );
    let urls = prop::sample::subsequence(vec!["http://p/1", "https://p/2", "http://p/${env:X}"], 0..3);
    let places =
        prop::sample::subsequence(vec!["ledger logs", "ledger logs-2", "etcd logs", "etcd ", "xx y"], 0..5);
    (principals, urls.clone(), urls, places, any::<(bool, bool, bool)>()).prop_map(
        |(principals, metrics, logs, places, (certificates, host, sole))| {
            let mut wanted = wanted();
            for (principal, (jobs, slots)) in principals {
                wanted = super::with(wanted, principal, json!(jobs), &slots);
            }
            let urls =
                |texts: Vec<&str>| texts.into_iter().map(|url| url.to_owned().try_into().unwrap()).collect();
            (wanted.remote_write, wanted.loki) = (urls(metrics), urls(logs));
            wanted.mounts = mounts(&places);
            (wanted.certificates, wanted.host_logs) = (certificates, host);
            wanted.sole = wanted.jobs.keys().next().cloned().filter(|_| sole);
            wanted
        },
    )
}

/// As the collector merges files: maps key by key, anything else is replaced.
fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (key, value) in other {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, other) => *into = other.clone(),
    }
}

/// As the collector expands a text: `$$` is a dollar, `${...}` is what it refers to.
fn expands(text: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        match after.strip_prefix('$') {
            Some(tail) => {
                out.push('$');
                rest = tail;
            }
            None => return Err(format!("a single dollar before {after:?}")),
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn texts(value: &Value, visit: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, visit)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Every id that a pipeline, or the list of extensions, uses is defined in its section.
fn undefined(config: &Value) -> Vec<String> {
    let mut missing = Vec::new();
    let mut look = |ids: &Value, section: &str| {
        for id in ids.as_array().into_iter().flatten().filter_map(Value::as_str) {
            if config[section].get(id).is_none() {
                missing.push(format!("{section} {id}"));
            }
        }
    };
    look(&config["service"]["extensions"], "extensions");
    let none = Map::new();
    for pipeline in config["service"]["pipelines"].as_object().unwrap_or(&none).values() {
        for section in ["receivers", "processors", "exporters"] {
            look(&pipeline[section], section);
        }
    }
    missing
}

proptest! {
    #[test]
    fn every_id_that_is_used_is_defined_and_every_pipeline_has_both_ends(wanted in any_wanted()) {
        if let Some(config) = config(&wanted) {
            prop_assert_eq!(undefined(&config), Vec::<String>::new());
            for pipeline in config["service"]["pipelines"].as_object().unwrap().values() {
                prop_assert!(!pipeline["receivers"].as_array().unwrap().is_empty());
                prop_assert!(!pipeline["exporters"].as_array().unwrap().is_empty());
            }
        }
    }

    #[test]
    fn no_dollar_of_outside_refers_to_anything_and_every_text_comes_out_as_it_was(wanted in any_wanted()) {
        let Some(config) = config(&wanted) else { return Ok(()) };
        let (mut expected, mut found) = (BTreeSet::new(), BTreeSet::new());
        let mut fault = None;
        texts(&config, &mut |text| match expands(text) {
            Ok(text) => drop(found.insert(text)),
            Err(why) => fault = Some(why),
        });
        prop_assert_eq!(fault, None);
        if wanted.remote_write.is_empty() { return Ok(()) }
        for job in wanted.jobs.values().flatten() {
            expected.insert(job.name.clone());
            let mut fields = Value::from(job.expose().clone());
            // The principal's own label wins.
            fields["static_configs"][0]["labels"]["juju_unit"] = Value::Null;
            texts(&fields, &mut |text| {
                expected.insert(text.to_owned());
            });
        }
        prop_assert!(expected.is_subset(&found), "{:?}", expected.difference(&found));
    }

    #[test]
    fn files_of_two_units_merge_to_the_same_in_both_orders(one in any_wanted(), mut two in any_wanted()) {
        two.unit = "lockstep/4".parse().unwrap();
        let (Some(one), Some(two)) = (config(&one), config(&two)) else { return Ok(()) };
        let (mut ab, mut ba) = (one.clone(), two.clone());
        merge(&mut ab, &two);
        merge(&mut ba, &one);
        prop_assert_eq!(&ab, &ba);
        prop_assert_eq!(undefined(&ab), Vec::<String>::new());
        let pipelines = |config: &Value| config["service"]["pipelines"].as_object().unwrap().len();
        prop_assert_eq!(pipelines(&ab), pipelines(&one) + pipelines(&two));
    }

    #[test]
    fn a_readers_of_yaml_finds_no_character_that_it_refuses(wanted in any_wanted()) {
        if let Some(rendered) = render(&wanted) {
            let odd = |c: &char| (c.is_control() && *c != '\n') || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
            prop_assert_eq!(rendered.text.expose().chars().find(odd), None);
        }
    }

    #[test]
    fn no_secret_is_shown_by_accident(token in "[a-z]{20}") {
        let told = json!({"metrics_scrape_jobs": [{"job_name": "a", "bearer_token": token}]}).to_string();
        let mut wanted = wanted();
        wanted.jobs.insert("db/0".parse().unwrap(), scrape::read(&told).unwrap().jobs);
        wanted.remote_write = BTreeSet::from(["http://p/1".to_owned().try_into().unwrap()]);
        let rendered = render(&wanted).unwrap();
        prop_assert!(rendered.text.expose().contains(&token));
        let shown = format!("{wanted:?} {rendered:?}");
        prop_assert!(!shown.contains(&token));
    }
}
