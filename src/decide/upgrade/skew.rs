//! Versions of Kubernetes: which minor may follow which, and who may differ from whom.
//!
//! The API servers move by one minor at most and none is skipped; a kubelet is never newer than any
//! API server, and three minors older at most (two before 1.25). A newer patch is never a fault.

use super::{Facts, Found, Unit, is_kubernetes};
use crate::databag::node::{Node, Role};
use crate::snap::{Channel, KubernetesOrder, Minor, SnapName, Version};

/// How old a kubelet may be, in minors.
fn span(kubelet: Minor) -> i32 {
    if (kubelet.major, kubelet.minor) < (1, 25) { 2 } else { 3 }
}

/// The minor versions that the upgrade leads from (the newest of the control plane, else of all) and
/// to, where they are known.
pub fn minors(facts: &Facts<'_>) -> Option<(Minor, Minor)> {
    let of = |role: Role| facts.units.iter().filter(move |unit| unit.role == role);
    let newest = |role| of(role).filter_map(|unit| minor(unit.node?)).max();
    let from = newest(Role::ControlPlane).or_else(|| newest(Role::Worker))?;
    let to = facts.changes.iter().filter(|(name, _)| is_kubernetes(name));
    let to = to.map(|(name, _)| wanted(facts, name)).collect::<Option<Vec<Minor>>>()?.into_iter().max()?;
    Some((from, to))
}

/// The snap that a machine's version is told by: the first in the order of moves.
fn main(node: &Node) -> Option<&SnapName> {
    let names = node.snaps.iter().filter(|(name, snap)| is_kubernetes(name) && snap.exempt.is_none());
    names.map(|(name, _)| name).min_by_key(|name| KubernetesOrder::of(name))
}

/// The minor version that a machine runs.
fn minor(node: &Node) -> Option<Minor> {
    Minor::of_version(node.snaps.get(main(node)?)?.version.as_ref()?.as_str())
}

/// The minor version that a snap is wanted at: by the channel's track, else by the channel's head.
fn wanted(facts: &Facts<'_>, name: &SnapName) -> Option<Minor> {
    let channel = &facts.changes.get(name)?.channel;
    Minor::of_channel(channel).or_else(|| {
        let heads = facts.heads.get(name)?.values().filter_map(|heads| heads.get(channel));
        heads.filter_map(|head| Minor::of_version(head.version.as_str())).max()
    })
}

/// The same channel one minor further on.
fn between(channel: &Channel, to: Minor, at: Minor) -> String {
    let track = channel.track().replacen(&to.to_string(), &at.to_string(), 1);
    channel.on_track(&track).map_or_else(|_| at.to_string(), |channel| channel.to_string())
}

/// The check.
pub fn version_skew(facts: &Facts<'_>) -> Option<Found> {
    let kubernetes: Vec<&SnapName> = facts.changes.keys().filter(|name| is_kubernetes(name)).collect();
    if kubernetes.is_empty() {
        return Found::ok("no snap of Kubernetes changes");
    }
    if let Some(name) = kubernetes.iter().find(|name| wanted(facts, name).is_none()) {
        let channel = facts.changes.get(*name).map(|wish| wish.channel.to_string()).unwrap_or_default();
        let why = format!("neither {channel} nor what is known of its head names a minor version");
        return Found::unknown(format!("{name}: which minor is {channel}?"), &why);
    }
    let control_plane: Vec<&Unit<'_>> =
        facts.units.iter().filter(|unit| unit.role == Role::ControlPlane).collect();
    let mut now = Vec::new();
    for unit in &control_plane {
        match unit.node.and_then(minor) {
            Some(minor) => now.push(minor),
            None => return Found::unknown(format!("{}: version not known", unit.unit), "see juju status"),
        }
    }
    let (Some(oldest), Some(newest)) = (now.iter().min().copied(), now.iter().max().copied()) else {
        return Found::unknown(
            "no control plane here",
            "its version is not known: override this check if it fits",
        );
    };
    let leading =
        control_plane.iter().filter_map(|unit| main(unit.node?)).min_by_key(|name| KubernetesOrder::of(name));
    // Where the API server is not told to move, it stays.
    let leading = leading.filter(|name| facts.changes.contains_key(*name));
    let to = leading.and_then(|name| wanted(facts, name)).unwrap_or(newest);
    step(facts, leading, oldest, newest, to)
        .or_else(|| components(facts, &kubernetes, to))
        .or_else(|| workers(facts, oldest, to))
        .or_else(|| followers(facts, oldest, to))
        .or_else(|| Found::ok(format!("{} to {to}{}", now_is(oldest, newest), patches(facts))))
}

