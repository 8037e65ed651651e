//! Which hook a unit runs next: Juju's resolver chain (juju/juju worker/uniter/resolver.go), asked anew after every
//! operation.

use crate::world::{HookInfo, HookKind, Life, Pending, RelationState, Unit, World};

/// What a unit agent does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Runs a hook.
    Hook(HookInfo),
    /// Unpacks new charm files; `upgrade-charm` follows.
    Upgrade,
    /// Nothing is left to do for a dying unit.
    Finish,
    /// The commands of a scripted principal, as if in this hook.
    Commands(String),
    /// A timer of the machine that stands in the unit's place fires.
    Timer(String),
}

/// The silent part of an agent's work: what it notices without running a hook.
pub fn notice(world: &mut World, name: &str) {
    let Some(unit) = world.units.get(name) else { return };
    if unit.scripted || !world.agent_runs(name) {
        return;
    }
    if world.leader_of(&unit.application).is_none() && unit.life == Life::Alive {
        world.claim_lease(name);
    }
    let leads = world.is_leader(name);
    // After losing leadership an agent may, or may not, announce the leader settings.
    let announce =
        world.units.get(name).is_some_and(|u| u.uniter.leader && !leads) && world.rng.below(2) == 0;
    let Some(unit) = world.units.get_mut(name) else { return };
    if unit.uniter.leader && !leads {
        unit.uniter.leader = false;
        if announce {
            unit.uniter.leader_settings = None;
        }
    }
    let free = unit.uniter.installed && unit.uniter.pending == Pending::None;
    if free && unit.life == Life::Alive {
        world.enter_scopes(name);
    }
    leave_silently(world, name);
}

/// Relations without hooks of ours (`juju-info`), and those that died before `-relation-created`, are just left.
fn leave_silently(world: &mut World, name: &str) {
    let Some(unit) = world.units.get(name) else { return };
    let left: Vec<u32> = unit
        .uniter
        .relations
        .iter()
        .filter(|(id, state)| {
            let relation = world.relations.get(id);
            let going = unit.life == Life::Dying || relation.is_some_and(|r| r.life == Life::Dying);
            relation.is_some_and(|r| !r.is_peer()) && going && (state.implicit || !state.created)
        })
        .map(|(id, _)| *id)
        .collect();
    for id in left {
        if let Some(unit) = world.units.get_mut(name) {
            unit.uniter.relations.remove(&id);
        }
        world.leave_scope(id, name);
    }
}

/// The operations that the agent may do next; of several, Juju takes any.
pub fn candidates(world: &World, name: &str) -> Vec<Op> {
    let Some(unit) = world.units.get(name) else { return Vec::new() };
    let agent = &unit.uniter;
    if unit.scripted && world.agent_runs(name) {
        return unit.owed.first().map(|hook| Op::Commands(hook.clone())).into_iter().collect();
    }
    if unit.scripted || !world.agent_runs(name) {
        return Vec::new();
    }
    if agent.removed {
        return if world.subordinates_of(name).is_empty() { vec![Op::Finish] } else { Vec::new() };
    }
    if agent.reboot_start && agent.pending == Pending::None {
        return vec![Op::Hook(HookInfo::plain(HookKind::Start))];
    }
    if agent.pending == Pending::None && agent.installed && unit.life == Life::Alive {
        let created = uncreated(world, unit);
        if !created.is_empty() {
            return created;
        }
        if let Some(hook) = leadership(world, unit) {
            return vec![Op::Hook(hook)];
        }
    }
    match &agent.pending {
        Pending::Queued(hook) | Pending::Interrupted(hook) => vec![Op::Hook(hook.clone())],
        Pending::Failed { hook, retry_at, .. } => {
            if needs_files(world, unit)
                && world.applications.get(&unit.application).is_some_and(|a| a.force_units)
            {
                return vec![Op::Upgrade];
            }
            let due = world.retry_hooks && *retry_at <= world.clock;
            if due { vec![Op::Hook(hook.clone())] } else { Vec::new() }
        }
        Pending::None if unit.life == Life::Dying => dying(world, unit),
        Pending::None => idle(world, unit),
    }
}

fn uncreated(world: &World, unit: &Unit) -> Vec<Op> {
    let states = unit.uniter.relations.iter().filter(|(_, state)| !state.created && !state.implicit);
    states
        .filter(|(id, _)| world.relations.get(id).is_some_and(|r| r.life == Life::Alive))
        .map(|(id, state)| Op::Hook(of_relation(world, unit, *id, state, HookKind::RelationCreated)))
        .collect()
}

fn of_relation(world: &World, unit: &Unit, id: u32, state: &RelationState, kind: HookKind) -> HookInfo {
    let other = world.relations.get(&id).and_then(|r| r.other_end(&unit.application));
    let remote = other.map(|end| end.application.as_str()).filter(|_| state.remote_known);
    HookInfo::of_relation(kind, id, &state.endpoint, remote)
}

