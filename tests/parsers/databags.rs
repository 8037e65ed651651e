//! What other units and applications write into databags.

use crate::Parser;
use crate::checks::{again, fault, kept, message, same, shown};
use crate::seeds;
use lockstep::databag::cohorts::{COHORT_KEYS, COHORT_STATE, Offer, VERSIONS, Versions};
use lockstep::databag::granted::Granted;
use lockstep::databag::history::History;
use lockstep::databag::node::{Node, Nodes};
use lockstep::databag::progress::Progress;
use lockstep::databag::record::{read_config, read_peer, write_peer};
use lockstep::databag::rules::AlertRules;
use lockstep::databag::skipped::Skipped;
use lockstep::databag::target::Target;
use lockstep::databag::{Unread, Values, dashboard, event, grafana, peers, remote_write};
use lockstep::decide::observability::check_data;
use lockstep::decide::options::RolloutOptions;
use lockstep::juju::{Timestamp, UnitName};
use lockstep::observed::Rollout;
use lockstep::observed::rollout::{AppBag, Goal, Occasion, Seen, Snapd, Told};
use lockstep::plan::Effect;
use lockstep::snap::{Installed, Notes, Trouble, TroubleKind};
use lockstep::{decide::rollout, kube};
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Bag = BTreeMap<String, String>;

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "node",
            seeds: || seeds::of_key("node"),
            check: |text| kept(text, Node::read, Node::write),
        },
        Parser {
            name: "progress",
            seeds: || seeds::of_key("progress"),
            check: |text| kept(text, Progress::read, Progress::write),
        },
        Parser {
            name: "nodes",
            seeds: || {
                let ready = json!({"serial": 4, "ready": false, "reason": "KubeletNotReady"});
                vec![json!({"format": 1, "nodes": {"lockstep/3": ready}}).to_string()]
            },
            check: |text| kept(text, Nodes::read, Nodes::write),
        },
        Parser {
            name: "target",
            seeds: || seeds::of_key("target"),
            check: |text| kept(text, |text| Target::read(Some(text)).map(Option::unwrap), Target::write),
        },
        Parser {
            name: "granted",
            seeds: || seeds::of_key("granted"),
            check: |text| kept(text, |text| Granted::read(Some(text)), Granted::write),
        },
        Parser {
            name: "skipped",
            seeds: || seeds::of_key("skipped"),
            check: |text| kept(text, |text| Skipped::read(Some(text)), Skipped::write),
        },
        Parser {
            name: "history",
            seeds: || seeds::of_key("history"),
            check: |text| kept(text, |text| History::read(Some(text)), History::write),
        },
        Parser { name: "leader", seeds: || seeds::of_key("leader"), check: leader },
        Parser { name: "offer", seeds: || vec![seeds::release("cohorts.json")], check: offer },
        Parser {
            name: "versions",
            seeds: || seeds::of_key(VERSIONS),
            check: |text| {
                let bag = |text: &str| Bag::from([(VERSIONS.to_owned(), text.to_owned())]);
                let read = |text: &str| Versions::read(&bag(text)).map(Option::unwrap);
                kept(text, read, |versions: &Versions| versions.write().1)
            },
        },
        Parser { name: "config", seeds: || seeds::of_principals("config"), check: config },
        Parser { name: "record", seeds: records, check: record },
        Parser { name: "alert_rules", seeds: || seeds::parts("metrics_alert_rules"), check: alert_rules },
        Parser { name: "dashboard", seeds: dashboards, check: dashboard },
        Parser {
            name: "event",
            seeds: || {
                let errors = json!([{"dashboard_id": "file:a", "error": "bad"}, "worse", 7]);
                vec![
                    json!({"valid": false, "errors": "error validating x: y, error validating z"})
                        .to_string(),
                    json!({"valid": false, "errors": errors}).to_string(),
                ]
            },
            check: |text| event::read_event(text).iter().try_for_each(|refusal| message(&refusal.text)),
        },
        Parser {
            name: "own_alert_rules",
            seeds: || seeds::parts("log_alert_rules"),
            check: |text| {
                let bag = Bag::from([("alert_rules".to_owned(), text.to_owned())]);
                let groups = remote_write::groups_of(&bag, "h");
                same(&groups.iter().all(|(name, _)| name.starts_with('h')), &true)
            },
        },
        Parser {
            name: "own_dashboards",
            seeds: || vec![json!({"templates": {"file:a": {"content": "x"}}, "uuid": "0"}).to_string()],
            check: |text| {
                let bag = |text: &str| Bag::from([("dashboards".to_owned(), text.to_owned())]);
                let templates = grafana::templates_of(&bag(text), "file:");
                same(&grafana::templates_of(&grafana::app_bag(&templates), "file:"), &templates)
            },
        },
        Parser {
            name: "checked_data",
            seeds: || seeds::of_principals("config"),
            check: |text| check_data(text).iter().try_for_each(fault),
        },
        Parser { name: "peers_databags", seeds: peers_databags, check: decided },
    ]
}

