//! The unit's configuration for the collector: a function of what is wanted, the same bytes for the same
//! input.
//!
//! All files in the collector's directory are merged: maps key by key, while of a list one file's wins. So
//! every id carries the unit's name, and what is shared (`shared`) is the same in every unit's file.
//! The collector expands `${env:X}`, `${file:/path}` and the like in every text, as root: every dollar
//! is doubled, which no run of dollars before a brace survives (open-telemetry/opentelemetry-collector
//! `confmap/expand.go`). Keys are never expanded. The text is JSON, which is YAML.

use super::{logs, metrics, shared};
use crate::databag::header::Header;
use crate::databag::scrape::{Job, Slot};
use crate::databag::{Digest, Hidden, Topology, Url};
use crate::juju::UnitName;
use crate::snap::Mount;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is to be collected, all of it good.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// This unit.
    pub unit: UnitName,
    /// The model, and the local application.
    pub topology: Topology,
    /// What the machine calls itself.
    pub host: String,
    /// The jobs of each principal unit.
    pub jobs: BTreeMap<UnitName, Vec<Job>>,
    /// The slots, each with the principal unit that names it.
    pub slots: BTreeMap<Slot, UnitName>,
    /// What snapd has mounted of them.
    pub mounts: BTreeSet<Mount>,
    /// Where metrics go; nowhere: none are collected.
    pub remote_write: BTreeSet<Url>,
    /// Where log lines go; nowhere: none are shipped.
    pub loki: BTreeSet<Url>,
    /// Whether there is a bundle of certificates.
    pub certificates: bool,
    /// Whether this unit ships the lines of `/var/log`: one unit on a machine does.
    pub host_logs: bool,
    /// The one principal on this machine, where there is exactly one.
    pub sole: Option<UnitName>,
}

/// A configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// Its text, which may hold secrets.
    pub text: Hidden,
    /// The digest of the text.
    pub digest: Digest,
    /// The principal units whose jobs are in it.
    pub collected: BTreeSet<UnitName>,
}

/// Renders what is wanted; none where nothing would be collected.
pub fn render(wanted: &Wanted) -> Option<Rendered> {
    let mut config = Config::default();
    let collected = metrics::add(wanted, &mut config);
    logs::add(wanted, &mut config);
    if config.pipelines.is_empty() {
        return None;
    }
    let header = Header {
        unit: wanted.unit.clone(),
        host: host_logs(wanted),
        slots: wanted.slots.keys().cloned().collect(),
    };
    let text = config.write(&header.write());
    Some(Rendered { digest: Digest::of(text.expose()), text, collected })
}

/// The receiver of one principal alone, with an exporter that drops everything: by which it is found
/// whose jobs the collector refuses.
pub fn probe(wanted: &Wanted, principal: &UnitName) -> Option<Hidden> {
    let mut config = Config::default();
    let (id, receiver) = metrics::of_principal(wanted, principal, wanted.jobs.get(principal)?);
    config.receivers.insert(id.clone(), receiver);
    config.exporters.insert("nop/lockstep".to_owned(), json!({}));
    config.pipeline(
        format!("metrics/{}", id_of(&wanted.unit)),
        vec![id],
        &[],
        vec!["nop/lockstep".to_owned()],
    );
    Some(config.write(""))
}

/// Whether this unit's file ships the lines of the machine.
pub fn host_logs(wanted: &Wanted) -> bool {
    wanted.host_logs && !wanted.loki.is_empty()
}

/// The parts of a configuration that are a unit's own.
#[derive(Debug, Default)]
pub(super) struct Config {
    pub(super) receivers: Map<String, Value>,
    pub(super) exporters: Map<String, Value>,
    pipelines: Map<String, Value>,
}

impl Config {
    pub(super) fn pipeline(
        &mut self,
        id: String,
        receivers: Vec<String>,
        processors: &[&str],
        exporters: Vec<String>,
    ) {
        let pipeline = json!({"receivers": receivers, "processors": processors, "exporters": exporters});
        self.pipelines.insert(id, pipeline);
    }

    fn write(self, header: &str) -> Hidden {
        let mut whole = json!({
            "extensions": shared::extensions(),
            "receivers": self.receivers,
            "processors": shared::processors(),
            "exporters": self.exporters,
            "service": {
                "extensions": shared::EXTENSIONS,
                "telemetry": shared::telemetry(),
                "pipelines": self.pipelines,
            },
        });
        double_dollars(&mut whole);
        // Maps with text keys and plain values always serialise.
        let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
        Hidden::new(format!("{header}{}\n", printable(&text)))
    }
}

/// The unit's name as it stands in ids and names of files.
pub fn id_of(unit: &UnitName) -> String {
    unit.to_string().replace('/', "_")
}

/// An id for each URL that does not change with the others: eight digits of its digest.
pub(super) fn exporter_id(kind: &str, unit: &UnitName, url: &Url) -> String {
    let digest = Digest::of(url.as_str()).to_string();
    format!("{kind}/{}/{}", id_of(unit), digest.get(..8).unwrap_or_default())
}

/// How an exporter verifies whom it sends to: never less than the system does.
pub(super) fn tls(wanted: &Wanted, url: &Url) -> Option<Value> {
    let verified = wanted.certificates && url.as_str().starts_with("https://");
    verified.then(|| json!({"ca_file": shared::bundle(&wanted.unit), "include_system_ca_certs_pool": true}))
}

/// Doubles every dollar of every text; keys are never expanded.
fn double_dollars(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('$') => *text = text.replace('$', "$$"),
        Value::Array(items) => items.iter_mut().for_each(double_dollars),
        Value::Object(fields) => fields.values_mut().for_each(double_dollars),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// JSON lets characters stand that YAML's readers refuse or fold; they stand in texts only.
fn printable(json: &str) -> String {
    let plain = |c: char| {
        !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
    };
    let mut out = String::with_capacity(json.len());
    for char in json.chars() {
        if plain(char) {
            out.push(char);
        } else {
            out.push_str(&format!("\\u{:04x}", u32::from(char)));
        }
    }
    out
}
