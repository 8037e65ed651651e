//! The options: what is accepted, and which value is in force.

mod duration;
mod rollout;
mod window;

pub use rollout::{CohortRefresh, Pause, RolloutOptions, WantedChannel};
pub use window::Windows;

use crate::juju::{Level, Status};
use crate::observed::observability::{ForwardOptions, HostHealth};
use serde_json::Value;
use std::collections::BTreeMap;

/// One option of `config.yaml`; a test keeps the two equal.
#[derive(Debug)]
pub struct Spec {
    /// Its name.
    pub name: &'static str,
    default: Default,
    check: fn(&Value) -> bool,
    /// What a wrong value is told to be.
    pub accepted: &'static str,
}

#[derive(Debug)]
enum Default {
    Text(&'static str),
    Number(i64),
    Truth(bool),
}

impl Spec {
    /// The default, as `config-get` gives it.
    pub fn default(&self) -> Value {
        match self.default {
            Default::Text(text) => Value::from(text),
            Default::Number(number) => Value::from(number),
            Default::Truth(truth) => Value::from(truth),
        }
    }
}

const fn text(
    name: &'static str,
    default: &'static str,
    check: fn(&Value) -> bool,
    accepted: &'static str,
) -> Spec {
    Spec { name, default: Default::Text(default), check, accepted }
}

const fn truth(name: &'static str, default: bool) -> Spec {
    Spec { name, default: Default::Truth(default), check: Value::is_boolean, accepted: "true, false" }
}

const SNAPS: &str =
    "kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl cdk-addons";

/// Every option.
pub const SPECS: [Spec; 18] = [
    text("snaps", SNAPS, |v| reads(v, rollout::snaps), "name or name=channel, by blanks, each once"),
    text("channel", "", |v| reads(v, rollout::channel), "empty, a channel, charm"),
    text("role", "", |v| one_of(v, &["", "control-plane", "worker"]), "empty, control-plane, worker"),
    text("cohort-refresh", "auto", |v| one_of(v, &["auto", "manual", "off"]), "auto, manual, off"),
    text("cohort-check-interval", "1h", |v| spans(v, rollout::CHECK_INTERVAL), "10m to 7d"),
    text("refresh-window", "", |v| reads(v, Windows::parse), "as Sat,Sun 02:00-05:00 UTC, several by ;"),
    Spec {
        name: "worker-parallelism",
        default: Default::Number(1),
        check: |value| value.as_i64().is_some_and(|number| (1..=100).contains(&number)),
        accepted: "1 to 100",
    },
    text("pause-after-unit-refresh", "none", |v| one_of(v, &["none", "first", "all"]), "none, first, all"),
    text("grant-timeout", "30m", |v| spans(v, rollout::GRANT_TIMEOUT), "at least 5m"),
    text("ready-timeout", "10m", |v| spans(v, rollout::READY_TIMEOUT), "at least 1m"),
    truth("hold-snaps", true),
    truth("adopt-held", false),
    truth("install-missing", false),
    text("on-removal", "restore", |v| one_of(v, &["restore", "keep"]), "restore, keep"),
    text("kubeconfig", "", absolute_path, "an absolute path"),
    text("collect", "auto", |v| one_of(v, &["auto", "off"]), "auto, off"),
    truth("forward-alert-rules", true),
    text("forward-host-health", "auto", |v| one_of(v, &["auto", "on", "off"]), "auto, on, off"),
];

/// `extra-alert-labels` stands apart: it is read, not only checked.
pub const LABELS: Spec =
    text("extra-alert-labels", "", |value| labels(value).is_some(), "k:v,k2:v2 with names as in Prometheus");

/// Every option, `extra-alert-labels` included.
pub fn all() -> impl Iterator<Item = &'static Spec> {
    const EVERY: &[Spec] = &SPECS;
    const LAST: &[Spec] = &[LABELS];
    EVERY.iter().chain(LAST)
}

/// The options in force.
#[derive(Debug, Clone, std::default::Default, PartialEq)]
pub struct Options {
    /// The last good values of options that are not at their default.
    pub good: BTreeMap<String, Value>,
    /// A status for each wrong value.
    pub faults: Vec<Status>,
    /// The option `collect`: whether collection may do anything.
    pub collect: bool,
    /// What the observability concern goes by.
    pub forwarding: ForwardOptions,
    /// What rollouts go by.
    pub rollout: RolloutOptions,
}

/// Reads `config-get`'s answer; a wrong value leaves the last good one in force.
pub fn read(config: &BTreeMap<String, Value>, last_good: &BTreeMap<String, Value>) -> Options {
    let mut options = Options::default();
    for spec in all() {
        let given = config.get(spec.name).filter(|value| !value.is_null());
        let good = match given {
            Some(value) if (spec.check)(value) => Some(value),
            None => None,
            Some(value) => {
                options.faults.push(fault(spec, value));
                last_good.get(spec.name).filter(|value| (spec.check)(value))
            }
        };
        if let Some(value) = good.filter(|value| **value != spec.default()) {
            options.good.insert(spec.name.to_owned(), value.clone());
        }
    }
    options.collect = options.good.get("collect").and_then(Value::as_str) != Some("off");
    options.forwarding = forwarding(&options.good);
    options.rollout = RolloutOptions::of(&options.good);
    options
}

