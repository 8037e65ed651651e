//! Where snaps are to go: what the store says for their channel and cohort, and the change that brings them there.

use super::{Change, Effect, Move, NewChange, Place, Snap, Snapd, Starter, Target};
use crate::store::{Channel, Offer, Question, Refusal, Request, StoreError};
use crate::world::{Time, World};

/// Where one snap is to go.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) change: Move,
    pub(super) target: Target,
    pub(super) offer: Offer,
    /// How the change ends, if not well.
    pub(super) fails: Option<String>,
    /// Of downloading, where it is slow.
    pub(super) extra: u64,
}

/// What a refresh is told.
#[derive(Debug, Clone, Default)]
pub(super) struct Wish {
    pub(super) channel: Option<String>,
    pub(super) cohort: Option<String>,
    pub(super) leave: bool,
    pub(super) revision: Option<u32>,
}

/// Why there is no plan.
#[derive(Debug, Clone)]
pub(super) enum NoPlan {
    /// All is as wished.
    NoUpdate,
    /// `invalid risk in channel name: ...`
    BadChannel(String),
    /// The store refuses.
    Refused(Refusal, Channel),
}

impl World {
    pub(super) fn snapd(&self, machine: &str) -> Option<&Snapd> {
        self.machines.get(machine).map(|m| &m.snapd)
    }

    pub(super) fn installed(&self, machine: &str, name: &str) -> Option<&Snap> {
        self.snapd(machine)?.snaps.get(name)
    }

    /// Where a snap would go. The store is not asked about trouble: the caller has done so.
    pub(super) fn plan_only(&self, machine: &str, snap: &Snap, wish: &Wish) -> Result<Plan, NoPlan> {
        let Some(of) = self.machines.get(machine) else { return Err(NoPlan::NoUpdate) };
        let tracking = match &wish.channel {
            Some(text) => Channel::resolve(text, snap.tracking.as_ref()).map_err(NoPlan::BadChannel)?,
            None => snap.tracking.clone().unwrap_or_default(),
        };
        let cohort_key = match (&wish.cohort, wish.leave) {
            (Some(key), _) => Some(key.clone()),
            (None, true) => None,
            (None, false) => snap.cohort_key.clone(),
        };
        let refused = |refusal| NoPlan::Refused(refusal, tracking.clone());
        let offer = match wish.revision {
            Some(number) => self.store.numbered(&snap.name, number, &of.arch),
            None => self.store.offer(Question {
                snap: &snap.name,
                channel: &tracking,
                cohort: cohort_key.as_deref(),
                machine,
                arch: &of.arch,
                proxy: of.snapd.proxy(),
            }),
        };
        let offer = offer.map_err(refused)?;
        let place =
            Place { revision: offer.number.to_string(), tracking: Some(tracking.clone()), cohort_key };
        if place == snap.place() {
            return Err(NoPlan::NoUpdate);
        }
        let adopts = snap.sideloaded().then(|| self.store.snaps.get(&snap.name)).flatten();
        let target = Target {
            name: snap.name.clone(),
            place: place.clone(),
            channel: offer.channel.clone().or(snap.channel.clone()),
            files: Some((offer.revision.version.clone(), offer.revision.confinement, offer.revision.size)),
            crashes: offer.revision.crashes,
            adopt: adopts.map(|of| (of.id.clone(), of.publisher.clone())),
        };
        let change = Move { snap: snap.name.clone(), from: Some(snap.place()), to: place };
        Ok(Plan { change, target, offer, fails: None, extra: 0 })
    }

    /// The same, with the download that it takes.
    pub(super) fn plan(&mut self, machine: &str, snap: &Snap, wish: &Wish) -> Result<Plan, NoPlan> {
        let mut plan = self.plan_only(machine, snap, wish)?;
        let on_disk = snap.older.iter().any(|older| older.revision == plan.change.to.revision);
        if plan.change.moves_revision() {
            (plan.extra, plan.fails) = self.fetch(machine, &snap.name, &plan.offer, on_disk);
        }
        Ok(plan)
    }

