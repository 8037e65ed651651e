//! What a unit has kept itself, and what hook tools print.

use crate::Parser;
use crate::checks::{message, same};
use crate::seeds;
use lockstep::databag::charm_state::Remembered;
use lockstep::databag::{Digest, Values};
use lockstep::juju::{Context, RelationId, UnitName};
use lockstep::observe::Cache;
use lockstep::tools::hook_tools::{self, GoalState};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

type Bag = BTreeMap<String, String>;

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser { name: "charm_state", seeds: states, check: charm_state },
        Parser { name: "cache", seeds: || vec![seeds::release("cache")], check: cache },
        Parser { name: "stored_value", seeds: || vec!["a value".to_owned()], check: stored_value },
        Parser {
            name: "relation_ids",
            seeds: || vec![r#"["peers:1","cos-agent:12"]"#.to_owned()],
            check: printed::<Vec<RelationId>>,
        },
        Parser {
            name: "relation_list",
            seeds: || vec![r#"["lockstep/1","kubernetes-worker/10"]"#.to_owned()],
            check: printed::<Vec<UnitName>>,
        },
        Parser {
            name: "relation_app",
            seeds: || vec!["\"kubernetes-worker\"\n".to_owned(), "null".to_owned()],
            check: printed::<Option<String>>,
        },
        Parser {
            name: "databag_of_a_tool",
            seeds: || vec![seeds::release("cohorts.json"), seeds::release("peers-application.json")],
            check: printed::<BTreeMap<String, String>>,
        },
        Parser {
            name: "options_of_a_tool",
            seeds: || {
                vec![
                    json!({"channel": "1.32/stable", "worker-parallelism": 2, "hold-snaps": true})
                        .to_string(),
                ]
            },
            check: printed::<BTreeMap<String, Value>>,
        },
        Parser { name: "leader_of_a_tool", seeds: || vec!["true".to_owned()], check: printed::<bool> },
        Parser {
            name: "goal_state",
            seeds: || {
                let unit = json!({"status": "active", "since": "2025-11-05 12:00:00Z"});
                let there = json!({"kubernetes-worker": unit, "kubernetes-worker/0": unit});
                vec![json!({"units": {"lockstep/0": unit}, "relations": {"worker": there}}).to_string()]
            },
            check: |text| match hook_tools::parse::<GoalState>(text) {
                Ok(_) => Ok(()),
                Err(why) => message(&why),
            },
        },
        Parser {
            name: "action_parameters",
            seeds: || vec![json!({"unit": "lockstep/1", "force": false}).to_string()],
            check: printed::<BTreeMap<String, Value>>,
        },
    ]
}

/// A key of charm state and its value, parted by a line's end.
fn states() -> Vec<String> {
    let mut found = Vec::new();
    for state in seeds::released("charm-state.json").as_object().unwrap().values() {
        seeds::texts(state, &mut |key, text| found.push(format!("{key}\n{text}")));
    }
    found
}

fn charm_state(text: &str) -> Result<(), String> {
    let (key, value) = text.split_once('\n').unwrap_or(("rollout", text));
    let state = Bag::from([(key.to_owned(), value.to_owned())]);
    let (remembered, unread) = Remembered::read(&state);
    if unread.iter().any(|name| *name != key) {
        return Err(format!("{unread:?} is not {key}"));
    }
    let written = remembered.write();
    same(&Remembered::read(&written), &(remembered, Vec::new()))?;
    same(&Remembered::read(&written).0.write(), &written)
}

/// The cache of the unit that wrote the released one, in a directory of its own.
fn cache_at(dir: &std::path::Path, text: &str) -> Cache {
    let body = text.split_once('\n').map_or(text, |(_, body)| body);
    let found: Value = serde_json::from_str(body).unwrap_or_default();
    let told = |name: &str| found["binding"][name].as_str().unwrap_or("x").to_owned();
    let variables = [
        ("JUJU_UNIT_NAME", "lockstep/0".to_owned()),
        ("JUJU_MODEL_NAME", "harbor".to_owned()),
        (
            "JUJU_MODEL_UUID",
            Some(told("model_uuid")).filter(|text| !text.is_empty()).unwrap_or_default() + "-",
        ),
        ("JUJU_CHARM_DIR", dir.join("charm").display().to_string()),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
    let mut context = Context::from_variables(&variables).unwrap();
    context.model_uuid = told("model_uuid");
    context.unit = told("unit").parse().unwrap_or(context.unit);
    Cache::new(&context, &told("build"))
}

/// With a sum that fits, so that the JSON is read; and as it is.
fn cache(text: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("lockstep");
    std::fs::create_dir(&own).unwrap();
    let cache = cache_at(dir.path(), text);
    let body = text.split_once('\n').map_or(text, |(_, body)| body);
    for text in [text.to_owned(), format!("{}\n{body}", Digest::of(body))] {
        std::fs::write(own.join("cache"), &text).unwrap();
        let Some(kept) = cache.load() else { continue };
        let shown = format!("{kept:?}");
        cache.save(kept, &Values::default()).map_err(|error| error.to_string())?;
        let again = cache.load().ok_or("what was saved is not loaded")?;
        same(&format!("{again:?}"), &shown)?;
    }
    Ok(())
}

/// A value file is believed only where it is what its name says.
fn stored_value(text: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let values_dir = dir.path().join("lockstep/values");
    std::fs::create_dir_all(&values_dir).unwrap();
    let digest = Digest::of("a value");
    std::fs::write(values_dir.join(digest.to_string()), text).unwrap();
    let mut values = Values::default();
    let believed = cache_at(dir.path(), "").load_values(&BTreeSet::from([digest]), &mut values);
    same(&believed, &(text == "a value"))?;
    same(&values.has(&digest), &believed)
}

/// What a hook tool printed, read as that type; what was read is printed and read as the same.
fn printed<T: DeserializeOwned + serde::Serialize + PartialEq + Debug>(text: &str) -> Result<(), String> {
    match hook_tools::parse::<T>(text) {
        Err(why) => message(&why),
        Ok(value) => same(&hook_tools::parse(&serde_json::to_string(&value).unwrap()), &Ok(value)),
    }
}
