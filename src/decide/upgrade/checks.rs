//! Everything but versions: who has reported, who is well, what the store has, who is at work.

use super::{Facts, Found, Unit, first};
use crate::databag::node::{Check, Role};
use crate::databag::progress::State;
use crate::juju::UnitName;
use crate::snap::{Architecture, SnapName, Version};
use std::collections::BTreeSet;

/// Every principal of the model has a unit beside it, and every member has told what it runs.
pub fn units_reported(facts: &Facts<'_>) -> Option<Found> {
    let wait = "wait for it, see juju status";
    let unreported = match &facts.unreported {
        Err(why) => return Found::unknown("goal-state cannot be read", why),
        Ok(unreported) => unreported.iter().collect::<Vec<_>>(),
    };
    if !unreported.is_empty() {
        return Found::failed(format!("no unit beside {}", first(&unreported)), wait);
    }
    let silent = |unit: &&Unit<'_>| unit.node.is_none() || unit.state.is_none();
    let silent: Vec<&UnitName> = facts.units.iter().filter(silent).map(|unit| unit.unit).collect();
    if !silent.is_empty() {
        return Found::failed(format!("{} has told nothing", first(&silent)), wait);
    }
    Found::ok(format!("all {} units have reported", facts.units.len()))
}

/// All members run the charm of the unit that checks: another one may not know this target.
pub fn charm_version(facts: &Facts<'_>) -> Option<Found> {
    let other = |unit: &&Unit<'_>| unit.node.is_some_and(|node| node.build.as_str() != facts.build);
    let others: Vec<&Unit<'_>> = facts.units.iter().filter(other).collect();
    let names: Vec<&UnitName> = others.iter().map(|unit| unit.unit).collect();
    if names.is_empty() {
        return Found::ok(format!("all run {}", facts.build));
    }
    let builds = others.iter().filter_map(|unit| Some(format!("{} {}", unit.unit, unit.node?.build)));
    let builds: Vec<String> = builds.collect();
    let guidance = format!(
        "expected {}, found {}: their charm refresh is waited for, see juju status",
        facts.build,
        builds.join(", ")
    );
    Found::failed(format!("{} runs another charm", first(&names)), &guidance).map(Found::passes)
}

/// The control plane is known to be well: what its members tell of themselves and of the cluster.
pub fn control_plane_healthy(facts: &Facts<'_>) -> Option<Found> {
    let mut bad = Vec::new();
    let mut unknown = Vec::new();
    let mut seen = false;
    for unit in facts.units.iter().filter(|unit| unit.role == Role::ControlPlane) {
        let Some(node) = unit.node else {
            unknown.push(format!("{} has told nothing", unit.unit));
            continue;
        };
        let health = &node.health;
        let serves = node.snaps.keys().any(|name| matches!(name.as_str(), "kube-apiserver" | "k8s"));
        let cluster = node.cluster.as_ref();
        let parts = [
            (Some(&health.services), None),
            (Some(&health.api_server), serves.then_some("API server not seen")),
            (Some(&health.node), None),
            (cluster.map(|cluster| &cluster.nodes), None),
            (cluster.map(|cluster| &cluster.pods), None),
        ];
        seen |= cluster.is_some_and(|cluster| cluster.nodes != Check::None && cluster.pods != Check::None);
        for (part, absent) in parts {
            match (part, absent) {
                (Some(Check::Bad(why)), _) => bad.push(format!("{}: {why}", unit.unit)),
                (Some(Check::Unknown(why)), _) => unknown.push(format!("{}: {why}", unit.unit)),
                (Some(Check::None), Some(why)) => unknown.push(format!("{}: {why}", unit.unit)),
                (Some(Check::Ok | Check::None) | None, _) => {}
            }
        }
    }
    if let Some(found) = told(&bad, Found::failed, "mend it first") {
        return Some(found);
    }
    if !seen {
        unknown.push("nodes and pods not seen".to_owned());
    }
    let give =
        format!("give a kubeconfig: juju config {} kubeconfig=PATH, or override this check", facts.app);
    told(&unknown, Found::unknown, &give)
        .or_else(|| Found::ok("API servers ready, all nodes Ready, kube-system runs"))
}