fn leader(text: &str) -> Result<(), String> {
    match peers::read_leader(&Bag::from([("leader".to_owned(), text.to_owned())])) {
        Err(found) => fault(&found),
        Ok(unit) => {
            let unit = unit.unwrap();
            same(&peers::read_leader(&Bag::from([peers::write_leader(&unit)])), &Ok(Some(unit)))
        }
    }
}

/// A text that is a databag: a JSON object of texts.
fn bag(text: &str) -> Bag {
    serde_json::from_str(text)
        .unwrap_or_else(|_| [COHORT_KEYS, COHORT_STATE].map(|key| (key.to_owned(), text.to_owned())).into())
}

fn offer(text: &str) -> Result<(), String> {
    match Offer::read(&bag(text)) {
        Ok(None) => Ok(()),
        Err((_, unread)) => fault(unread.fault()),
        Ok(Some(offer)) => {
            let read = |text: &str| match Offer::read(&bag(text)) {
                Ok(offer) => offer.ok_or_else(|| "nothing".to_owned()),
                Err((_, unread)) => Err(unread.to_string()),
            };
            again(&offer, read, |offer| json!(Bag::from(offer.write())).to_string())
        }
    }
}

fn config(text: &str) -> Result<(), String> {
    let mut values = Values::default();
    match read_config(text, &mut values) {
        Err(found) => fault(&found),
        Ok(content) => content.faults.iter().try_for_each(fault),
    }
}

fn records() -> Vec<String> {
    let mut all = seeds::of_principals("config-");
    all.extend(seeds::of_key("config-kubernetes-control-plane/0"));
    all.extend(seeds::of_key("config-ledger-db/0"));
    all
}

fn record(text: &str) -> Result<(), String> {
    let mut values = Values::default();
    let mut record = match read_peer("config", text, &mut values) {
        Err(found) => return fault(&found),
        Ok(record) => record,
    };
    record.content.faults.iter().try_for_each(fault)?;
    let written = write_peer(&record, &values);
    let read = read_peer("config", &written, &mut values).map_err(|fault| fault.to_string())?;
    // What was left out while reading is not there any more.
    record.content.indices.clear();
    record.content.faults.clear();
    same(&read, &record)?;
    same(&write_peer(&read, &values), &written)
}

/// What passes once passes again as it is.
fn alert_rules(text: &str) -> Result<(), String> {
    let read = AlertRules::read(text);
    read.faults.kept().iter().try_for_each(fault)?;
    let groups: Vec<String> = read
        .groups
        .iter()
        .map(|group| {
            let rules = group.rules.iter().map(|rule| Value::from(rule.clone())).collect();
            remote_write::render_group(&group.name, group.fields.clone(), rules)
        })
        .collect();
    let written = remote_write::alert_rules(&groups);
    let again = AlertRules::read(&written);
    same(&again.groups, &read.groups)?;
    same(&again.faults.count(), &0)
}

fn dashboards() -> Vec<String> {
    let mut all = seeds::parts("dashboards");
    // Decoding is dear without optimisation.
    all.retain(|text| text.len() < 4000);
    all.push(dashboard::encode("{\"title\":\"T\",\"tags\":[\"charm: x\"],\"version\":3}").unwrap());
    // Some are encoded here, so that the JSON within is damaged and not only its wrapping.
    all.push("{\"title\":\"T\",\"uid\":\"u\",\"tags\":[\"a\"],\"templating\":{\"list\":[]}}".to_owned());
    all.push(
        "{\"dashboard\":{\"title\":\"T\"},\"templating\":null,\"version\":18446744073709551615}".to_owned(),
    );
    all
}

fn dashboard(text: &str) -> Result<(), String> {
    let encoded = if text.starts_with('{') { dashboard::encode(text).unwrap() } else { text.to_owned() };
    let decoded = match dashboard::decode(&encoded) {
        Err(why) => return message(&why),
        Ok(decoded) => decoded,
    };
    let uid = "0".repeat(40);
    let rewritten = dashboard::rewrite(&decoded.json, &uid, "lockstep")?;
    let again = dashboard::decode(&rewritten)?;
    same(&again.facts.uid, &Some(uid))?;
    same(&again.facts.as_it_is, &true)?;
    same(&again.facts.title, &decoded.facts.title)
}

