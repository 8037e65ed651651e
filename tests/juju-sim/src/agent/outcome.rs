//! What an agent notes after a hook, and what Juju itself says about it in statuses.

use crate::world::{ConfigSeen, HookInfo, HookKind, Level, Pending, World};

const FIRST_RETRY: u64 = 5_000;
const LAST_RETRY: u64 = 300_000;

impl World {
    /// What config-changed is compared with.
    pub fn config_seen(&self, unit: &str) -> Option<ConfigSeen> {
        let unit = self.units.get(unit)?;
        let application = self.applications.get(&unit.application)?;
        let machine = self.machines.get(&unit.machine)?;
        Some(ConfigSeen {
            config: application.config(),
            trust: application.trust,
            address: machine.address.clone(),
        })
    }

    /// Statuses that Juju writes before a hook.
    pub fn before_hook(&mut self, name: &str, hook: &HookInfo) {
        let now = self.clock;
        let Some(unit) = self.units.get_mut(name) else { return };
        match hook.kind {
            HookKind::Install if !unit.uniter.status_set => {
                unit.set_workload("maintenance", "installing charm software", now);
            }
            HookKind::Stop => unit.set_workload("maintenance", "stopping charm software", now),
            HookKind::Remove => unit.set_workload("maintenance", "cleaning up prior to charm deletion", now),
            HookKind::Install
            | HookKind::Start
            | HookKind::ConfigChanged
            | HookKind::UpgradeCharm
            | HookKind::UpdateStatus
            | HookKind::LeaderElected
            | HookKind::LeaderSettingsChanged
            | HookKind::RelationCreated
            | HookKind::RelationJoined
            | HookKind::RelationChanged
            | HookKind::RelationDeparted
            | HookKind::RelationBroken => {}
        }
        if hook.kind == HookKind::LeaderElected {
            unit.uniter.leader = true;
        }
        if hook.kind != HookKind::UpdateStatus {
            let about = hook.remote_unit.as_ref().map_or(String::new(), |remote| format!(" for {remote}"));
            unit.set_agent("executing", &format!("running {} hook{about}", hook.name()), now);
        }
    }

    /// The hook is done: it succeeded, was missing, or was skipped by an admin.
    pub fn hook_done(&mut self, name: &str, hook: &HookInfo) {
        let now = self.clock;
        let seen = self.config_seen(name);
        let settings = self.applications.get(World::app_of(name)).map(|a| a.leader_settings.version);
        let interval = self.update_status_interval;
        let tick = now.plus(self.jitter(interval));
        let Some(unit) = self.units.get_mut(name) else { return };
        let agent = &mut unit.uniter;
        agent.pending = Pending::None;
        // Any hook cancels a tick that is due.
        agent.update_status_due = false;
        agent.next_update_status = tick;
        match hook.kind {
            HookKind::Install => agent.installed = true,
            HookKind::ConfigChanged => {
                agent.config = seen;
                if !agent.started {
                    agent.pending = Pending::Queued(HookInfo::plain(HookKind::Start));
                }
            }
            HookKind::Start => {
                agent.started = true;
                agent.reboot_start = false;
                if !agent.status_set {
                    unit.set_workload("unknown", "", now);
                }
            }
            HookKind::UpgradeCharm => {
                agent.pending = Pending::Queued(HookInfo::plain(HookKind::ConfigChanged))
            }
            HookKind::LeaderElected => agent.leader_settings = settings,
            HookKind::LeaderSettingsChanged => agent.leader_settings = Some(hook.version),
            HookKind::Stop => {
                agent.stopped = true;
                unit.set_workload("maintenance", "", now);
            }
            HookKind::Remove => {
                agent.removed = true;
                unit.set_workload("terminated", "", now);
            }
            HookKind::UpdateStatus => {}
            HookKind::RelationCreated
            | HookKind::RelationJoined
            | HookKind::RelationChanged
            | HookKind::RelationDeparted
            | HookKind::RelationBroken => self.relation_hook_done(name, hook),
        }
        if hook.kind == HookKind::ConfigChanged {
            self.refresh_address_keys(name);
        }
        if let Some(unit) = self.units.get_mut(name) {
            unit.set_agent("idle", "", now);
        }
    }

    fn relation_hook_done(&mut self, name: &str, hook: &HookInfo) {
        let Some(id) = hook.relation else { return };
        let Some(agent) = self.units.get_mut(name).map(|u| &mut u.uniter) else { return };
        let Some(state) = agent.relations.get_mut(&id) else { return };
        match (hook.kind, &hook.remote_unit) {
            (HookKind::RelationCreated, _) => state.created = true,
            (HookKind::RelationJoined, Some(remote)) => {
                state.members.insert(remote.clone(), hook.version);
                state.changed_pending = Some(remote.clone());
            }
            (HookKind::RelationChanged, Some(remote)) => {
                state.members.insert(remote.clone(), hook.version);
                state.changed_pending = None;
            }
            (HookKind::RelationChanged, None) => {
                if let Some(app) = &hook.remote_app {
                    state.apps.insert(app.clone(), hook.version);
                }
            }
            (HookKind::RelationDeparted, Some(remote)) => {
                state.members.remove(remote);
                if state.changed_pending.as_ref() == Some(remote) {
                    state.changed_pending = None;
                }
            }
            (HookKind::RelationBroken, _) => {
                agent.relations.remove(&id);
                agent.cache.remove(&id);
                self.leave_scope(id, name);
            }
            (_, _) => {}
        }
    }

    /// The hook failed: the unit is in error until it is retried or skipped.
    pub fn hook_failed(&mut self, name: &str, hook: &HookInfo, why: &str) {
        let now = self.clock;
        if let Some(unit) = self.units.get_mut(name) {
            let (delay, attempts) = match &unit.uniter.pending {
                Pending::Failed { delay, attempts, .. } => ((delay * 2).min(LAST_RETRY), attempts + 1),
                Pending::None | Pending::Queued(_) | Pending::Interrupted(_) => (FIRST_RETRY, 1),
            };
            let retry_at = now.plus(delay);
            unit.uniter.pending = Pending::Failed { hook: hook.clone(), retry_at, delay, attempts };
            unit.set_agent("error", &format!("hook failed: \"{}\"", hook.name()), now);
        }
        self.log(name, "uniter.operation", Level::Error, why);
    }

    /// The hook was killed: it runs again, without an error in between.
    pub fn hook_interrupted(&mut self, name: &str, hook: &HookInfo) {
        if let Some(unit) = self.units.get_mut(name) {
            unit.uniter.pending = Pending::Interrupted(hook.clone());
        }
    }
}
