//! What a scenario puts on a machine without anybody having asked snapd for it.

use serde::Deserialize;
use serde_json::Value;

use super::{Hold, OnDisk, Service, Snap};
use crate::store::{Channel, Confinement, Question, Revision};
use crate::world::World;

/// A snap on a machine. Of one that is there already only what is given changes.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct SnapSpec {
    /// Name.
    pub name: String,
    /// `41`; what the channel holds if it is left out. `x1` for a local build.
    pub revision: Option<Value>,
    /// What it tracks; `latest/stable` if it is left out.
    pub channel: Option<String>,
    /// Version, where the store does not tell it.
    pub version: Option<String>,
    /// A local build, which the store knows nothing of.
    pub sideloaded: bool,
    /// Held for ever, or not.
    pub held: Option<bool>,
    /// The whole key of its cohort.
    pub cohort: Option<String>,
    /// Confinement.
    pub confinement: Option<Confinement>,
    /// Names of its services; those of the store's snap if they are left out.
    pub services: Option<Vec<String>>,
    /// Services that do not run; all others do.
    pub inactive: Option<Vec<String>>,
    /// Processes of its apps.
    pub running: Option<Vec<u32>>,
    /// `snap disable`
    pub disabled: Option<bool>,
    /// Older revisions on the disk, oldest first.
    pub older: Option<Vec<u32>>,
    /// `app` if it is left out.
    pub kind: Option<String>,
}

impl World {
    /// A snap of the store as it is just after an installation.
    pub(super) fn new_snap(&self, name: &str, number: u32, revision: &Revision) -> Snap {
        let of = self.store.snaps.get(name);
        let services = of.map(|snap| snap.services.clone()).unwrap_or_default();
        let starts = !of.is_some_and(|snap| snap.services_disabled);
        let service = Service { enabled: starts, active: starts && !revision.crashes, restarts: 0 };
        Snap {
            name: name.to_owned(),
            revision: number.to_string(),
            version: revision.version.clone(),
            tracking: None,
            channel: None,
            cohort_key: None,
            confinement: revision.confinement,
            disabled: false,
            held: None,
            older: Vec::new(),
            services: services.into_iter().map(|name| (name, service.clone())).collect(),
            plugs: of.map(|snap| snap.plugs.clone()).unwrap_or_default(),
            log_slots: of.map(|snap| snap.log_slots.clone()).unwrap_or_default(),
            running: Vec::new(),
            size: revision.size,
            refreshed: self.clock,
            publisher: of.map(|snap| snap.publisher.clone()),
            id: of.map(|snap| snap.id.clone()),
            kind: "app".to_owned(),
        }
    }

    /// Puts a snap on a machine, or changes what is given of one that is there.
    pub fn set_up_snap(&mut self, machine: &str, spec: &SnapSpec) -> Result<(), String> {
        if !super::is_snap_name(&spec.name) {
            return Err(format!("no name of a snap: {}", spec.name));
        }
        let known = self.installed(machine, &spec.name).cloned();
        let mut snap = match known {
            Some(known) if spec.revision.is_none() && spec.channel.is_none() && !spec.sideloaded => known,
            _ if spec.sideloaded => self.local_build(spec)?,
            _ => self.store_snap(machine, spec)?,
        };
        if let Some(confinement) = spec.confinement {
            snap.confinement = confinement;
        }
        snap.version = spec.version.clone().unwrap_or(snap.version);
        snap.cohort_key = spec.cohort.clone().or(snap.cohort_key);
        snap.disabled = spec.disabled.unwrap_or(snap.disabled);
        snap.kind = spec.kind.clone().unwrap_or(snap.kind);
        snap.running = spec.running.clone().unwrap_or(snap.running);
        if let Some(held) = spec.held {
            snap.held = held.then_some(Hold::Forever);
        }
        if let Some(services) = &spec.services {
            let service = Service { enabled: true, active: true, restarts: 0 };
            snap.services = services.iter().map(|name| (name.clone(), service.clone())).collect();
        }
        if let Some(inactive) = &spec.inactive {
            if let Some(unknown) = inactive.iter().find(|name| !snap.services.contains_key(*name)) {
                return Err(format!("{} has no service {unknown}", spec.name));
            }
            for (name, service) in &mut snap.services {
                service.active = !inactive.contains(name);
            }
        }
        if let Some(older) = &spec.older {
            let of = self.store.snaps.get(&spec.name);
            let version = |number: &u32| {
                let found = of.and_then(|snap| snap.revisions.get(number));
                found.map_or(number.to_string(), |revision| revision.version.clone())
            };
            snap.older = older
                .iter()
                .map(|number| OnDisk { revision: number.to_string(), version: version(number) })
                .collect();
        }
        let of = self.machines.get_mut(machine).ok_or_else(|| format!("no machine {machine}"))?;
        of.snapd.snaps.insert(spec.name.clone(), snap);
        Ok(())
    }

