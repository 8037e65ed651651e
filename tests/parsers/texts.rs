//! What `snap` and `kubectl` print, what an admin writes into options, and what stands in single words.

use crate::Parser;
use crate::checks::{message, same, shown};
use crate::seeds;
use lockstep::databag::Digest;
use lockstep::databag::rules::read_extra_labels;
use lockstep::databag::target::TargetId;
use lockstep::decide::options::{self, Windows};
use lockstep::invocation::Invocation;
use lockstep::juju::{AppName, JujuVersion, RelationId, Timestamp, UnitName};
use lockstep::snap::{
    Architecture, Channel, CohortKey, Constraint, KeyDigest, Minor, Notes, Revision, SnapName, SnapdVersion,
    parse_packed,
};
use lockstep::tools::snap::{
    classify, parse_changes, parse_cohorts, parse_info, parse_list, parse_services, parse_tasks,
    parse_version,
};
use lockstep::tools::{Exit, Output, kubectl};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::str::FromStr;

pub(crate) fn parsers() -> Vec<Parser> {
    vec![
        Parser {
            name: "snap_list",
            seeds: || readable("list", |text| parse_list(text).is_ok()),
            check: |text| said(parse_list(text).map(|_| ())),
        },
        Parser {
            name: "snap_info",
            seeds: || readable("info", |text| info(text).is_ok()),
            check: |text| said(info(text)),
        },
        Parser { name: "snap_create_cohort", seeds: || seeds::snap(Some("create-cohort")), check: cohorts },
        Parser {
            name: "snap_changes",
            seeds: || readable("changes", |text| parse_changes(text).is_ok()),
            check: |text| said(parse_changes(text).map(|_| ())),
        },
        Parser {
            name: "snap_tasks",
            seeds: || readable("tasks", |text| parse_tasks(text).is_ok()),
            check: |text| said(parse_tasks(text).map(|_| ())),
        },
        Parser {
            name: "snap_services",
            seeds: || readable("services", |text| parse_services(text).is_ok()),
            check: |text| said(parse_services(text).map(|_| ())),
        },
        Parser {
            name: "snap_version",
            seeds: || vec!["snap    2.68.3\nsnapd   2.68.3\nseries  16\n".to_owned()],
            check: |text| {
                let _: Option<SnapdVersion> = parse_version(text);
                Ok(())
            },
        },
        Parser { name: "snap_errors", seeds: || seeds::snap(None), check: errors },
        Parser {
            name: "kubectl_nodes",
            seeds: || vec![json!({"items": [seeds::kube("Node"), seeds::kube("Node")]}).to_string()],
            check: |text| known(kubectl::parse_nodes(text.as_bytes()).map(|_| ())),
        },
        Parser {
            name: "kubectl_node",
            seeds: || vec![seeds::kube("Node").to_string()],
            check: |text| known(kubectl::parse_node(text.as_bytes()).map(|_| ())),
        },
        Parser {
            name: "kubectl_pods",
            seeds: || vec![json!({"items": [seeds::kube("Pod"), seeds::kube("Pod")]}).to_string()],
            check: |text| known(kubectl::parse_pods(text.as_bytes()).map(|_| ())),
        },
        Parser {
            name: "kubectl_errors",
            seeds: || {
                vec![
                    "Error from server (NotFound): nodes \"x\" not found\n".to_owned(),
                    "E1105 12:00:00.000000 7 memcache.go:265] couldn't get current server API group list\n\
                     The connection to the server 10.0.0.1:6443 was refused - did you specify the right host or port?\n"
                        .to_owned(),
                ]
            },
            check: |text| {
                let trouble = kubectl::classify(text);
                if text.trim().is_empty() { Ok(()) } else { message(&trouble.text) }
            },
        },
        Parser { name: "options", seeds: option_texts, check: option_values },
        Parser {
            name: "refresh_window",
            seeds: || vec!["Sat,Sun 02:00-05:00 UTC; Mon-Fri 23:00-24:00 UTC".to_owned()],
            check: |text| {
                let Some(windows) = Windows::parse(text) else { return Ok(()) };
                for now in [0, 1, 86_399, 1_767_398_400, 1 << 40] {
                    let _ = windows.is_open(Timestamp(now));
                }
                same(&Windows::parse(&format!(" {text} ")), &Some(windows))
            },
        },
        Parser {
            name: "extra_labels",
            seeds: || vec!["team:infra,env=prod, a:x:y,".to_owned()],
            check: |text| match read_extra_labels(text) {
                Err(error) => message(&error.to_string()),
                Ok(labels) => {
                    let pairs: Vec<String> = labels.iter().map(|(k, v)| format!("{k}:{v}")).collect();
                    same(&read_extra_labels(&pairs.join(",")), &Ok(labels))
                }
            },
        },
        Parser {
            name: "packed_snaps",
            seeds: || {
                vec![
                    "snaps:\n  kubelet:\n    channel: 1.30\n    revision: {amd64: 41, arm64: 42}\n    \
                     upgrade-supported: ^1.29, <1.31\n  kube-proxy: {channel: 1.30/edge}\n"
                        .to_owned(),
                    "snaps: &all\n  kk: &one {channel: \"1.30/stable\"}\n  ll: *one\n".to_owned(),
                ]
            },
            check: |text| said(parse_packed(text).map(|_| ())),
        },
        Parser {
            name: "cohort_key",
            seeds: || vec!["MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg==".to_owned()],
            check: |text| match text.parse::<CohortKey>() {
                Err(error) => message(&error.to_string()),
                Ok(key) => message(&format!("{key} {key:?}")),
            },
        },
        Parser { name: "words", seeds: good_words, check: words },
        Parser { name: "invocation", seeds: dispatches, check: invocation },
    ]
}