    /// The download of a revision: how much longer it takes, and how the change fails if it does.
    pub(super) fn fetch(
        &mut self,
        machine: &str,
        name: &str,
        offer: &Offer,
        on_disk: bool,
    ) -> (u64, Option<String>) {
        let Offer { number, channel, revision } = offer;
        let mut extra = 0;
        if !on_disk {
            let (slow, trouble) = self.store.trouble(Request::Download, machine, &[name.to_owned()]);
            self.store.forget_used_faults();
            extra = slow;
            let from = channel.as_ref().map_or(String::new(), |c| format!(" from channel \"{c}\""));
            let reason = match trouble {
                None => None,
                Some(StoreError::Text(text)) if text.is_empty() => {
                    let got = "b489bc5df177fc6f7b8f6d4ab016058fdb9388a492a1c258a1be67bbb6e06df5a3d515557d05896b11d14ad50017e319";
                    let wanted = "0".repeat(96);
                    Some(format!("sha3-384 mismatch for \"{name}\": got {got} but expected {wanted}"))
                }
                Some(error) => Some(error.text()),
            };
            if let Some(reason) = reason {
                let text = format!(
                    "cannot perform the following tasks:\n- Download snap \"{name}\" ({number}){from} ({reason})"
                );
                return (extra, Some(text));
            }
        }
        let fails =
            revision.fails.as_ref().map(|reason| format!("cannot perform the following tasks:\n- {reason}"));
        (extra, fails)
    }

    /// The change for plans that are carried out together.
    pub(super) fn refresh_change(&self, kind: &'static str, summary: String, plans: Vec<Plan>) -> NewChange {
        let one = |plan: &Plan| {
            let moves = plan.change.moves_revision();
            (if moves { self.snap_times.refresh } else { self.snap_times.metadata }) + plan.extra
        };
        NewChange {
            kind,
            summary,
            millis: plans.iter().map(one).sum(),
            fails: plans.iter().find_map(|plan| plan.fails.clone()),
            moves: plans.iter().map(|plan| plan.change.clone()).collect(),
            effects: plans.into_iter().map(|plan| Effect::Go(Box::new(plan.target))).collect(),
            snaps: Vec::new(),
        }
    }

    /// The change that forbids another one on a snap.
    pub(super) fn conflict(&self, machine: &str, name: &str) -> Option<&Change> {
        let mut running = self.snapd(machine)?.running();
        running.find(|change| change.snaps.iter().any(|snap| snap == name))
    }

    /// Snaps that may go without being named, with where they go; trouble of one alone is not told.
    pub(super) fn general_plans(&mut self, machine: &str, at: Time, held_too: bool) -> Vec<Plan> {
        let Some(snapd) = self.snapd(machine) else { return Vec::new() };
        let free = |snap: &&Snap| !snap.sideloaded() && !snap.disabled && (held_too || !snap.is_held(at));
        let snaps: Vec<Snap> = snapd.snaps.values().filter(free).cloned().collect();
        let mut plans = Vec::new();
        for snap in snaps {
            if self.conflict(machine, &snap.name).is_some() || !snap.running.is_empty() {
                continue;
            }
            if let Ok(plan) = self.plan(machine, &snap, &Wish::default())
                && plan.change.moves_revision()
            {
                plans.push(plan);
            }
        }
        plans
    }

    /// snapd looks for updates by itself.
    pub(super) fn auto_refresh(&mut self, machine: &str, at: Time) {
        let names: Vec<String> =
            self.snapd(machine).map(|s| s.snaps.keys().cloned().collect()).unwrap_or_default();
        let (_, trouble) = self.store.trouble(Request::Refresh, machine, &names);
        self.store.forget_used_faults();
        if trouble.is_some() {
            return;
        }
        let plans = self.general_plans(machine, at, false);
        if plans.is_empty() {
            return;
        }
        let names: Vec<String> = plans.iter().map(|plan| format!("\"{}\"", plan.change.snap)).collect();
        let word = if names.len() == 1 { "snap" } else { "snaps" };
        let summary = format!("Auto-refresh {word} {}", names.join(", "));
        let new = self.refresh_change("auto-refresh", summary, plans);
        self.begin_change_at(machine, &Starter::auto_refresh(), new, at);
    }
}
