//! snapd and the store, as far as a rollout can tell.

use super::{Snap, World, snap_name};
use crate::observed::rollout::{Snapd, Store};
use crate::plan::Effect;
use crate::snap::{
    Alteration, Answer, Change, ChangeId, Channel, CohortKey, Head, Heads, Info, Installed, Local, Notes,
    Place, Relocation, Revision, Service, SnapName, SnapdVersion, Tracking, Trouble, TroubleKind,
};
use std::collections::{BTreeMap, BTreeSet};

pub fn channel() -> Channel {
    "1.32/stable".parse().unwrap()
}

pub fn newer() -> Channel {
    "1.33/stable".parse().unwrap()
}

/// The revision in a channel that is called `base` in the older one.
pub fn in_channel(base: u32, channel: &Channel) -> u32 {
    if *channel == newer() { base + 1000 } else { base }
}

pub fn trouble(kind: TroubleKind) -> Trouble {
    Trouble { text: format!("{kind:?}"), kind, command: "snap".to_owned() }
}

impl World {
    pub fn snapd(&self, number: u32) -> Snapd {
        let unit = &self.units[&number];
        let installed = unit.snaps.iter().map(|(name, snap)| {
            let mut notes = vec![];
            notes.extend(snap.held.then_some("held"));
            notes.extend(snap.key.is_some().then_some("in-cohort"));
            let tracking = Some(Tracking { channel: snap.channel.clone(), on_branch: false });
            let installed = Installed {
                name: name.clone(),
                version: Some(if snap.revision < 1000 { "1.32.0" } else { "1.33.0" }.to_owned()),
                revision: Revision::Store(snap.revision),
                tracking,
                notes: Notes::parse(&notes.join(",")),
            };
            (name.clone(), installed)
        });
        let change =
            |id| Change { id: ChangeId(id), status: "Doing".into(), ready: false, summary: String::new() };
        let services = unit.snaps.keys().map(|name| {
            let service = Service {
                snap: name.clone(),
                app: "daemon".into(),
                enabled: true,
                active: !unit.ill,
                on_demand: false,
            };
            (name.clone(), vec![service])
        });
        Snapd {
            installed: Ok(installed.collect()),
            changes: Ok(unit.flight.iter().map(|(name, _)| (name.clone(), vec![change(1)])).collect()),
            services: Ok(services.collect()),
            version: SnapdVersion::parse("2.68"),
        }
    }

    pub fn infos(&self, number: u32, names: &[SnapName], store: &mut Store) {
        let unit = &self.units[&number];
        for name in names {
            let local = unit.snaps.get(name).map(|snap| Local {
                revision: Revision::Store(snap.revision),
                tracking: Some(snap.channel.clone()),
                cohort: snap.key.as_ref().map(CohortKey::digest),
                hold: None,
            });
            let head = self.store.heads.get(&(name.clone(), unit.architecture));
            let of = |channel: Channel| {
                let head = head.map(|head| Head {
                    revision: Revision::Store(in_channel(*head, &channel)),
                    version: format!("{}.{head}", channel.track()),
                });
                (channel, head)
            };
            let heads = self.store.up.then(|| Heads(BTreeMap::from([of(channel()), of(newer())])));
            let info = match (&heads, &local) {
                (None, None) => Err(trouble(TroubleKind::StoreUnreachable)),
                (Some(_), _) | (None, Some(_)) => Ok(Info { name: name.clone(), heads, local }),
            };
            store.infos.insert(name.clone(), info);
        }
        if !self.store.up {
            store.left = 0;
        }
    }

    pub fn create(&mut self, names: &BTreeSet<SnapName>, store: &mut Store) {
        let made = if self.store.up {
            let keys = names.iter().map(|name| (name.clone(), self.key(name))).collect();
            Ok(keys)
        } else {
            store.left = 0;
            Err(trouble(TroubleKind::StoreUnreachable))
        };
        store.created.push((names.clone(), made));
    }

    fn key(&mut self, name: &SnapName) -> CohortKey {
        let key: CohortKey = format!("{name}-{}", self.store.keys.len()).parse().unwrap();
        let heads = self.store.heads.iter().filter(|((of, _), _)| of == name);
        let frozen = heads.map(|((_, architecture), head)| (*architecture, *head)).collect();
        self.store.keys.insert(key.clone(), frozen);
        key
    }

    /// Carries a command out. None: the hook was killed meanwhile.
    pub fn alter(&mut self, number: u32, alteration: &Alteration) -> Option<Result<Answer, Trouble>> {
        match alteration {
            Alteration::Hold { names } | Alteration::Unhold { names } => {
                let held = matches!(alteration, Alteration::Hold { .. });
                let unit = self.units.get_mut(&number).unwrap();
                for name in names {
                    if let Some(snap) = unit.snaps.get_mut(name) {
                        snap.held = held;
                    }
                }
                Some(Ok(Answer::Done))
            }
            Alteration::LeaveCohort { name } => {
                self.units.get_mut(&number).unwrap().snaps.get_mut(name).unwrap().key = None;
                Some(Ok(Answer::Done))
            }
            Alteration::Install { to, .. } | Alteration::Move(to) => self.relocate(number, to),
        }
    }

