//! Nothing forgotten: what `metadata.yaml`, `config.yaml` and `actions.yaml` declare is what the code
//! knows, and the other way round.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "support/declared.rs"]
mod declared;

use declared::{config, metadata};
use lockstep::decide::options;
use lockstep::juju::{Endpoint, HookName, PlainHook, RelationHook, relation_hook_name};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn endpoints() -> BTreeSet<String> {
    let metadata = metadata::<IgnoredAny>();
    metadata
        .provides
        .into_keys()
        .chain(metadata.requires.into_keys())
        .chain(metadata.peers.into_keys())
        .collect()
}

#[test]
fn every_endpoint_is_declared_and_known() {
    let known: BTreeSet<String> = Endpoint::ALL.iter().map(ToString::to_string).collect();
    assert_eq!(endpoints(), known);
}

#[test]
fn every_hook_of_every_endpoint_is_understood() {
    for endpoint in endpoints() {
        let endpoint = Endpoint::from_name(&endpoint).unwrap();
        for hook in RelationHook::ALL {
            let name = relation_hook_name(endpoint, hook);
            assert_eq!(HookName::parse(&name), Some(HookName::Relation(endpoint, hook)), "{name}");
        }
    }
    for hook in PlainHook::ALL {
        assert_eq!(HookName::parse(hook.name()), Some(HookName::Plain(hook)));
    }
}

#[test]
fn every_option_is_declared_and_known_with_the_same_default() {
    let config = config();
    let known: BTreeMap<&str, &options::Spec> = options::all().map(|spec| (spec.name, spec)).collect();
    let declared: Vec<&str> = config.options.keys().map(String::as_str).collect();
    assert_eq!(declared, known.keys().copied().collect::<Vec<_>>());
    for (name, declared) in &config.options {
        let text = declared.default.clone().unwrap_or_default();
        let default = match declared.r#type.as_str() {
            "string" => Value::from(text),
            _ => serde_json::from_str(&text).unwrap(),
        };
        assert_eq!(default, known[name.as_str()].default(), "{name}");
        assert!(declared.description.len() > 20, "{name} is not described");
    }
}
