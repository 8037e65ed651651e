//! Damage at random places: nothing breaks, what is whole goes out, and the fault is named where it is.
//!
//! A failure prints its seed; `check(seed)` replays it.

use super::*;
use crate::databag::Fault;
use crate::decide::observability::check_data;
use proptest::prelude::*;

/// A step of a JSON path.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Field(String),
    Index(usize),
}

/// Numbers from a seed (splitmix64), so that an old seed means the same for ever.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn valid() -> Value {
    let rule = |alert: &str| {
        json!({"alert": alert, "expr": "up{a=\"b\"} < 1", "for": "5m", "keep_firing_for": "1m",
            "labels": {"severity": "page", "juju_model_uuid": UUID}, "annotations": {"summary": "{{ $value }}"}})
    };
    let group = |name: &str, alerts: [&str; 2]| json!({"name": name, "interval": "1m", "limit": 3, "labels": {"team": "x"}, "rules": alerts.map(rule)});
    config(
        groups(&[group("g", ["A", "B"]), group("h", ["C", "D"])]),
        groups(&[group("l", ["E", "F"])]),
        &[dashboard("One", UID), json!({"title": "Two"}), json!({"title": "Three", "tags": []})],
    )
}

/// All places of a value that is forwarded, with their steps.
fn places(value: &Value, at: &[Step], found: &mut Vec<Vec<Step>>) {
    found.push(at.to_vec());
    let mut below = |step: Step, value: &Value| {
        let mut at = at.to_vec();
        at.push(step);
        places(value, &at, found);
    };
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let forwarded = ["metrics_scrape_jobs", "log_slots", "tracing_protocols"];
                if !forwarded.contains(&name.as_str()) {
                    below(Step::Field(name.clone()), value);
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                below(Step::Index(index), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn at<'a>(value: &'a mut Value, steps: &[Step]) -> &'a mut Value {
    steps.iter().fold(value, |value, step| match step {
        Step::Field(name) => &mut value[name.as_str()],
        Step::Index(index) => &mut value[*index],
    })
}

/// Damages one place and gives it.
fn damage(value: &mut Value, dice: &mut Dice) -> Vec<Step> {
    let mut all = Vec::new();
    places(value, &[], &mut all);
    let steps = all.swap_remove(dice.below(all.len()));
    let place = at(value, &steps);
    match dice.below(11) {
        0 => *place = Value::Null,
        1 => *place = json!(7),
        2 => *place = json!([]),
        3 => *place = json!({}),
        4 => *place = json!(""),
        5 => *place = json!("}{ü\u{1}"),
        6 => *place = json!([{"x": [null]}]),
        7 => *place = json!(true),
        8 => match place {
            Value::Object(fields) => drop(fields.insert("odd 'field'".into(), json!("x"))),
            Value::Array(items) => items.push(json!(1)),
            Value::String(text) => {
                let half = text.chars().count() / 2;
                *text = text.chars().take(half).collect();
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => *place = json!(-1),
        },
        9 => match place {
            Value::Object(fields) => {
                let name = fields.keys().next().cloned();
                name.map(|name| fields.remove(&name));
            }
            Value::Array(items) => drop(items.pop()),
            Value::String(text) => text.push_str("{{ ("),
            Value::Null | Value::Bool(_) | Value::Number(_) => *place = json!({"a": 1}),
        },
        _ => {
            if let Value::Array(items) = place {
                items.reverse();
            } else {
                *place = json!("x".repeat(3000));
            }
        }
    }
    steps
}

/// Whether a path of ours leads to something in the value.
fn exists(path: &str, value: &Value) -> bool {
    let mut rest = path.strip_prefix('$').unwrap();
    let mut value = Some(value);
    while let Some(here) = value.filter(|_| !rest.is_empty()) {
        if let Some(tail) = rest.strip_prefix("['") {
            let end = tail.rfind("']").unwrap();
            let fields = here.as_object().into_iter().flatten();
            value = fields.into_iter().find(|(name, _)| shown(name) == tail[..end]).map(|(_, value)| value);
            rest = &tail[end + 2..];
        } else if let Some(tail) = rest.strip_prefix('[') {
            let (index, tail) = tail.split_once(']').unwrap();
            value = here.get(index.parse::<usize>().unwrap());
            rest = tail;
        } else {
            let tail = rest.strip_prefix('.').unwrap();
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            value = here.get(&tail[..end]);
            rest = &tail[end..];
        }
    }
    value.is_some()
}

/// A field's name between the quotes of a path.
fn shown(name: &str) -> String {
    let quoted = name.replace('\\', "\\\\").replace('\'', "\\'");
    let one = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    quoted.chars().map(one).collect()
}

/// Whether damage at a place can cost the rule or dashboard at another: it is in it or above it, or in
/// its group beside the rules, or of the whole value.
fn costs(damaged: &[Step], item: &[Step]) -> bool {
    let group = 3; // field, `groups`, index
    let beside_rules = damaged.get(group) != Some(&Step::Field("rules".to_owned()));
    let in_group_beside_rules =
        item.len() > group && damaged.len() > group && damaged[..group] == item[..group] && beside_rules;
    damaged.len() < 2 || item.starts_with(damaged) || damaged.starts_with(item) || in_group_beside_rules
}

fn steps(path: &[&str]) -> Vec<Step> {
    path.iter()
        .map(|step| match step.parse() {
            Ok(index) => Step::Index(index),
            Err(_) => Step::Field((*step).to_owned()),
        })
        .collect()
}

fn check(seed: u64) {
    let mut dice = Dice(seed);
    let mut value = valid();
    let damaged = damage(&mut value, &mut dice);
    let text = value.to_string();
    let other = config(groups(&[group("g", &["Other"])]), json!({}), &[dashboard("Other", UID)]);
    let outcome = World::new().says(3, "db/0", Some(&text)).peer("lockstep/1", "web/0", &other).settle();
    let mut sent_alerts = alerts(&outcome, PROMETHEUS);
    sent_alerts.extend(alerts(&outcome, LOKI));
    let titles: Vec<Value> = templates(&outcome).values().map(|d| d["title"].clone()).collect();
    assert!(sent_alerts.iter().any(|alert| alert == "Other"));
    assert!(titles.contains(&json!("Other")));
    let mut lost = Vec::new();
    let mut item = |sent: bool, path: &[&str], name: &'static str| {
        assert!(sent || costs(&damaged, &steps(path)), "{name} is lost: {text}");
        if !sent {
            lost.push(name);
        }
    };
    for (field, index, alert) in [("0", "0", "A"), ("0", "1", "B"), ("1", "0", "C"), ("1", "1", "D")] {
        let path = ["metrics_alert_rules", "groups", field, "rules", index];
        item(sent_alerts.iter().any(|a| a == alert), &path, alert);
    }
    for (index, alert) in [("0", "E"), ("1", "F")] {
        let path = ["log_alert_rules", "groups", "0", "rules", index];
        item(sent_alerts.iter().any(|a| a == alert), &path, alert);
    }
    for (index, title) in [("0", "One"), ("1", "Two"), ("2", "Three")] {
        item(titles.contains(&json!(title)), &["dashboards", index], title);
    }
    let faults: Vec<Fault> = check_data(&text);
    for fault in &faults {
        assert!(exists(&fault.path, &value), "{fault} is not in {text}");
    }
    assert_eq!(faults.is_empty(), blocked(&outcome).is_empty());
    // What the input still has, and does not go out, is named.
    let mut left = Vec::new();
    places(&value, &[], &mut left);
    let still_there = |name: &str| {
        let alert = Step::Field("alert".to_owned());
        left.iter()
            .filter(|steps| steps.last() == Some(&alert))
            .any(|steps| *at(&mut value.clone(), steps) == json!(name))
    };
    let unnamed = lost.iter().find(|name| still_there(name));
    assert!(unnamed.is_none() || !faults.is_empty(), "{unnamed:?} in {text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn damage_at_any_place_costs_that_item_and_is_named(seed: u64) {
        check(seed);
    }

    #[test]
    fn no_text_at_all_breaks_a_pass(seed: u64) {
        let mut dice = Dice(seed);
        let mut bytes = valid().to_string().into_bytes();
        for _ in 0..=dice.below(4) {
            let place = dice.below(bytes.len());
            match dice.below(3) {
                0 => bytes[place] ^= 1 << dice.below(7),
                1 => bytes.truncate(place.max(1)),
                _ => bytes.insert(place, b"\"{}[],:0\\"[dice.below(9)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let value = serde_json::from_str(&text).unwrap_or_default();
        let other = config(groups(&[group("g", &["Other"])]), json!({}), &[]);
        let outcome = World::new()
            .says(3, "db/0", Some(&text))
            .peer_raw("lockstep/2", "config-x/0", &text)
            .peer("lockstep/1", "web/0", &other)
            .settle();
        prop_assert!(alerts(&outcome, PROMETHEUS).iter().any(|alert| alert == "Other"));
        for fault in check_data(&text) {
            prop_assert!(exists(&fault.path, &value), "{} is not in {}", fault, text);
        }
    }

    #[test]
    fn no_order_of_units_and_keys_changes_a_byte(seed: u64) {
        let mut dice = Dice(seed);
        let contents = [valid(), config(json!({}), json!({}), &[]), config(groups(&[group("g", &["Z"])]), json!({}), &[])];
        let mut peers: Vec<(String, String, &Value)> = (0..6)
            .map(|n| (format!("lockstep/{}", n + 1), format!("db/{n}"), &contents[dice.below(3)]))
            .collect();
        let decided = |peers: &[(String, String, &Value)]| {
            let add = |world: World, (peer, unit, content): &(String, String, &Value)| world.peer(peer, unit, content);
            let mut world = peers.iter().fold(World::new(), add);
            world.settle()
        };
        let first = decided(&peers);
        for last in (1..peers.len()).rev() {
            peers.swap(last, dice.below(last + 1));
        }
        prop_assert_eq!(decided(&peers), first);
    }
}