    fn relocate(&mut self, number: u32, to: &Relocation) -> Option<Result<Answer, Trouble>> {
        let name = &to.name;
        let faults = self.faults;
        let unit = &self.units[&number];
        if unit.flight.is_some() {
            return Some(Err(trouble(TroubleKind::Busy)));
        }
        if !self.store.up {
            return Some(Err(trouble(TroubleKind::StoreUnreachable)));
        }
        let old = unit.snaps[name].clone();
        let channel = to.channel.clone().unwrap_or_else(|| old.channel.clone());
        let new = match &to.to {
            Place::Cohort(key) => Snap {
                revision: in_channel(self.store.keys[key][&unit.architecture], &channel),
                key: Some(key.clone()),
                channel,
                ..old.clone()
            },
            Place::Revision(Revision::Store(revision)) => {
                Snap { revision: *revision, channel, ..old.clone() }
            }
            Place::Revision(Revision::Local(_)) => panic!("nobody asks for a local build"),
        };
        if faults && self.rng.percent(4) {
            return Some(Err(trouble(TroubleKind::ChangeFailed)));
        }
        let orphan = faults && self.rng.percent(8);
        let killed = faults && self.rng.percent(5);
        let unit = self.units.get_mut(&number).unwrap();
        if orphan {
            unit.flight = Some((name.clone(), new));
            return (!killed).then(|| Err(trouble(TroubleKind::Unfinished)));
        }
        let answer = if old == new { Answer::NothingToDo } else { Answer::Done };
        unit.ill = false;
        unit.snaps.insert(name.clone(), new);
        (!killed).then_some(Ok(answer))
    }

    /// Lets an orphaned change end.
    pub fn land(&mut self, number: u32) {
        let unit = self.units.get_mut(&number).unwrap();
        if let Some((name, snap)) = unit.flight.take() {
            unit.snaps.insert(name, snap);
        }
    }

    /// Somebody moves a snap by hand, into a cohort of his own or out of any.
    pub fn meddle(&mut self, number: u32) {
        let key = self.rng.percent(50).then(|| self.key(&snap_name("kubelet")));
        let unit = self.units.get_mut(&number).unwrap();
        // What is done between a look and its report is found out by the next look.
        if unit.flight.is_none()
            && unit.hook.is_none()
            && let Some(snap) = unit.snaps.get_mut(&snap_name("kubelet"))
        {
            let head = self.store.heads[&(snap_name("kubelet"), unit.architecture)];
            snap.revision = in_channel(head, &snap.channel);
            snap.key = key;
        }
    }

    /// A new head of one snap, on all architectures or one.
    pub fn publish(&mut self) {
        let names: Vec<_> = self.store.heads.keys().cloned().collect();
        let which = names[self.rng.below(names.len())].clone();
        let all = self.rng.percent(60);
        for (of, head) in &mut self.store.heads {
            if *of == which || (all && of.0 == which.0) {
                *head += 1;
            }
        }
    }

    /// Carries an effect out and puts its outcome into what the hook has observed. False: killed.
    pub fn carry_out(&mut self, number: u32, effect: &Effect) -> bool {
        let mut hook = self.units.get_mut(&number).unwrap().hook.take().unwrap();
        let mut alive = true;
        match effect {
            Effect::ReadAppBag => {
                hook.rollout.leader = self.leader == Some(number);
                hook.rollout.app = self.snapshot(number);
            }
            Effect::ReadGoalState => hook.rollout.goal = Some(Ok(self.goal())),
            Effect::ReadInfo { names } => {
                self.infos(number, names, &mut hook.rollout.store);
                hook.rollout.app.fresh = false;
            }
            // No unit of these worlds has a kubeconfig.
            Effect::ReadKube { .. } => panic!("{number} asks for a cluster that it has no key to"),
            Effect::Collect(_) => panic!("no rollout of {number} collects"),
            Effect::CreateCohorts { names } => {
                self.create(names, &mut hook.rollout.store);
                hook.rollout.app.fresh = false;
            }
            Effect::Alter(alteration) => {
                self.judge_alteration(number, alteration);
                match self.alter(number, alteration) {
                    Some(outcome) => hook.rollout.done.push((alteration.clone(), outcome)),
                    None => alive = false,
                }
                if let Alteration::Move(to) = alteration {
                    hook.rollout.store.infos.remove(&to.name);
                }
                hook.rollout.snapd = self.snapd(number);
            }
        }
        self.units.get_mut(&number).unwrap().hook = Some(hook);
        alive
    }
}
