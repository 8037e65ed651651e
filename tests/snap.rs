//! The `snap` wrapper against the recordings of the real client and daemon: nothing forgotten.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use expect_test::expect_file;
use lockstep::snap::{CohortKey, TroubleKind};
use lockstep::tools::snap::{
    classify, parse_changes, parse_cohorts, parse_info, parse_list, parse_services, parse_tasks,
    parse_version,
};
use lockstep::tools::{Exit, Output};
use proptest::prelude::*;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::Path;

#[derive(Debug, Clone, Deserialize)]
struct Recording {
    #[serde(default)]
    name: String,
    argv: Vec<String>,
    #[serde(default)]
    tty: bool,
    rc: i32,
    stdout: String,
    stderr: String,
}

#[derive(Deserialize)]
struct Session {
    steps: Vec<Recording>,
}

fn recordings() -> Vec<Recording> {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snap"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    let mut files: Vec<_> =
        std::fs::read_dir(dir.join("client")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        all.push(Recording { name, ..serde_json::from_str(&read(&file)).unwrap() });
    }
    for version in ["2.57.6", "2.68.3"] {
        let text = read(&dir.join(format!("real-daemon-{version}.json")));
        let session: Session = serde_json::from_str(&text).unwrap();
        for (number, step) in session.steps.into_iter().enumerate() {
            all.push(Recording { name: format!("real-daemon-{version} {:02}", number + 1), ..step });
        }
    }
    all
}

impl Recording {
    fn output(&self) -> Output {
        Output {
            exit: Exit::Status(self.rc),
            stdout: self.stdout.clone().into_bytes(),
            stderr: self.stderr.clone(),
        }
    }

    /// What the wrapper reads out of standard output; empty for commands of which it reads nothing.
    fn read(&self) -> String {
        let joined = |parts: Vec<String>| parts.join("; ");
        let result = match self.argv[1].as_str() {
            "list" => parse_list(&self.stdout).map(|snaps| {
                joined(
                    snaps
                        .values()
                        .map(|snap| {
                            let version = snap.version.as_deref().unwrap_or("no version");
                            let tracking =
                                snap.tracking.as_ref().map_or("nothing".into(), ToString::to_string);
                            let notes: Vec<&str> = snap.notes.iter().collect();
                            let (name, revision) = (&snap.name, snap.revision);
                            format!("{name} {version} ({revision}) {tracking} [{}]", notes.join(" "))
                        })
                        .collect(),
                )
            }),
            "info" => {
                self.argv.last().unwrap().parse().map_err(|error| format!("{error}")).and_then(|name| {
                    let info = parse_info(&name, &self.stdout)?;
                    let heads = info.heads.map_or(vec!["unknown".to_owned()], |heads| {
                        let rows = heads.0.iter().map(|(channel, head)| {
                            let head =
                                head.as_ref().map_or("closed".into(), |head| head.revision.to_string());
                            format!("{channel} {head}")
                        });
                        rows.collect()
                    });
                    let local = info.local.map_or("not installed".to_owned(), |local| {
                        let tracking = local.tracking.map_or("nothing".into(), |channel| channel.to_string());
                        let cohort = local.cohort.map_or("none".into(), |digest| digest.to_string());
                        format!("{} {tracking}, cohort {cohort}, hold {:?}", local.revision, local.hold)
                    });
                    Ok(format!("{local}; heads: {}", joined(heads)))
                })
            }
            "create-cohort" => parse_cohorts(&self.stdout)
                .map(|keys| joined(keys.iter().map(|(name, key)| format!("{name} {key}")).collect())),
            "changes" => parse_changes(&self.stdout).map(|changes| {
                let open = changes.iter().filter(|change| !change.ready);
                let open: Vec<String> =
                    open.map(|change| format!("{}: {}", change.id, change.summary)).collect();
                format!("{} changes, open: {}", changes.len(), joined(open))
            }),
            "tasks" => parse_tasks(&self.stdout)
                .map(|tasks| joined(tasks.iter().map(|t| format!("{} {}", t.status, t.summary)).collect())),
            "services" => parse_services(&self.stdout).map(|services| {
                let rows = services.values().flatten().map(|service| {
                    let state = if service.active { "active" } else { "inactive" };
                    let (snap, app) = (&service.snap, &service.app);
                    format!("{snap}.{app} {state}, down: {}", service.is_down())
                });
                joined(rows.collect())
            }),
            "version" => Ok(format!("{:?}", parse_version(&self.stdout))),
            _ => Ok(String::new()),
        };
        result.unwrap_or_else(|why| format!("NOT UNDERSTOOD: {why}"))
    }

