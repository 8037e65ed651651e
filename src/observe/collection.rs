//! What collection looks at, out of the index, from files and from snapd.

use super::index::Index;
use super::kube::below;
use super::reader::Reader;
use crate::databag::charm_state::Remembered;
use crate::databag::header::Header;
use crate::databag::scrape::{self, Jobs};
use crate::databag::{Digest, Topology, Url, certificates, loki, remote_write};
use crate::decide::collection::{bundle, places, snap as collector};
use crate::juju::{
    AppName, Context, Endpoint, Event, PlainHook, RelationHook, RelationId, Timestamp, UnitName,
};
use crate::observed::collection::{Collection, File, Machine, Occasion, Sinks, Source};
use crate::observed::rollout::Snapd;
use crate::snap::{Architecture, SnapName, Trouble, parse_mounts};
use crate::tools::ToolError;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

/// Larger files in the collector's directory are not ours.
const FILE_LIMIT: u64 = 8 << 20;

/// What is known beside the index.
#[derive(Debug)]
pub struct Beside<'a> {
    /// Who observes.
    pub context: &'a Context,
    /// The hook, if one runs.
    pub event: Option<&'a Event>,
    /// When the pass began.
    pub now: Timestamp,
    /// The machine's architecture.
    pub architecture: Architecture,
    /// The machine's own name.
    pub host: Option<&'a str>,
    /// What snapd says.
    pub snapd: &'a Snapd,
    /// The charm state.
    pub remembered: &'a Remembered,
}

/// Everything but the jobs themselves.
pub fn observe(index: &Index, beside: &Beside<'_>) -> Collection {
    let Beside { context, .. } = beside;
    let mut faults = Vec::new();
    let remote_write = sinks(index, Endpoint::SendRemoteWrite, remote_write::REMOTE_WRITE, &mut faults);
    let loki = sinks(index, Endpoint::LoggingConsumer, loki::ENDPOINT, &mut faults);
    let mut found = BTreeSet::new();
    for (id, relation) in index.relations.iter().filter(|(id, _)| id.endpoint == Endpoint::ReceiveCaCert) {
        for bag in relation.app_bag.iter().chain(relation.units.values().map(|bag| &bag.texts)) {
            let (certificates, wrong) = certificates::read(bag);
            found.extend(certificates);
            faults.extend(wrong.into_iter().map(|fault| (id.to_string(), fault)));
        }
    }
    Collection {
        now: beside.now,
        occasion: occasion(beside.event, &context.unit),
        unit: context.unit.clone(),
        topology: Topology {
            model: context.model.clone(),
            model_uuid: context.model_uuid.clone(),
            application: context.application().clone(),
            charm: "lockstep".to_owned(),
        },
        host: beside.host.unwrap_or_default().to_owned(),
        architecture: beside.architecture,
        sources: BTreeMap::new(),
        silent: BTreeSet::new(),
        remote_write,
        loki,
        certificates: found,
        faults,
        machine: machine(context, beside.snapd),
        connections: None,
        done: Vec::new(),
        memory: beside.remembered.collection.clone(),
    }
}

/// The digest of all that a decision looks at but the time: what principals tell by digest alone.
pub fn gate(part: &Collection, index: &Index, build: &str) -> Digest {
    let wanted: Vec<_> = told(index).collect();
    let collect = index.config.as_ref().and_then(|config| config.get("collect"));
    Digest::of(&format!(
        "{build} {collect:?} {wanted:?} {:?} {} {:?} {:?} {:?} {:?} {:?}",
        part.topology, part.host, part.remote_write, part.loki, part.certificates, part.faults, part.machine,
    ))
}

/// Whether there is something to decide: something has changed, a step is to be tried again, or this
/// is the last hook. At an update-status a service that does not run is looked at again.
pub fn is_due(part: &Collection, gate: Digest) -> bool {
    let memory = &part.memory;
    let again = memory.trouble.as_ref().map(|setback| setback.again).into_iter().chain(memory.slots_again);
    let again = again.min().is_some_and(|again| again <= part.now);
    let down = part.occasion == Occasion::UpdateStatus && memory.applied.is_some() && !part.machine.active;
    memory.gate != Some(gate) || again || down || part.occasion == Occasion::Removing
}

/// The related principals of which there is no source.
pub fn silent(index: &Index, sources: &BTreeMap<UnitName, Source>) -> BTreeSet<UnitName> {
    let relations = index.relations.iter().filter(|(id, _)| id.endpoint == Endpoint::CosAgent);
    let related = relations.flat_map(|(_, relation)| relation.units.keys());
    related.filter(|unit| !sources.contains_key(*unit)).cloned().collect()
}