    fn local_build(&self, spec: &SnapSpec) -> Result<Snap, String> {
        let revision = match &spec.revision {
            None => "x1".to_owned(),
            Some(Value::String(text)) if text.starts_with('x') => text.clone(),
            Some(other) => return Err(format!("a local build has a revision such as x1, not {other}")),
        };
        let files = Revision {
            version: "0.1".to_owned(),
            arch: String::new(),
            confinement: Confinement::Strict,
            size: 12_000_000,
            crashes: false,
            fails: None,
        };
        let snap = self.new_snap(&spec.name, 0, &files);
        Ok(Snap { revision, id: None, publisher: None, ..snap })
    }

    fn store_snap(&self, machine: &str, spec: &SnapSpec) -> Result<Snap, String> {
        let name = &spec.name;
        let of = self.machines.get(machine).ok_or_else(|| format!("no machine {machine}"))?;
        let channel = Channel::parse(spec.channel.as_deref().unwrap_or("latest/stable"))?;
        let offer = match &spec.revision {
            None => self.store.offer(Question {
                snap: name,
                channel: &channel,
                cohort: spec.cohort.as_deref(),
                machine,
                arch: &of.arch,
                proxy: of.snapd.proxy(),
            }),
            Some(Value::Number(number)) => {
                let number = number.as_u64().and_then(|n| u32::try_from(n).ok());
                let number = number.ok_or_else(|| format!("no revision: {:?}", spec.revision))?;
                self.store.numbered(name, number, &of.arch)
            }
            Some(other) => return Err(format!("{other} is no revision of the store")),
        };
        let offer = offer
            .map_err(|why| format!("{name} cannot be put on machine {machine} ({}): {why:?}", of.arch))?;
        let snap = self.new_snap(name, offer.number, &offer.revision);
        let source = offer.channel.unwrap_or_else(|| channel.clone());
        Ok(Snap { tracking: Some(channel), channel: Some(source), ..snap })
    }

    /// The machine has another architecture, as if it had been made with it: snaps of the store are of it too.
    pub fn set_arch(&mut self, machine: &str, arch: &str) -> Result<(), String> {
        let of = self.machines.get_mut(machine).ok_or_else(|| format!("no machine {machine}"))?;
        if of.arch == arch {
            return Ok(());
        }
        of.arch = arch.to_owned();
        let snaps: Vec<Snap> = of.snapd.snaps.values().filter(|s| !s.sideloaded()).cloned().collect();
        for snap in snaps {
            let channel = snap.tracking.as_ref().map(Channel::to_string);
            let spec = SnapSpec { name: snap.name, channel, cohort: snap.cohort_key, ..SnapSpec::default() };
            self.set_up_snap(machine, &spec)?;
        }
        Ok(())
    }
}

/// Milliseconds of a duration as Go writes it: `72h`, `1h30m`, `90s`.
pub fn parse_duration(text: &str) -> Result<u64, String> {
    let invalid = || format!("time: invalid duration \"{text}\"");
    let mut rest = text;
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(invalid());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let letters = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let millis = match unit {
            "h" => 3_600_000.0,
            "m" => 60_000.0,
            "s" => 1000.0,
            "ms" => 1.0,
            "" => return Err(format!("time: missing unit in duration \"{text}\"")),
            other => return Err(format!("time: unknown unit \"{other}\" in duration \"{text}\"")),
        };
        total += number * millis;
        rest = tail;
    }
    Ok(total as u64)
}