fn now_is(oldest: Minor, newest: Minor) -> String {
    if oldest == newest { newest.to_string() } else { format!("{oldest} and {newest}") }
}

/// One minor up at most, none left out, and not down.
fn step(
    facts: &Facts<'_>,
    leading: Option<&SnapName>,
    oldest: Minor,
    newest: Minor,
    to: Minor,
) -> Option<Found> {
    if to < newest {
        let guidance = "Kubernetes promises nothing for the way down: data of the newer version may not be \
                        readable; workers would go first. The way back of an upgrade is the action rollback";
        return Found::failed(format!("{newest} to {to} goes down"), guidance);
    }
    if to.above(oldest).is_some_and(|steps| steps <= 1) {
        return None;
    }
    let next = Minor { major: oldest.major, minor: oldest.minor.saturating_add(1) };
    let channel = leading.and_then(|name| Some(&facts.changes.get(name)?.channel));
    let first = channel.map_or_else(|| next.to_string(), |channel| between(channel, to, next));
    let app = facts.app;
    let guidance = format!("no minor version may be skipped: juju config {app} channel={first}");
    Found::failed(format!("{oldest} to {to}: go to {first} first"), &guidance)
}

/// Beside the API server: nothing newer than it, and how much older each may be.
fn components(facts: &Facts<'_>, names: &[&SnapName], to: Minor) -> Option<Found> {
    for name in names {
        let Some(minor) = wanted(facts, name) else { continue };
        let older = match name.as_str() {
            "kubelet" | "kube-proxy" | "k8s-worker" => span(minor),
            _ => 1,
        };
        let newer = i32::from(name.as_str() == "kubectl");
        let above = to.above(minor);
        if above.is_none_or(|above| above < -newer || above > older) {
            let guidance =
                format!("beside API servers at {to} it may be {older} minors older at most, never newer");
            return Found::failed(format!("{name} {minor} beside {to}"), &guidance);
        }
    }
    None
}

/// No worker is newer than any API server now, or too old for what these become.
fn workers(facts: &Facts<'_>, oldest: Minor, to: Minor) -> Option<Found> {
    for unit in facts.units.iter().filter(|unit| unit.role == Role::Worker) {
        let Some(minor) = unit.node.and_then(minor) else {
            return Found::unknown(format!("{}: version not known", unit.unit), "see juju status");
        };
        let who = unit.unit;
        if minor.above(oldest).is_none_or(|above| above > 0) {
            let guidance = format!("a worker is never newer than an API server, the oldest is {oldest}");
            return Found::failed(format!("{who} runs {minor}, newer"), &guidance);
        }
        if to.above(minor).is_none_or(|above| above > span(minor)) {
            let guidance = format!("beside API servers at {to} it is too old: upgrade the workers first");
            return Found::failed(format!("{who} runs {minor}, too old"), &guidance);
        }
    }
    None
}

fn followers(facts: &Facts<'_>, oldest: Minor, to: Minor) -> Option<Found> {
    for (app, told) in &facts.followers {
        let Some((first, last)) = told else {
            return Found::unknown(
                format!("{app} tells no versions"),
                "its workers may be too old: see its juju status",
            );
        };
        if last.above(oldest).is_none_or(|above| above > 0)
            || to.above(*first).is_none_or(|above| above > span(*first))
        {
            let guidance =
                format!("API servers at {oldest} go to {to}: its workers must not be newer or too old");
            return Found::failed(format!("{app} runs {first} to {last}"), &guidance);
        }
    }
    None
}

/// That workers are ahead by a patch is no fault, and said so.
fn patches(facts: &Facts<'_>) -> &'static str {
    let version = |unit: &Unit<'_>| {
        let node = unit.node?;
        Version::parse(node.snaps.get(main(node)?)?.version.as_ref()?.as_str())
    };
    let of = |role: Role| facts.units.iter().filter(move |unit| unit.role == role).filter_map(version);
    let ahead =
        of(Role::Worker).any(|worker| of(Role::ControlPlane).all(|other| worker.is_newer_than(&other)));
    if ahead { "; workers run a newer patch, which is fine" } else { "" }
}