/// Reads what principals want to have collected, where this pass has not read it yet. Of a unit with two
/// relations the first with good data counts.
pub fn sources(reader: &mut Reader<'_>, index: &Index) -> Result<BTreeMap<UnitName, Source>, ToolError> {
    let mut sources = BTreeMap::new();
    let wanted: Vec<(RelationId, UnitName, Digest)> =
        told(index).map(|(id, unit, digest)| (id, unit.clone(), digest)).collect();
    for (id, unit, digest) in wanted {
        if sources.contains_key(&unit) {
            continue;
        }
        if let Some(jobs) = reader.jobs(id, &unit)? {
            sources.insert(unit, Source { digest, jobs });
        }
    }
    Ok(sources)
}

/// The jobs in a principal's databag: none where it has told nothing, or nothing that can be read.
pub fn jobs(config: Option<&String>) -> Option<Jobs> {
    scrape::read(config?).ok()
}

fn told(index: &Index) -> impl Iterator<Item = (RelationId, &UnitName, Digest)> {
    let relations = index.relations.iter().filter(|(id, _)| id.endpoint == Endpoint::CosAgent);
    relations.flat_map(|(id, relation)| {
        relation.units.iter().filter_map(|(unit, bag)| Some((*id, unit, bag.jobs?)))
    })
}

fn sinks(
    index: &Index,
    endpoint: Endpoint,
    key: &str,
    faults: &mut Vec<(String, crate::databag::Fault)>,
) -> Sinks {
    let mut sinks = Sinks::default();
    for (_, relation) in index.relations.iter().filter(|(id, _)| id.endpoint == endpoint) {
        sinks.related = true;
        let mut told: BTreeMap<&AppName, bool> = BTreeMap::new();
        for (unit, bag) in &relation.units {
            let some = told.entry(unit.application()).or_default();
            match bag.texts.get(key).map(|text| Url::read(text)) {
                None => {}
                Some(Ok(url)) => {
                    *some = true;
                    sinks.urls.insert(url);
                }
                Some(Err(fault)) => {
                    *some = true;
                    faults.push((format!("{unit} {key}"), fault));
                }
            }
        }
        sinks.silent.extend(told.into_iter().filter(|(_, some)| !some).map(|(app, _)| app.clone()));
    }
    sinks
}

fn occasion(event: Option<&Event>, unit: &UnitName) -> Occasion {
    match event {
        Some(Event::Plain(PlainHook::Remove)) => Occasion::Removing,
        Some(Event::Plain(PlainHook::UpdateStatus)) => Occasion::UpdateStatus,
        // Hooks of other relations may still come.
        Some(Event::Plain(PlainHook::Stop)) => Occasion::Leaving,
        Some(Event::Relation(event))
            if event.hook == RelationHook::Departed && event.departing_unit.as_ref() == Some(unit) =>
        {
            Occasion::Leaving
        }
        Some(Event::Plain(_) | Event::Relation(_)) | None => Occasion::Usual,
    }
}

/// The collector on this machine.
pub fn machine(context: &Context, snapd: &Snapd) -> Machine {
    let root = &context.root;
    let name = collector();
    let running = |name: &SnapName| {
        let services = snapd.services.as_ref().ok().and_then(|services| services.get(name));
        services.is_some_and(|services| services.iter().any(|service| service.active && service.enabled))
    };
    let installed = snapd.installed.as_ref();
    let agent: Option<SnapName> = places::AGENT_SNAP.parse().ok();
    Machine {
        installed: installed.map(|all| all.get(&name).cloned()).map_err(Trouble::clone),
        snaps: installed.map(|all| all.keys().cloned().collect()).unwrap_or_default(),
        active: running(&name),
        files: files(&below(root, places::CONFIG)),
        locks: locks(&below(root, places::LOCKS)),
        mounts: parse_mounts(&text(&below(root, places::FSTAB)).unwrap_or_default(), &name, places::MOUNTED),
        bundle: text(&below(root, &bundle(&context.unit))).map(|text| Digest::of(&text)),
        agent: agent_is_configured(root) && agent.as_ref().is_some_and(running),
    }
}

/// Whether the older collector has a configuration: only then is it asked whether it runs.
pub fn agent_is_configured(root: &Path) -> bool {
    below(root, places::AGENT).exists()
}

/// The non-empty files, however deep, as the collector's wrapper finds them.
fn files(dir: &Path) -> BTreeMap<String, File> {
    let mut found = BTreeMap::new();
    for name in names(dir) {
        let path = dir.join(&name);
        if path.is_dir() {
            let inner = files(&path);
            found.extend(inner.into_iter().map(|(inner, file)| (format!("{name}/{inner}"), file)));
        } else if let Some(text) = text(&path).filter(|text| !text.is_empty()) {
            found.insert(name, File { header: Header::read(&text), digest: Digest::of(&text) });
        }
    }
    found
}

fn locks(dir: &Path) -> BTreeMap<String, Option<UnitName>> {
    let owner = |name: &str| text(&dir.join(name))?.trim().strip_prefix("lockstep ")?.parse().ok();
    let names = names(dir).into_iter().filter(|name| name.starts_with(places::LOCK));
    names.map(|name| (name.clone(), owner(&name))).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// A file's text as far as it is looked at; none where there is no such file.
fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(FILE_LIMIT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