    fn told(&self) -> String {
        match classify(&self.output()) {
            Ok(answer) => format!("{answer:?} {}", self.read()),
            Err((kind, text)) => format!("{kind:?}: {text}"),
        }
    }
}

/// The arguments without whole keys.
fn shown(argv: &[String]) -> String {
    let args = argv.iter().skip(1).map(|arg| match arg.split_once("--cohort=") {
        Some(("", key)) if key.len() > 20 => format!("--cohort={}", CohortKey::tail(key)),
        Some(_) | None if arg.len() > 40 => CohortKey::tail(arg),
        Some(_) | None => arg.clone(),
    });
    args.collect::<Vec<_>>().join(" ")
}

#[test]
fn every_recording_means_what_is_expected() {
    let mut text = "# What the wrapper makes of each recording. After a change of the recordings or of the \
                    wrapper: UPDATE_EXPECT=1 cargo test --test snap, and read the difference.\n"
        .to_owned();
    for recording in recordings() {
        writeln!(text, "\n{}: {}", recording.name, shown(&recording.argv)).unwrap();
        writeln!(text, "    {}", recording.told().trim_end()).unwrap();
    }
    expect_file!["./snap/expected.txt"].assert_eq(&text);
}

#[test]
fn nothing_recorded_is_unclassified_but_what_has_no_kind() {
    let mut unknown: Vec<String> = Vec::new();
    for recording in recordings() {
        if let Err((TroubleKind::Other, _)) = classify(&recording.output()) {
            unknown.push(format!("{} {}", recording.argv[1], recording.name));
        }
    }
    unknown
        .retain(|name| !name.starts_with("set ") && !name.starts_with("get ") && !name.starts_with("watch "));
    let expected = [
        "list list-err--2.68",
        // A refused key: the store's own words, for which snapd has no kind.
        "refresh refresh-badcohort",
        "refresh real-daemon-2.57.6 35",
        // HTTP 400.
        "create-cohort real-daemon-2.57.6 40",
        "refresh real-daemon-2.68.3 35",
        "create-cohort real-daemon-2.68.3 40",
    ];
    assert_eq!(unknown, expected);
}

#[test]
fn what_is_read_is_understood_but_for_what_the_wrapper_never_asks_for() {
    for recording in recordings().iter().filter(|recording| recording.rc == 0) {
        let relative_times = ["changes", "tasks"].contains(&recording.argv[1].as_str())
            && !recording.argv.contains(&"--abs-time".to_owned())
            && !recording.stdout.is_empty();
        let two = recording.name == "info-two";
        let coloured = recording.stdout.contains('\u{1b}') && recording.argv[1] == "list";
        let refused = recording.read().starts_with("NOT UNDERSTOOD");
        assert!(refused == (relative_times || two || coloured), "{}: {}", recording.name, recording.read());
        assert!(!recording.tty || refused || recording.argv[1] != "list", "{}", recording.name);
    }
}

fn mutated() -> impl Strategy<Value = String> {
    let texts: Vec<String> =
        recordings().into_iter().flat_map(|recording| [recording.stdout, recording.stderr]).collect();
    let text = prop_oneof![proptest::sample::select(texts), "(?s).{0,200}"];
    (text, any::<proptest::sample::Index>(), any::<proptest::sample::Index>(), "(?s).{0,5}").prop_map(
        |(text, from, to, new)| {
            let chars: Vec<char> = text.chars().collect();
            if chars.is_empty() {
                return new;
            }
            let (from, to) = (from.index(chars.len()), to.index(chars.len()));
            let (from, to) = (from.min(to), from.max(to));
            let keep = |chars: &[char]| chars.iter().collect::<String>();
            format!("{}{new}{}", keep(&chars[..from]), keep(&chars[to..]))
        },
    )
}

proptest! {
    #[test]
    fn no_text_is_a_panic(stdout in mutated(), stderr in mutated(), rc in -1..256) {
        let _ = parse_list(&stdout);
        let _ = parse_info(&"plane-api".parse().unwrap(), &stdout);
        let _ = parse_changes(&stdout);
        let _ = parse_tasks(&stdout);
        let _ = parse_services(&stdout);
        let _ = parse_version(&stdout);
        for key in parse_cohorts(&stdout).unwrap_or_default().values() {
            prop_assert!(!key.expose().is_empty() && !key.expose().starts_with('-'));
        }
        let _ = classify(&Output { exit: Exit::Status(rc), stdout: stdout.into_bytes(), stderr });
    }
}