/// An error that its caller makes a message of: it says something.
fn said(answer: Result<(), String>) -> Result<(), String> {
    answer.or_else(
        |why| if why.trim().is_empty() { Err("an error that says nothing".to_owned()) } else { Ok(()) },
    )
}

fn known(answer: Result<(), lockstep::kube::Trouble>) -> Result<(), String> {
    answer.or_else(|trouble| message(&trouble.text))
}

/// What the real command printed and is read; of what is refused the errors have tests of their own.
fn readable(command: &str, is: fn(&str) -> bool) -> Vec<String> {
    let mut texts = seeds::snap(Some(command));
    texts.retain(|text| is(text));
    texts
}

fn info(text: &str) -> Result<(), String> {
    parse_info(&"plane-api".parse().unwrap(), text).map(|_| ())
}

fn cohorts(text: &str) -> Result<(), String> {
    match parse_cohorts(text) {
        Err(why) => said(Err(why)),
        Ok(keys) => keys.values().try_for_each(|key| {
            same(&key.expose().parse::<CohortKey>().is_ok(), &true)?;
            message(&format!("{key} {key:?}"))
        }),
    }
}

/// What a failed command says; its text is told in a status.
fn errors(stderr: &str) -> Result<(), String> {
    for rc in [0, 1, 10, 255] {
        let exit = Exit::Status(rc);
        let output = Output { exit, stdout: stderr.as_bytes().to_vec(), stderr: stderr.to_owned() };
        if let Err((_, text)) = classify(&output)
            && !stderr.trim().is_empty()
        {
            // The wrapper shortens it, together with its command.
            said(Err(text))?;
        }
    }
    Ok(())
}

