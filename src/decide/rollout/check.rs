//! What an admin asks about an upgrade before it begins: `pre-upgrade-check`, on any unit, and
//! `override-checks`, on the leader.

use super::super::options::{RolloutOptions, WantedChannel};
use super::super::upgrade::{self, ALL, Facts, Outlook};
use super::actions::{Answer, unreadable};
use super::machine::Machine;
use super::view::View;
use super::wish::{self, Wanted};
use super::{heads, leader, own};
use crate::databag::Line;
use crate::databag::node::Role;
use crate::databag::skipped::Overridden;
use crate::databag::target::Wishes;
use crate::juju::{AppName, UnitName};
use crate::observed::Rollout;
use crate::plan::{Effect, Keys};
use crate::snap::{Channel, SnapName};
use std::collections::BTreeSet;

/// Makes every check now, for the channel that is named or for what the options ask for. Changes
/// nothing.
pub fn pre_upgrade_check(rollout: &Rollout, options: &RolloutOptions, channel: Option<&Channel>) -> Answer {
    let mut options = options.clone();
    if let Some(channel) = channel {
        options.channel = WantedChannel::Channel(channel.clone());
    }
    let view = match View::new(rollout, &options) {
        Ok(view) => view,
        Err((key, unread)) => return unreadable(rollout.unit.application(), key, unread),
    };
    let changes = match (channel, wish::look(&view)) {
        // What was asked for before may be asked for again.
        (Some(_), _) => wish::elsewhere(&view),
        (None, Wanted::Forward(changes) | Wanted::Back(changes)) => changes,
        (None, Wanted::Nothing | Wanted::There(_)) => Wishes::new(),
    };
    if changes.is_empty() {
        let unit = &rollout.unit;
        let hint = format!("juju run {unit} pre-upgrade-check channel=CHANNEL");
        return Answer::Refused(match channel {
            Some(channel) => {
                format!("the managed snaps follow {channel} already, or other entries of option snaps")
            }
            None => format!("no upgrade is asked for; to check for a channel: {hint}"),
        });
    }
    if rollout.goal.is_none() {
        return Answer::Need(Effect::ReadGoalState);
    }
    let names: Vec<SnapName> = changes.keys().cloned().collect();
    if !names.iter().all(|name| rollout.store.infos.contains_key(name)) {
        return Answer::Need(Effect::ReadInfo { names });
    }
    let mut memory = rollout.memory.clone();
    let machine = Machine::look(rollout, &options, &mut memory).ok();
    let mut own = own::node(rollout, machine.as_ref(), &mut memory);
    heads::report(&view, &mut own, true, &mut memory);
    let overridden = wish::overridden(&view, &changes).into_iter().map(str::to_owned).collect();
    let facts = wish::facts(&view, &own, changes);
    let checks = upgrade::run(&facts);
    let outlook = Outlook { overridden, ..outlook(&view, &facts) };
    Answer::Report(upgrade::report(&facts, &checks, &outlook))
}

/// What the upgrade would do.
fn outlook(view: &View<'_>, facts: &Facts<'_>) -> Outlook {
    let down = upgrade::minors(facts).is_some_and(|(from, to)| to < from);
    let first = if down { Role::Worker } else { Role::ControlPlane };
    let leader =
        if view.rollout.leader { Some(&view.rollout.unit) } else { view.rollout.app.leader.as_ref() };
    let moves = |unit: &&upgrade::Unit<'_>| {
        unit.node.is_none_or(|node| {
            node.snaps.iter().any(|(name, snap)| facts.changes.contains_key(name) && snap.exempt.is_none())
        })
    };
    let mut order: Vec<(UnitName, Role)> =
        facts.units.iter().filter(moves).map(|unit| (unit.unit.clone(), unit.role)).collect();
    order.sort_by_key(|(unit, role)| (*role != first, leader == Some(unit), unit.clone()));
    let mut principals: Vec<(Role, AppName)> = facts
        .units
        .iter()
        .filter_map(|unit| Some((unit.role, unit.node?.principal.as_ref()?.application().clone())))
        .collect();
    principals.sort();
    principals.dedup();
    let tracked: BTreeSet<&Channel> = facts
        .units
        .iter()
        .filter_map(|unit| unit.node)
        .flat_map(|node| &node.snaps)
        .filter(|(name, snap)| facts.changes.contains_key(*name) && snap.exempt.is_none())
        .filter_map(|(_, snap)| snap.channel.as_ref())
        .collect();
    let mut tracked = tracked.into_iter();
    let present = match (tracked.next(), tracked.next()) {
        (Some(one), None) => Some(one.to_string()),
        (Some(_) | None, _) => None,
    };
    Outlook {
        order,
        pause: view.options.pause,
        parallelism: view.options.worker_parallelism,
        overridden: BTreeSet::new(),
        principals: principals.into_iter().map(|(_, app)| app).collect(),
        channel: match &view.options.channel {
            WantedChannel::Channel(channel) => Some(channel.to_string()),
            WantedChannel::Tracked | WantedChannel::Charm => None,
        },
        present,
    }
}

/// Overrides checks for the upgrade that is wanted and has no target yet.
pub fn override_checks(view: &View<'_>, checks: &str) -> Result<(Keys, String), String> {
    let app = view.rollout.unit.application();
    let named: BTreeSet<&str> = checks.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let known = || upgrade::names().chain([ALL]);
    let unknown = named.iter().find(|name| !known().any(|known| known == **name));
    if let Some(name) = unknown {
        let name: String = name.chars().take(40).collect();
        return Err(format!("{name:?} is no check; known: {}", known().collect::<Vec<_>>().join(", ")));
    }
    if named.is_empty() {
        return Err(format!("no check is named; known: {}", known().collect::<Vec<_>>().join(", ")));
    }
    let Wanted::Forward(changes) = wish::look(view) else {
        return Err(format!(
            "no upgrade waits for checks; to ask for one: juju config {app} channel=CHANNEL"
        ));
    };
    let to: BTreeSet<String> = changes.values().map(|wish| wish.channel.to_string()).collect();
    let before = wish::overridden(view, &changes);
    let checks: BTreeSet<Line> = before.into_iter().chain(named).map(Line::from).collect();
    let told: Vec<&str> = checks.iter().map(Line::as_str).collect();
    let line = format!(
        "upgrade to {}: checks overridden: {}; units still move one by one",
        to.into_iter().collect::<Vec<_>>().join(" and "),
        told.join(",")
    );
    let mut skipped = view.skipped.clone();
    skipped.overridden = Some(Overridden::new(checks, changes));
    Ok((leader::changes(view, view.target, view.granted, &skipped, view.history), line))
}