fn fault(spec: &Spec, value: &Value) -> Status {
    let shown: String = value.to_string().chars().take(40).collect();
    let line = format!("option {}: {shown} is not accepted; accepted: {}", spec.name, spec.accepted);
    Status::new(Level::Blocked, line)
}

fn forwarding(good: &BTreeMap<String, Value>) -> ForwardOptions {
    ForwardOptions {
        alert_rules: good.get("forward-alert-rules") != Some(&Value::Bool(false)),
        host_health: match good.get("forward-host-health").and_then(Value::as_str) {
            Some("on") => HostHealth::On,
            Some("off") => HostHealth::Off,
            Some(_) | None => HostHealth::Auto,
        },
        extra_labels: good.get("extra-alert-labels").and_then(labels).unwrap_or_default(),
    }
}

/// Whether a text is what that function reads.
fn reads<T>(value: &Value, read: fn(&str) -> Option<T>) -> bool {
    value.as_str().is_some_and(|text| read(text).is_some())
}

fn spans(value: &Value, bounds: duration::Bounds) -> bool {
    value.as_str().is_some_and(|text| duration::parse(text, bounds).is_some())
}

fn one_of(value: &Value, accepted: &[&str]) -> bool {
    value.as_str().is_some_and(|text| accepted.contains(&text))
}

fn absolute_path(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.is_empty() || text.starts_with('/'))
}

/// `k:v,k2:v2`; `=` parts a name from its value as well, as the field's charms have it.
fn labels(value: &Value) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for pair in value.as_str()?.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once([':', '='])?;
        let name = name.trim();
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let reserved = name.starts_with("__") || name == "alertname";
        if !first || !rest || reserved || labels.insert(name.to_owned(), value.trim().to_owned()).is_some() {
            return None;
        }
    }
    Some(labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(value: Value) -> BTreeMap<String, Value> {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_wrong_value_is_told_and_the_last_good_one_stays() {
        let good = read(&config(json!({"forward-host-health": "on"})), &BTreeMap::new());
        assert_eq!(good.faults, []);
        let wrong = read(&config(json!({"forward-host-health": "yes", "worker-parallelism": 0})), &good.good);
        assert_eq!(wrong.forwarding.host_health, HostHealth::On);
        let lines: Vec<&str> = wrong.faults.iter().map(|status| status.line.as_str()).collect();
        assert_eq!(
            lines,
            [
                "option worker-parallelism: 0 is not accepted; accepted: 1 to 100",
                "option forward-host-health: \"yes\" is not accepted; accepted: auto, on, off",
            ]
        );
        let unset = read(&BTreeMap::new(), &wrong.good);
        assert_eq!((unset.good.len(), unset.forwarding.host_health), (0, HostHealth::Auto));
    }

    #[test]
    fn rollout_options_become_types_and_defaults_are_those_of_the_file() {
        let defaults: BTreeMap<String, Value> =
            all().map(|spec| (spec.name.to_owned(), spec.default())).collect();
        assert_eq!(RolloutOptions::of(&defaults), RolloutOptions::default());
        assert_eq!(RolloutOptions::default().snaps.len(), 7);
        let given = config(json!({
            "snaps": "kubelet cdk-addons=1.31/edge", "channel": "1.32", "cohort-refresh": "manual",
            "cohort-check-interval": "2h", "refresh-window": "Sat 02:00-05:00 UTC", "worker-parallelism": 3,
            "pause-after-unit-refresh": "all", "grant-timeout": "1h", "ready-timeout": "5m",
            "hold-snaps": false, "on-removal": "keep",
        }));
        let options = read(&given, &BTreeMap::new());
        assert_eq!(options.faults, []);
        let rollout = options.rollout;
        assert_eq!(rollout.snaps[&"cdk-addons".parse().unwrap()], Some("1.31/edge".parse().unwrap()));
        assert_eq!(rollout.channel, WantedChannel::Channel("1.32/stable".parse().unwrap()));
        assert_eq!((rollout.check_interval, rollout.grant_timeout, rollout.ready_timeout), (7200, 3600, 300));
        assert_eq!((rollout.worker_parallelism, rollout.pause), (3, Pause::All));
        assert!(!rollout.hold_snaps && !rollout.restore_on_removal);
        let bad = json!({"snaps": "kubelet kubelet", "channel": "1.32/stabl", "ready-timeout": "30s"});
        assert_eq!(read(&config(bad), &BTreeMap::new()).faults.len(), 3);
    }

    #[test]
    fn extra_labels_are_pairs_with_valid_names() {
        let table = [
            ("", Some(vec![])),
            ("team:infra", Some(vec![("team", "infra")])),
            ("a:1, b=2,", Some(vec![("a", "1"), ("b", "2")])),
            ("a:x:y", Some(vec![("a", "x:y")])),
            ("a", None),
            ("1a:x", None),
            ("a-b:x", None),
            ("a:1,a:2", None),
            ("__name__:x", None),
        ];
        for (text, expected) in table {
            let expected = expected.map(|pairs| {
                pairs.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect::<BTreeMap<_, _>>()
            });
            assert_eq!(labels(&json!(text)), expected, "{text:?}");
        }
    }
}