fn option_texts() -> Vec<String> {
    let all = json!({
        "snaps": "kubelet cdk-addons=1.31/edge", "channel": "1.32", "cohort-refresh": "manual",
        "cohort-check-interval": "2h", "refresh-window": "Sat 02:00-05:00 UTC", "worker-parallelism": 3,
        "pause-after-unit-refresh": "all", "grant-timeout": "1h", "ready-timeout": "5m", "role": "worker",
        "hold-snaps": false, "on-removal": "keep", "kubeconfig": "/root/.kube/config",
        "extra-alert-labels": "team:infra", "forward-host-health": "on", "forward-alert-rules": false,
    });
    vec![all.to_string()]
}

/// A wrong value is told; what is good stays good when it is all that is left.
fn option_values(text: &str) -> Result<(), String> {
    let Ok(config) = serde_json::from_str::<BTreeMap<String, Value>>(text) else { return Ok(()) };
    let read = options::read(&config, &BTreeMap::new());
    read.faults.iter().try_for_each(|status| shown(&status.line))?;
    let again = options::read(&read.good, &BTreeMap::new());
    same(&again.faults, &Vec::new())?;
    same(
        &(again.good, again.forwarding, again.rollout),
        &(read.good.clone(), read.forwarding.clone(), read.rollout.clone()),
    )?;
    // As the last good ones they are in force where nothing good is given.
    let bad: BTreeMap<String, Value> = read.good.keys().map(|name| (name.clone(), json!([]))).collect();
    same(&options::read(&bad, &read.good).rollout, &read.rollout)
}

fn good_words() -> Vec<String> {
    let words = [
        "kubelet",
        "lockstep/0",
        "1.30/stable/fix-1",
        "x1",
        "4567",
        "^1.29, <1.31 || >=2",
        "peers:3",
        "1.30",
        "amd64",
        "3-28b8f38e",
        "5ca24005b740717b",
        "0123456789abcdef0123456789abcdef",
        "3.6.9",
        "4.0-beta5",
        "disabled,held,try",
    ];
    words.map(str::to_owned).to_vec()
}

/// Read, shown, read as the same; and no word that is accepted could be taken for a flag.
fn word<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) -> Result<(), String> {
    match text.parse::<T>() {
        Err(error) => message(&error.to_string()),
        Ok(value) => {
            let shown = value.to_string();
            if shown.starts_with('-') || shown.chars().any(char::is_control) {
                return Err(format!("{shown:?} is accepted"));
            }
            same(&shown.parse::<T>().map_err(|error| error.to_string()), &Ok(value))
        }
    }
}

fn words(text: &str) -> Result<(), String> {
    word::<SnapName>(text)?;
    word::<Channel>(text)?;
    word::<Revision>(text)?;
    word::<Architecture>(text)?;
    word::<Constraint>(text)?;
    word::<Minor>(text)?;
    word::<KeyDigest>(text)?;
    word::<Digest>(text)?;
    word::<TargetId>(text)?;
    word::<AppName>(text)?;
    word::<UnitName>(text)?;
    word::<RelationId>(text)?;
    let _ =
        (Notes::parse(text), JujuVersion::parse(text), SnapdVersion::parse(text), Minor::of_version(text));
    Ok(())
}

/// The variables of a hook, as `NAME=VALUE` lines.
fn dispatches() -> Vec<String> {
    let hook = "JUJU_DISPATCH_PATH=hooks/cos-agent-relation-departed\nJUJU_RELATION_ID=cos-agent:7\n\
                JUJU_REMOTE_APP=db\nJUJU_REMOTE_UNIT=db/0\nJUJU_DEPARTING_UNIT=db/0\nJUJU_RELATION=cos-agent";
    vec![hook.to_owned(), "JUJU_DISPATCH_PATH=actions/retry-unit\nJUJU_ACTION_NAME=retry-unit".to_owned()]
}

fn invocation(text: &str) -> Result<(), String> {
    let variables: BTreeMap<String, String> = text
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    for args in [vec!["lockstep".to_owned()], vec!["hooks/stop".to_owned()]] {
        if let Err(why) = Invocation::read(&args, &variables) {
            message(&why)?;
        }
    }
    Ok(())
}
