//! A machine as far as collection sees it: what each step does to it.

use crate::databag::Digest;
use crate::databag::header::Header;
use crate::databag::scrape;
use crate::decide::collection::{Outcome, decide, id_of, snap};
use crate::juju::{Level, Timestamp, UnitName};
use crate::observed::collection::{Collection, Done, Failure, File, Machine, Occasion, Sinks, Source, Step};
use crate::snap::{Alteration, Architecture, Connection, Installed, Mount, Place};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// One unit and its machine.
pub(super) struct Case {
    pub(super) part: Collection,
    pub(super) on: bool,
    /// The connections of the collector's plugs.
    pub(super) connections: BTreeSet<Connection>,
    /// Steps that fail, by the begin of how they are shown.
    pub(super) fails: BTreeMap<&'static str, Failure>,
    /// Texts that a configuration must not have.
    pub(super) refuses: BTreeSet<&'static str>,
    /// Whether the service stays up once it is started.
    pub(super) stays_up: bool,
}

impl Case {
    /// A unit beside a principal with a job and a slot, related to Prometheus and Loki.
    pub(super) fn new() -> Self {
        let sinks = |url: &str| Sinks {
            related: true,
            urls: BTreeSet::from([url.to_owned().try_into().unwrap()]),
            silent: BTreeSet::new(),
        };
        let wanted = super::wanted();
        let mut case = Self {
            part: Collection {
                now: Timestamp(1000),
                occasion: Occasion::Usual,
                unit: wanted.unit,
                topology: wanted.topology,
                host: wanted.host,
                architecture: Architecture::Amd64,
                sources: BTreeMap::new(),
                silent: BTreeSet::new(),
                remote_write: sinks("http://prometheus/write"),
                loki: sinks("http://loki/push"),
                certificates: BTreeSet::new(),
                faults: Vec::new(),
                machine: Machine::default(),
                connections: None,
                done: Vec::new(),
                memory: Default::default(),
            },
            on: true,
            connections: BTreeSet::new(),
            fails: BTreeMap::new(),
            refuses: BTreeSet::new(),
            stays_up: true,
        };
        case.tells("ledger-db/0", json!([{"job_name": "a"}]), &["ledger:logs"]);
        case.has_snap("ledger");
        case
    }

    /// A principal tells jobs and slots.
    pub(super) fn tells(&mut self, unit: &str, jobs: Value, slots: &[&str]) {
        let text = json!({"metrics_scrape_jobs": jobs, "log_slots": slots}).to_string();
        let source = Source { digest: scrape::digest(&text), jobs: scrape::read(&text).unwrap() };
        self.part.sources.insert(unit.parse().unwrap(), source);
    }

    pub(super) fn has_snap(&mut self, name: &str) {
        self.part.machine.snaps.insert(name.parse().unwrap());
    }

    /// A file in the collector's directory.
    pub(super) fn has_file(&mut self, name: &str, text: &str) {
        let file = File { header: Header::read(text), digest: Digest::of(text) };
        self.part.machine.files.insert(name.to_owned(), file);
    }

    pub(super) fn own_file(&self) -> Option<&File> {
        self.part.machine.files.get(&format!("{}.yaml", id_of(&self.part.unit)))
    }

    /// A whole pass, which is then committed. Gives its steps, shown, and its last word.
    pub(super) fn pass(&mut self) -> (Vec<String>, Outcome) {
        self.part.done.clear();
        self.part.connections = None;
        for _ in 0..40 {
            let outcome = decide(&self.part, self.on, Digest::of("gate"));
            let Some((step, _)) = outcome.step else {
                self.part.memory = outcome.memory.clone();
                return (self.part.done.iter().map(|(step, _)| shown(step)).collect(), outcome);
            };
            let outcome = self.carry_out(&step);
            self.part.done.push((step, outcome));
        }
        panic!("too many steps: {:?}", self.part.done);
    }

