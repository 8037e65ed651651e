//! What publishers do: releases, and closing of channels.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Channel, Confinement, Phased, Publisher, Revision, Store, StoreSnap};
use crate::world::Time;

/// What `publish` is told.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Publish {
    /// Which snap; it is made if it is new.
    pub snap: String,
    /// Where; `1.30` is `1.30/stable`. None only uploads the revision.
    pub channel: Option<String>,
    /// Its number.
    pub revision: u32,
    /// Its version.
    pub version: Option<String>,
    /// `amd64` if it is left out.
    pub arch: Option<String>,
    /// Confinement; that of the revision before if it is left out.
    pub confinement: Option<Confinement>,
    /// In bytes.
    pub size: Option<u64>,
    /// Services of the snap, once and for all.
    pub services: Option<Vec<String>>,
    /// Plugs of the snap, once and for all.
    pub plugs: Option<Vec<String>>,
    /// Those that are connected as soon as it is installed.
    pub auto_connected: Option<Vec<String>>,
    /// Slots that show its log files, each with the directories, once and for all.
    pub log_slots: Option<BTreeMap<String, Vec<String>>>,
    /// Whether its services are stopped and disabled when it is installed.
    pub services_disabled: Option<bool>,
    /// Publisher, once and for all.
    pub publisher: Option<Publisher>,
    /// Its services do not stay up.
    pub crashes: bool,
    /// Installing it fails with this reason.
    pub fails: Option<String>,
    /// Offered only to the machines of these units (or ids of machines) at first.
    pub offered_to: Option<Vec<String>>,
}

impl Store {
    /// A release; without a channel only the revision becomes known.
    pub fn publish(&mut self, publish: &Publish, now: Time) -> Result<(), String> {
        let name = &publish.snap;
        if !crate::snapd::is_snap_name(name) {
            return Err(format!("no name of a snap: {name}"));
        }
        let snap = self.snaps.entry(name.clone()).or_insert_with(|| StoreSnap::new(name));
        let channel = publish.channel.as_deref().map(Channel::parse).transpose()?;
        let arch = publish.arch.clone().unwrap_or_else(|| "amd64".to_owned());
        snap.services = publish.services.clone().unwrap_or_else(|| snap.services.clone());
        snap.plugs = publish.plugs.clone().unwrap_or_else(|| snap.plugs.clone());
        snap.auto_connected = publish.auto_connected.clone().unwrap_or_else(|| snap.auto_connected.clone());
        snap.log_slots = publish.log_slots.clone().unwrap_or_else(|| snap.log_slots.clone());
        snap.services_disabled = publish.services_disabled.unwrap_or(snap.services_disabled);
        snap.publisher = publish.publisher.clone().unwrap_or_else(|| snap.publisher.clone());
        let last = snap.revisions.values().next_back();
        let confinement = publish.confinement.or(last.map(|r| r.confinement)).unwrap_or_default();
        if let Some(known) = snap.revisions.get(&publish.revision) {
            let other = publish.version.as_ref().is_some_and(|version| *version != known.version);
            if known.arch != arch || other {
                return Err(format!(
                    "revision {} of {name} is {} for {}",
                    publish.revision, known.version, known.arch
                ));
            }
        }
        let known = snap.revisions.entry(publish.revision).or_insert_with(|| Revision {
            version: publish.version.clone().unwrap_or_else(|| publish.revision.to_string()),
            arch: arch.clone(),
            confinement,
            size: publish.size.unwrap_or(30_000_000),
            crashes: false,
            fails: None,
        });
        known.crashes = publish.crashes;
        known.fails.clone_from(&publish.fails);
        let Some(channel) = channel else { return Ok(()) };
        if !snap.tracks.contains(&channel.track) {
            snap.tracks.push(channel.track.clone());
        }
        snap.released.entry(channel.clone()).or_default().insert(arch.clone(), now);
        match &publish.offered_to {
            Some(machines) => {
                let phased = Phased { revision: publish.revision, offered_to: machines.clone() };
                snap.phased.entry(channel).or_default().insert(arch, phased);
            }
            None => {
                if let Some(phased) = snap.phased.get_mut(&channel) {
                    phased.remove(&arch);
                }
                snap.heads.entry(channel).or_default().insert(arch, publish.revision);
            }
        }
        Ok(())
    }

    /// Closes a channel, for one architecture or for all.
    pub fn close(&mut self, name: &str, channel: &str, arch: Option<&str>) -> Result<(), String> {
        let snap = self.snaps.get_mut(name).ok_or_else(|| format!("no snap {name}"))?;
        let channel = Channel::parse(channel)?;
        let was = match (snap.heads.get_mut(&channel), arch) {
            (None, _) => false,
            (Some(by_arch), Some(arch)) => by_arch.remove(arch).is_some(),
            (Some(by_arch), None) => !std::mem::take(by_arch).is_empty(),
        };
        if was { Ok(()) } else { Err(format!("{channel} of {name} is not open")) }
    }
}
