//! Between applications: what followers get, and what is told back to the application followed.
//!
//! Followers get the keys of the last target that every control-plane member has completed, so that
//! none of them can run ahead.

use super::view::View;
use crate::databag::Line;
use crate::databag::cohorts::{CohortState, Keys as CohortKeys, Offer, Versions};
use crate::databag::node::Role;
use crate::databag::target::{SnapTarget, TargetId};
use crate::juju::RelationId;
use crate::plan::Keys;
use crate::snap::SnapName;
use std::collections::BTreeMap;

/// The application databags at `cohorts` and `follow-cohorts`, as a leader wants them.
pub fn outgoing(view: &View<'_>) -> BTreeMap<RelationId, Keys> {
    let mut bags = BTreeMap::new();
    if let Some(offer) = offer(view) {
        let keys: Keys = offer.write().into_iter().map(|(key, value)| (key, Some(value))).collect();
        bags.extend(view.rollout.followers.keys().map(|relation| (*relation, keys.clone())));
    }
    if let Some(source) = view.source() {
        let (key, value) = versions(view).write();
        bags.insert(source.relation, Keys::from([(key, Some(value))]));
    }
    bags
}

/// What followers may have; nothing before the first target has been completed.
fn offer(view: &View<'_>) -> Option<Offer> {
    let target = view.target?;
    let completed = view.is_completed(Some(Role::ControlPlane), target);
    let led = completed || view.history.of(&target.id).is_some_and(|past| past.control_plane);
    if led {
        return Some(of(&target.snaps, &target.id, completed));
    }
    target.led.as_ref().map(|led| of(&led.snaps, &led.id, false))
}

fn of(snaps: &BTreeMap<SnapName, SnapTarget>, id: &TargetId, completed: bool) -> Offer {
    let keys: CohortKeys =
        snaps.iter().filter_map(|(name, snap)| Some((name.clone(), snap.cohort.clone()?))).collect();
    Offer { keys, state: CohortState::new(id.clone(), completed) }
}

/// The oldest and the newest version of a Kubernetes snap on the members.
fn versions(view: &View<'_>) -> Versions {
    let mut found: Vec<(Vec<u64>, &Line)> = view
        .members
        .values()
        .filter_map(|member| member.node)
        .flat_map(|node| &node.snaps)
        .filter(|(name, _)| name.as_str().starts_with("kube"))
        .filter_map(|(_, snap)| {
            let version = snap.version.as_ref()?;
            Some((numbers(version.as_str())?, version))
        })
        .collect();
    found.sort();
    let line = |entry: Option<&(Vec<u64>, &Line)>| entry.map(|(_, version)| (*version).clone());
    let target = view.target.and_then(|target| target.follows.clone());
    Versions::new(target, line(found.first()), line(found.last()))
}

/// `1.32.1` as numbers; none for what is no version of Kubernetes.
fn numbers(version: &str) -> Option<Vec<u64>> {
    crate::snap::Minor::of_version(version)?;
    let digits = version.trim_start_matches('v').split(|c: char| !c.is_ascii_digit());
    Some(digits.map_while(|part| part.parse().ok()).collect())
}
