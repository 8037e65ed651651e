//! What time alone does: changes end, snapd refreshes by itself, cohorts get new views.

use super::{AutoRefresh, Change, Effect, Hold, OnDisk, Presence, Service, Snap, Target};
use crate::world::{Time, World};

/// Something that ended or began by itself, for the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tended {
    /// When.
    pub time: Time,
    /// Where.
    pub machine: String,
    /// The change.
    pub change: Change,
}

enum Due {
    End(String, u32),
    Auto(String),
}

impl World {
    /// Carries out all that is due by now, in the order of its times.
    pub(crate) fn tend_machines(&mut self) -> Vec<Tended> {
        let now = self.clock;
        self.store.tend_cohorts(now);
        let mut told = Vec::new();
        while let Some((time, due)) = self.next_due().filter(|(time, _)| *time <= now) {
            match due {
                Due::End(machine, id) => told.extend(self.end_change(&machine, id, time)),
                Due::Auto(machine) => self.auto_refresh_at(&machine, time),
            }
        }
        told
    }

    /// When something happens next without anybody doing it, cohort windows aside.
    pub fn next_tend(&self) -> Option<Time> {
        self.next_due().map(|(time, _)| time)
    }

    fn next_due(&self) -> Option<(Time, Due)> {
        let up = self.machines.iter().filter(|(_, m)| m.up && m.snapd.presence == Presence::Up);
        up.flat_map(|(id, machine)| {
            let ends = machine.snapd.running().map(|c| (c.due, Due::End(id.clone(), c.id)));
            let auto = machine.snapd.auto_refresh.iter().map(|auto| (auto.next, Due::Auto(id.clone())));
            ends.chain(auto).collect::<Vec<_>>()
        })
        .min_by_key(|(time, _)| *time)
    }

    /// A machine, or snapd on it, is there again: what was cut off begins anew.
    pub(crate) fn resume_changes(&mut self, machine: &str) {
        let now = self.clock;
        let Some(snapd) = self.machines.get_mut(machine).map(|m| &mut m.snapd) else { return };
        for change in snapd.changes.iter_mut().filter(|change| change.ready.is_none()) {
            change.due = now.plus(change.due.0.saturating_sub(change.spawn.0)).max(change.due);
        }
        if let Some(auto) = &mut snapd.auto_refresh {
            auto.next = auto.next.max(now);
        }
    }

    fn end_change(&mut self, machine: &str, id: u32, time: Time) -> Option<Tended> {
        let snapd = self.machines.get_mut(machine).map(|m| &mut m.snapd)?;
        let change = snapd.changes.iter_mut().find(|change| change.id == id)?;
        change.ready = Some(time);
        change.error = change.fails.take();
        let effects = std::mem::take(&mut change.effects);
        let ended = change.clone();
        if ended.error.is_none() {
            let retain = snapd.config.get("refresh.retain").and_then(serde_json::Value::as_u64).unwrap_or(2);
            for effect in effects {
                match effect {
                    Effect::Go(target) => {
                        if let Some(snap) = snapd.snaps.get_mut(&target.name) {
                            go(snap, *target, time, retain as usize);
                        }
                    }
                    Effect::Install(snap) => {
                        let of = self.store.snaps.get(&snap.name);
                        for plug in of.map(|of| of.auto_connected.clone()).unwrap_or_default() {
                            snapd.connections.push(connected(&snap.name, &plug));
                        }
                        snapd.snaps.insert(snap.name.clone(), *snap);
                    }
                    Effect::Connect(plug, slot) => {
                        let one = (plug, slot);
                        if !snapd.connections.contains(&one) {
                            snapd.connections.push(one);
                        }
                    }
                    Effect::Disconnect(plug, slot) => {
                        snapd.connections.retain(|one| *one != (plug.clone(), slot.clone()));
                    }
                    Effect::Services(name, enabled, active) => {
                        let stays = self.store.stays_up(snapd.snaps.get(&name));
                        let services = snapd.snaps.get_mut(&name).map(|snap| &mut snap.services);
                        for service in services.into_iter().flat_map(|services| services.values_mut()) {
                            service.restarts += u32::from(active && service.active);
                            service.enabled = enabled.unwrap_or(service.enabled);
                            service.active = active && stays && service.enabled;
                        }
                    }
                    Effect::Remove(name) => {
                        snapd.snaps.remove(&name);
                        let of = |end: &String| end.split(':').next() == Some(name.as_str());
                        snapd.connections.retain(|(plug, slot)| !of(plug) && !of(slot));
                    }
                    Effect::Hold(name, hold) => {
                        if let Some(snap) = snapd.snaps.get_mut(&name) {
                            snap.held = hold;
                        }
                    }
                    Effect::Config(pairs) => {
                        for (name, value) in pairs {
                            snapd.config.insert(name, value);
                        }
                        snapd.config.retain(|_, value| !value.is_null());
                    }
                }
            }
        }
        Some(Tended { time, machine: machine.to_owned(), change: ended })
    }

    fn auto_refresh_at(&mut self, machine: &str, time: Time) {
        let Some(of) = self.machines.get_mut(machine) else { return };
        let every = match &mut of.snapd.auto_refresh {
            Some(AutoRefresh { every, next }) => {
                *next = time.plus((*every).max(1));
                *every
            }
            None => return,
        };
        if every == 0 {
            // A single one that a scenario asked for.
            of.snapd.auto_refresh = None;
        }
        if of.snapd.refresh_hold().is_some_and(|hold: Hold| hold.holds(time)) {
            return;
        }
        of.snapd.last_refresh = Some(time);
        self.auto_refresh(machine, time);
    }
}

/// A plug of a snap, connected to the slot of snapd's own that it is for.
fn connected(snap: &str, plug: &str) -> (String, String) {
    (format!("{snap}:{plug}"), format!(":{plug}"))
}

/// The end of a refresh.
fn go(snap: &mut Snap, target: Target, time: Time, retain: usize) {
    snap.tracking = target.place.tracking;
    snap.cohort_key = target.place.cohort_key;
    snap.channel = target.channel;
    if let Some((id, publisher)) = target.adopt {
        snap.id = Some(id);
        snap.publisher = Some(publisher);
    }
    if snap.revision == target.place.revision {
        return;
    }
    let old = OnDisk { revision: snap.revision.clone(), version: snap.version.clone() };
    snap.revision = target.place.revision;
    snap.older.retain(|older| older.revision != snap.revision);
    snap.older.push(old);
    let surplus = snap.older.len().saturating_sub(retain.max(2) - 1);
    snap.older.drain(..surplus);
    if let Some((version, confinement, size)) = target.files {
        snap.version = version;
        snap.confinement = confinement;
        snap.size = size;
    }
    snap.refreshed = time;
    for Service { active, restarts, enabled } in snap.services.values_mut() {
        if *enabled {
            *restarts += 1;
            *active = !target.crashes;
        }
    }
}