fn leadership(world: &World, unit: &Unit) -> Option<HookInfo> {
    if world.is_leader(&unit.name) {
        return (!unit.uniter.leader).then(|| HookInfo::plain(HookKind::LeaderElected));
    }
    let settings = world.applications.get(&unit.application)?.leader_settings.version;
    let news = unit.uniter.leader_settings != Some(settings) && !world.juju.at_least(4, 0, 0);
    news.then(|| HookInfo { version: settings, ..HookInfo::plain(HookKind::LeaderSettingsChanged) })
}

fn needs_files(world: &World, unit: &Unit) -> bool {
    world
        .applications
        .get(&unit.application)
        .is_some_and(|app| unit.uniter.charm != Some((app.charm.revision, app.charm_modified)))
}

fn idle(world: &World, unit: &Unit) -> Vec<Op> {
    let agent = &unit.uniter;
    if !agent.installed {
        return vec![Op::Hook(HookInfo::plain(HookKind::Install))];
    }
    if needs_files(world, unit) {
        return vec![Op::Upgrade];
    }
    if agent.config != world.config_seen(&unit.name) {
        return vec![Op::Hook(HookInfo::plain(HookKind::ConfigChanged))];
    }
    let hooks = relation_hooks(world, unit);
    if !hooks.is_empty() {
        return hooks;
    }
    if agent.update_status_due && agent.started {
        return vec![Op::Hook(HookInfo::plain(HookKind::UpdateStatus))];
    }
    Vec::new()
}

fn dying(world: &World, unit: &Unit) -> Vec<Op> {
    let hooks = relation_hooks(world, unit);
    if !hooks.is_empty() {
        return hooks;
    }
    if !unit.uniter.stopped {
        return vec![Op::Hook(HookInfo::plain(HookKind::Stop))];
    }
    vec![Op::Hook(HookInfo::plain(HookKind::Remove))]
}

/// Hooks of all relations, peer relations last.
fn relation_hooks(world: &World, unit: &Unit) -> Vec<Op> {
    let of = |peer: bool| -> Vec<Op> {
        unit.uniter
            .relations
            .iter()
            .filter(|(id, state)| {
                world.relations.get(id).is_some_and(|r| r.is_peer() == peer)
                    && state.created
                    && !state.implicit
            })
            .filter_map(|(id, state)| relation_hook(world, unit, *id, state))
            .map(Op::Hook)
            .collect()
    };
    let others = of(false);
    if others.is_empty() { of(true) } else { others }
}

/// The next hook within one relation (worker/uniter/relation/resolver.go, `nextHookForRelation`).
fn relation_hook(world: &World, unit: &Unit, id: u32, state: &RelationState) -> Option<HookInfo> {
    let relation = world.relations.get(&id)?;
    let hook = |kind| of_relation(world, unit, id, state, kind);
    let version = |name: &str| relation.units.get(name).map_or(0, |remote| remote.bag.version);
    if let Some(owed) = &state.changed_pending {
        return Some(HookInfo { version: version(owed), ..hook(HookKind::RelationChanged).unit(owed) });
    }
    let going = unit.life == Life::Dying || relation.life == Life::Dying;
    let there = if going { std::collections::BTreeMap::new() } else { world.counterparts(id, &unit.name) };
    if let Some(gone) = state.members.keys().find(|name| !there.contains_key(*name)) {
        let app_dying = world.applications.get(&unit.application).is_some_and(|a| a.life == Life::Dying);
        let departing = if unit.life == Life::Dying || app_dying { &unit.name } else { gone };
        let departing = Some(departing.clone());
        return Some(HookInfo { departing, ..hook(HookKind::RelationDeparted).unit(gone) });
    }
    if going {
        // An agent that was restarted has forgotten which relations are peers, and breaks those too.
        let breaks = !relation.is_peer() || !state.remote_known;
        return (breaks && !state.broken).then(|| hook(HookKind::RelationBroken));
    }
    if let Some(other) = relation.other_end(&unit.application) {
        let now = relation.apps.get(&other.application).map_or(0, |bag| bag.version);
        if now != state.apps.get(&other.application).copied().unwrap_or(0) {
            let remote_app = Some(other.application.clone());
            return Some(HookInfo { version: now, remote_app, ..hook(HookKind::RelationChanged) });
        }
    }
    if let Some((new, version)) = there.iter().find(|(name, _)| !state.members.contains_key(*name)) {
        return Some(HookInfo { version: *version, ..hook(HookKind::RelationJoined).unit(new) });
    }
    let (name, version) = there.iter().find(|(name, version)| state.members.get(*name) != Some(*version))?;
    Some(HookInfo { version: *version, ..hook(HookKind::RelationChanged).unit(name) })
}
