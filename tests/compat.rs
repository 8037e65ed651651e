//! Databags and charm state of released charms, kept as files: the present code reads them and loses
//! nothing, and what a newer charm may have added is ignored.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use lockstep::databag::charm_state::Remembered;
use lockstep::databag::cohorts::{Offer, Versions};
use lockstep::databag::granted::Granted;
use lockstep::databag::history::History;
use lockstep::databag::node::Node;
use lockstep::databag::progress::{Progress, State};
use lockstep::databag::record::{is_record_key, read_peer, write_peer};
use lockstep::databag::skipped::Skipped;
use lockstep::databag::target::{Kind, Target};
use lockstep::databag::{Unread, Values, peers};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Bag = BTreeMap<String, String>;

fn releases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat");
    let mut releases: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    releases.sort();
    assert!(!releases.is_empty());
    releases
}

fn read<T: DeserializeOwned>(release: &Path, name: &str) -> T {
    serde_json::from_str(&std::fs::read_to_string(release.join(name)).unwrap()).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Reads a value of a key and writes it again; none where the key has no such value.
fn again(key: &str, text: &str) -> Option<Result<String, Unread>> {
    Some(match key {
        "node" => Node::read(text).map(|node| node.write()),
        "progress" => Progress::read(text).map(|progress| progress.write()),
        "target" => Target::read(Some(text)).map(|target| target.unwrap().write()),
        "granted" => Granted::read(Some(text)).map(|granted| granted.write()),
        "skipped" => Skipped::read(Some(text)).map(|skipped| skipped.write()),
        "history" => History::read(Some(text)).map(|history| history.write()),
        "versions" => Versions::read(&Bag::from([(key.to_owned(), text.to_owned())]))
            .map(|versions| versions.unwrap().write().1),
        "cohort-state" => {
            let keys = ("cohort-keys".to_owned(), "{}".to_owned());
            let bag = Bag::from([keys, (key.to_owned(), text.to_owned())]);
            Offer::read(&bag).map_err(|(_, unread)| unread).map(|offer| {
                let [_, (_, state)] = offer.unwrap().write();
                state
            })
        }
        _ => return None,
    })
}

/// Every value with a format of a release, with where it stands.
fn values(release: &Path) -> Vec<(String, String, String)> {
    let mut values = Vec::new();
    let mut all = |owner: &str, bag: Bag| {
        values.extend(bag.into_iter().map(|(key, text)| (owner.to_owned(), key, text)));
    };
    all("application", read(release, "peers-application.json"));
    all("cohorts", read(release, "cohorts.json"));
    all("follow-cohorts", read(release, "follow-cohorts.json"));
    for (unit, bag) in read::<BTreeMap<String, Bag>>(release, "peers-units.json") {
        all(&unit, bag);
    }
    values
}

#[test]
fn what_a_released_charm_wrote_is_read_and_nothing_of_it_is_lost() {
    for release in releases() {
        let mut kinds = BTreeMap::new();
        for (owner, key, text) in values(&release) {
            let Some(written) = again(&key, &text) else { continue };
            let written = written.unwrap_or_else(|unread| panic!("{owner} {key}: {unread}"));
            assert_eq!(json(&written), json(&text), "{owner} {key}");
            *kinds.entry(key).or_insert(0) += 1;
        }
        assert_eq!(kinds.len(), 8, "{kinds:?}");
    }
}

#[test]
fn what_a_released_charm_wrote_means_what_it_meant() {
    for release in releases() {
        let app: Bag = read(&release, "peers-application.json");
        let get = |key: &str| app.get(key).map(String::as_str);
        let target = Target::read(get("target")).unwrap().unwrap();
        assert_eq!((target.kind, target.rollback), (Kind::Upgrade, false));
        assert!(target.completed.is_some() && !target.overridden.is_empty() && !target.before.is_empty());
        let granted = Granted::read(get("granted")).unwrap();
        let units: BTreeMap<String, Bag> = read(&release, "peers-units.json");
        let skipped = Skipped::read(get("skipped")).unwrap();
        let state =
            |unit: &str| Progress::read(units.get(unit)?.get("progress")?).ok().map(|told| told.state);
        for unit in granted.grants.iter().map(|grant| &grant.unit).chain(skipped.units.keys()) {
            assert_eq!(state(&unit.to_string()), Some(State::Failed), "{unit}");
        }
        assert_eq!((granted.grants.len(), skipped.units.len()), (1, 1));
        let history = History::read(get("history")).unwrap();
        assert!(history.of(&target.id).is_some_and(|past| past.control_plane && !past.completed));
        assert!(peers::read_leader(&app).unwrap().is_some());
    }
}

#[test]
fn forwarded_records_of_a_released_charm_are_read_and_written_the_same() {
    for release in releases() {
        let mut records = 0;
        for (owner, key, text) in values(&release).into_iter().filter(|(_, key, _)| is_record_key(key)) {
            let mut values = Values::default();
            let record =
                read_peer(&key, &text, &mut values).unwrap_or_else(|fault| panic!("{owner} {key}: {fault}"));
            assert_eq!(json(&write_peer(&record, &values)), json(&text), "{owner} {key}");
            records += 1;
        }
        assert_eq!(records, 2);
    }
}

#[test]
fn charm_state_of_a_released_charm_is_read_also_with_what_a_newer_one_added() {
    for release in releases() {
        for (unit, state) in read::<BTreeMap<String, Bag>>(&release, "charm-state.json") {
            let (remembered, unread) = Remembered::read(&state);
            assert!(unread.is_empty(), "{unit}: {unread:?}");
            let written = remembered.write();
            for (key, text) in &state {
                let now = written.get(key).map(|text| json(text));
                assert_eq!(now, Some(json(text)), "{unit} {key}");
            }
            let mut newer = state.clone();
            newer.insert("weather".to_owned(), "[\"rain\"]".to_owned());
            let more = json("{\"rain\": true}");
            let add = |text: &mut String| {
                let mut value = json(text);
                value.as_object_mut().unwrap().insert("weather".to_owned(), more.clone());
                *text = value.to_string();
            };
            for key in ["rollout", "shown"] {
                newer.get_mut(key).into_iter().for_each(add);
            }
            assert_eq!(Remembered::read(&newer), (remembered, vec![]), "{unit}");
        }
    }
}

#[test]
fn what_a_newer_charm_added_is_kept_and_a_newer_format_is_waited_out() {
    for release in releases() {
        for (owner, key, text) in values(&release) {
            let with = |name: &str, more: Value| {
                let mut value = json(&text);
                value.as_object_mut().unwrap().insert(name.to_owned(), more);
                value
            };
            let richer = with("weather", json("{\"rain\": [1]}"));
            let Some(written) = again(&key, &richer.to_string()) else { continue };
            assert_eq!(json(&written.unwrap()), richer, "{owner} {key}");
            let newer = again(&key, &with("format", 2.into()).to_string()).unwrap();
            assert!(matches!(newer, Err(Unread::Newer(_))), "{owner} {key}: {newer:?}");
            let broken = again(&key, &with("format", "2".into()).to_string()).unwrap();
            assert!(matches!(broken, Err(Unread::Broken(_))), "{owner} {key}: {broken:?}");
        }
    }
}