/// The first of these in short, three of them in full.
fn told(
    offenders: &[String],
    found: impl Fn(String, &str) -> Option<Found>,
    guidance: &str,
) -> Option<Found> {
    let one = offenders.first()?;
    let shown: Vec<&str> = offenders.iter().take(3).map(String::as_str).collect();
    let more = offenders.len().saturating_sub(shown.len());
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    found(one.clone(), guidance)
        .map(|short| Found { long: format!("{}{tail}; {guidance}", shown.join(", ")), ..short })
}

/// The store has the wanted channel for every architecture that has the snap.
pub fn channel_exists(facts: &Facts<'_>) -> Option<Found> {
    let mut heads = BTreeSet::new();
    for (name, wish) in &facts.changes {
        let channel = &wish.channel;
        for architecture in architectures(facts, name) {
            if wish.revisions.contains_key(&architecture) {
                continue;
            }
            let head = facts.heads.get(name).and_then(|heads| heads.get(&architecture)?.get(channel));
            if let Some(head) = head {
                heads.insert(format!("{name} {} ({}) on {architecture}", head.version, head.revision));
                continue;
            }
            let absent = facts.absent.get(name).and_then(|absent| absent.get(&architecture));
            let absent = absent.is_some_and(|channels| channels.contains(channel));
            let who = facts.reporters.get(&architecture);
            let who = who.map_or_else(|| "nobody".to_owned(), ToString::to_string);
            if channel.branch().is_some() {
                let why = "the store does not list branches: override this check if it is there";
                return Found::unknown(format!("{channel} is a branch"), why);
            }
            if !absent {
                let why = format!("{who} asks the store for {architecture} and has not told of {name} yet");
                return Found::unknown(format!("{name} {channel} is looked up"), &why).map(Found::passes);
            }
            let why =
                format!("{who} finds none for {architecture}: is the channel right, see snap info {name}");
            return Found::failed(format!("no {name} {channel} on {architecture}"), &why);
        }
    }
    Found::ok(heads.into_iter().collect::<Vec<_>>().join(", "))
}

/// The architectures of members that have a snap which may be moved there.
fn architectures(facts: &Facts<'_>, name: &SnapName) -> BTreeSet<Architecture> {
    let nodes = facts.units.iter().filter_map(|unit| unit.node);
    let has = nodes.filter(|node| node.snaps.get(name).is_some_and(|snap| snap.exempt.is_none()));
    has.map(|node| node.architecture).collect()
}

/// Nobody is in the middle of a move.
pub fn snap_changes(facts: &Facts<'_>) -> Option<Found> {
    let moving = facts.units.iter().filter(|unit| unit.state == Some(State::Upgrading));
    let moving: Vec<&UnitName> = moving.map(|unit| unit.unit).collect();
    match (&facts.busy, moving.is_empty()) {
        (_, false) => {
            Found::failed(format!("{} moves", first(&moving)), "its end is waited for").map(Found::passes)
        }
        (Ok(Some(name)), true) => {
            let short = format!("{name}: snapd is at work");
            Found::failed(short, "its end is waited for").map(Found::passes)
        }
        (Err(why), true) => Found::unknown("changes of snapd not known", why),
        (Ok(None), true) => Found::ok("none is under way"),
    }
}

/// The versions that run now are those that the charm says an upgrade may come from.
pub fn version_constraints(facts: &Facts<'_>) -> Option<Found> {
    let of = |name: &&SnapName| facts.changes.contains_key(*name);
    let names: Vec<&SnapName> = facts.supported.keys().filter(of).collect();
    if names.is_empty() {
        return None;
    }
    for name in names {
        let Some(constraint) = facts.supported.get(name) else { continue };
        for unit in &facts.units {
            let Some(snap) = unit.node.and_then(|node| node.snaps.get(name)) else { continue };
            let text = snap.version.as_ref().map_or("?", |version| version.as_str());
            let who = format!("{} runs it; go to a version in between first, or back", unit.unit);
            match Version::parse(text) {
                None => return Found::unknown(format!("{name} {text} is no version"), &who),
                Some(version) if !constraint.allows(&version) => {
                    return Found::failed(format!("{name} {text} is not in {constraint}"), &who);
                }
                Some(_) => {}
            }
        }
    }
    Found::ok("all run a version that may be upgraded")
}