    fn carry_out(&mut self, step: &Step) -> Result<Done, Failure> {
        let text = shown(step);
        if let Some((_, failure)) = self.fails.iter().find(|(begin, _)| text.starts_with(*begin)) {
            return Err(failure.clone());
        }
        let own = format!("{}.yaml", id_of(&self.part.unit));
        let accepts = |text: &str| !self.refuses.iter().any(|bad| text.contains(bad));
        let machine = &mut self.part.machine;
        match step {
            Step::Lock { name } => {
                machine.locks.retain(|_, owner| owner.as_ref() != Some(&self.part.unit));
                machine.locks.insert(name.clone(), Some(self.part.unit.clone()));
            }
            Step::Bundle { text } => machine.bundle = text.as_deref().map(Digest::of),
            Step::Place { text: None } => drop(machine.files.remove(&own)),
            Step::Place { text: Some(text) } => {
                let text = text.expose();
                let file = File { header: Header::read(text), digest: Digest::of(text) };
                machine.files.insert(own, file);
            }
            Step::Validate { text } if accepts(text.expose()) => {}
            Step::Validate { .. } => return Ok(Done::Refused),
            Step::Probe { parts } => {
                let bad = parts.iter().filter(|(_, text)| !accepts(text.expose()));
                return Ok(Done::Culprits(bad.map(|(unit, _)| unit.clone()).collect()));
            }
            Step::Alter(Alteration::Install { to, .. } | Alteration::Move(to)) => {
                let Place::Revision(revision) = to.to else { panic!("a revision") };
                machine.installed = Ok(Some(installed(&revision.to_string(), false)));
            }
            Step::Alter(Alteration::Hold { .. }) => {
                if let Ok(Some(snap)) = &mut machine.installed {
                    *snap = installed(&snap.revision.to_string(), true);
                }
            }
            Step::Alter(_) => panic!("{step:?}"),
            Step::ReadConnections => self.part.connections = Some(Ok(self.connections.clone())),
            Step::ConnectPlug { plug, slot } => drop(
                self.connections.insert(Connection { plug: (*plug).to_owned(), slot: format!(":{slot}") }),
            ),
            Step::Connect { slot } => {
                self.connections.insert(Connection { plug: "logs".to_owned(), slot: slot.to_string() });
                machine.mounts.insert(Mount { snap: slot.snap.clone(), place: "log".to_owned() });
            }
            Step::Disconnect { slot } => {
                self.connections.retain(|connection| connection.slot != slot.to_string());
                machine.mounts.retain(|mount| mount.snap != slot.snap);
            }
            Step::Start | Step::Restart => machine.active = self.stays_up,
            Step::Stop => machine.active = false,
            Step::RemoveSnap => machine.installed = Ok(None),
            Step::Withdraw => {
                machine.files.remove(&own);
                machine.bundle = None;
                machine.locks.retain(|_, owner| owner.as_ref() != Some(&self.part.unit));
            }
        }
        Ok(Done::Done)
    }
}

/// The collector as `snap list` shows it.
pub(super) fn installed(revision: &str, held: bool) -> Installed {
    let row = json!({
        "name": snap(), "version": "0.130", "revision": revision, "tracking": null,
        "notes": if held { json!(["held"]) } else { json!([]) },
    });
    serde_json::from_value(row).unwrap()
}

/// A step in a few words.
fn shown(step: &Step) -> String {
    match step {
        Step::Lock { name } => format!("lock {name}"),
        Step::Bundle { text } => format!("bundle {}", text.is_some()),
        Step::Validate { .. } => "validate".to_owned(),
        Step::Probe { parts } => format!("probe {}", parts.len()),
        Step::Place { text } => format!("place {}", text.is_some()),
        Step::Alter(Alteration::Install { .. }) => "install".to_owned(),
        Step::Alter(Alteration::Move(_)) => "move".to_owned(),
        Step::Alter(Alteration::Hold { .. }) => "hold".to_owned(),
        Step::Alter(other) => format!("{other:?}"),
        Step::ReadConnections => "read".to_owned(),
        Step::ConnectPlug { plug, .. } => format!("plug {plug}"),
        Step::Connect { slot } => format!("connect {slot}"),
        Step::Disconnect { slot } => format!("disconnect {slot}"),
        Step::Start => "start".to_owned(),
        Step::Restart => "restart".to_owned(),
        Step::Stop => "stop".to_owned(),
        Step::RemoveSnap => "remove".to_owned(),
        Step::Withdraw => "withdraw".to_owned(),
    }
}

/// The statuses, shown.
pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    outcome.statuses.iter().map(|status| format!("{}: {}", status.level, status.line)).collect()
}

/// A failure that passes, or not.
pub(super) fn failure(transient: bool) -> Failure {
    Failure { transient, unsupported: false, text: "why".to_owned() }
}

pub(super) fn unit(name: &str) -> UnitName {
    name.parse().unwrap()
}

/// The worst level.
pub(super) fn worst(outcome: &Outcome) -> Option<Level> {
    outcome.statuses.iter().map(|status| status.level).min()
}