/// The databags of the peer relation, as units wrote them; one of the units looks at them.
fn peers_databags() -> Vec<String> {
    let (app, units) = (seeds::released("peers-application.json"), seeds::released("peers-units.json"));
    let now = json!(1_762_346_800_u64);
    vec![json!({"app": app, "units": units, "leader": true, "now": now}).to_string()]
}

/// Whatever is in the databags of others, the rollout decides something, in every occasion.
fn decided(text: &str) -> Result<(), String> {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(()) };
    let unit: UnitName = "lockstep/0".parse().unwrap();
    for (leader, occasion) in [
        (true, Occasion::UpdateStatus),
        (true, Occasion::Hook),
        (false, Occasion::Hook),
        (true, Occasion::Outside),
    ] {
        let mut seen = Rollout::of_unit(unit.clone(), "0.1.0-00000000");
        seen.now = Timestamp(value["now"].as_u64().unwrap_or(0).min(1 << 40));
        (seen.leader, seen.occasion) = (leader, occasion);
        (seen.app.fresh, seen.app.leader) = (true, Some(unit.clone()));
        seeds::texts(&value["app"], &mut |key, text| seen.app.put(key, Some(text)));
        for (name, bag) in value["units"].as_object().into_iter().flatten() {
            let Ok(name) = name.parse::<UnitName>() else { continue };
            let told = if name == unit { &mut seen.own } else { seen.peers.entry(name).or_default() };
            seeds::texts(bag, &mut |key, text| told.put(key, Some(text)));
        }
        seen.snapd = snapd(&seen);
        while let Some(effect) = to_the_end(&seen)? {
            if !answered(&mut seen, &effect) {
                break;
            }
        }
    }
    Ok(())
}

/// Decides, and looks at what would be written; the effect that is asked for, if one is.
fn to_the_end(seen: &Rollout) -> Result<Option<Effect>, String> {
    let outcome = rollout::decide(seen, &RolloutOptions::default());
    same(&rollout::decide(seen, &RolloutOptions::default()), &outcome)?;
    let (mut app, mut told) = (AppBag::default(), Told::default());
    for (key, text) in &outcome.app {
        app.put(key, text.as_deref());
    }
    for (key, text) in &outcome.unit {
        told.put(key, text.as_deref());
    }
    let broken = |what: &Result<(), Unread>| what.clone().map_err(|unread| format!("written: {unread}"));
    broken(&app.target.map(|_| ()))?;
    broken(&app.granted.map(|_| ()))?;
    broken(&app.skipped.map(|_| ()))?;
    broken(&app.history.map(|_| ()))?;
    broken(&told.node.transpose().map(|_| ()))?;
    broken(&told.progress.transpose().map(|_| ()))?;
    let statuses = outcome.statuses.iter().chain(&outcome.upgrade).map(|status| &status.line);
    statuses.chain(outcome.log.iter().map(|(_, line)| line)).try_for_each(|line| shown(line))?;
    Ok(outcome.effect)
}

/// What the own node tells of its machine is so.
fn snapd(seen: &Rollout) -> Snapd {
    let node = seen.own.node.as_ref().and_then(|node| node.as_ref().ok());
    let installed = node.into_iter().flat_map(|node| &node.snaps).map(|(name, snap)| {
        let version = snap.version.as_ref().map(|version| version.as_str().to_owned());
        let (revision, tracking) = (snap.revision, snap.tracking());
        (
            name.clone(),
            Installed { name: name.clone(), version, revision, tracking, notes: Notes::parse("-") },
        )
    });
    Snapd { installed: Ok(installed.collect()), ..Snapd::default() }
}

/// Answers what only reads; the store and the API server say nothing. False where it alters something,
/// or was asked already.
fn answered(seen: &mut Rollout, effect: &Effect) -> bool {
    let text = "no answer".to_owned();
    let silent =
        || Trouble { kind: TroubleKind::StoreUnreachable, command: "snap".to_owned(), text: text.clone() };
    match effect {
        Effect::ReadAppBag => !std::mem::replace(&mut seen.app.fresh, true),
        Effect::ReadGoalState => {
            let units = seen.peers.keys().cloned().collect();
            seen.goal.replace(Ok(Goal { units, ..Goal::default() })).is_none()
        }
        Effect::ReadInfo { names } => {
            names.iter().all(|name| seen.store.infos.insert(name.clone(), Err(silent())).is_none())
        }
        Effect::CreateCohorts { names } => {
            seen.store.created.push((names.clone(), Err(silent())));
            seen.store.created.len() == 1
        }
        Effect::ReadKube { whole } => {
            let trouble = kube::Trouble { kind: kube::TroubleKind::NoAnswer, text: text.clone() };
            seen.kube.seen.replace(Seen::nothing(&trouble, *whole)).is_none()
        }
        Effect::Alter(_) | Effect::Collect(_) => false,
    }
}
