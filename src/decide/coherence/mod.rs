//! Coherence: what every node runs, who differs and why. Observed, never remembered.
//!
//! How nodes come to run the same is the rollout's work (`decide/rollout`); its statuses and keys are
//! this concern's as long as the target is one of new revisions. This room tells where the cluster
//! stands, for `show-status`.

use super::options::RolloutOptions;
use crate::databag::node::{Exempt, Holder, Node, NodeSnap};
use crate::databag::progress::State;
use crate::juju::UnitName;
use crate::observed::Rollout;
use crate::snap::{Architecture, Channel, Revision, SnapName};
use std::collections::BTreeMap;

/// The units that run one revision of one snap on one architecture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The snap.
    pub snap: SnapName,
    /// The architecture: revisions of two are never compared.
    pub architecture: Architecture,
    /// The channel that they track; none for a local build.
    pub channel: Option<Channel>,
    /// The revision.
    pub revision: Revision,
    /// What its publisher calls it.
    pub version: String,
    /// The units, in order, each with what is to be said of it.
    pub units: Vec<(UnitName, Vec<Remark>)>,
}

/// What is to be said of a snap of one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remark {
    /// lockstep holds it.
    HeldByLockstep,
    /// Somebody else holds it.
    HeldByOthers,
    /// A local build.
    Sideloaded,
    /// Somebody moved it back, and it is left alone.
    MovedBack,
    /// It has not moved to the target yet.
    Waiting,
    /// It is at work.
    Moving,
    /// It has failed.
    Failed,
}

impl Remark {
    /// The remark in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HeldByLockstep => "held by lockstep",
            Self::HeldByOthers => "held by somebody else",
            Self::Sideloaded => "local build",
            Self::MovedBack => "moved back by somebody else",
            Self::Waiting => "waits for its turn",
            Self::Moving => "moves",
            Self::Failed => "failed",
        }
    }
}

/// Everything that is known of managed snaps, by snap, architecture, channel and revision.
pub fn overview(rollout: &Rollout, options: &RolloutOptions) -> Vec<Row> {
    let mut rows: BTreeMap<(&SnapName, Architecture, Option<&Channel>, Revision), Row> = BTreeMap::new();
    let target = rollout.app.target.as_ref().ok().and_then(Option::as_ref);
    for (unit, told) in std::iter::once((&rollout.unit, &rollout.own)).chain(&rollout.peers) {
        let Some(Ok(node)) = &told.node else { continue };
        let progress = told.progress.as_ref().and_then(|progress| progress.as_ref().ok());
        let state = progress
            .filter(|progress| target.is_some_and(|target| progress.target.as_ref() == Some(&target.id)))
            .map(|progress| progress.state);
        for (name, snap) in node.snaps.iter().filter(|(name, _)| options.snaps.contains_key(*name)) {
            let place = (name, node.architecture, snap.channel.as_ref(), snap.revision);
            let row = rows.entry(place).or_insert_with(|| row(name, node, snap));
            let spoken_of = target.is_some_and(|target| target.snaps.contains_key(name));
            row.units.push((unit.clone(), remarks(snap, state.filter(|_| spoken_of))));
        }
    }
    let mut rows: Vec<Row> = rows.into_values().collect();
    for row in &mut rows {
        row.units.sort();
    }
    rows
}

fn row(name: &SnapName, node: &Node, snap: &NodeSnap) -> Row {
    Row {
        snap: name.clone(),
        architecture: node.architecture,
        channel: snap.channel.clone(),
        revision: snap.revision,
        version: snap.version.as_ref().map_or("?", |version| version.as_str()).to_owned(),
        units: Vec::new(),
    }
}

fn remarks(snap: &NodeSnap, state: Option<State>) -> Vec<Remark> {
    let held = snap.held.map(|holder| match holder {
        Holder::Own => Remark::HeldByLockstep,
        Holder::Other => Remark::HeldByOthers,
    });
    let exempt = snap.exempt.and_then(|why| match why {
        Exempt::Sideloaded => Some(Remark::Sideloaded),
        Exempt::MovedBack => Some(Remark::MovedBack),
        Exempt::Held => None,
    });
    let state = state.filter(|_| snap.exempt.is_none()).and_then(|state| match state {
        State::Ready => Some(Remark::Waiting),
        State::Upgrading => Some(Remark::Moving),
        State::Failed => Some(Remark::Failed),
        State::Completed => None,
    });
    held.into_iter().chain(exempt).chain(state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databag::node::Role::{ControlPlane, Worker};
    use crate::decide::rollout::tests::fixture::{Case, name};

    #[test]
    fn revisions_are_told_by_architecture_with_who_has_them_and_why() {
        let mut case = Case::new(&[ControlPlane, ControlPlane, Worker]);
        case.report(1, State::Completed, 1);
        case.node(1).snaps.get_mut(&name("kubelet")).unwrap().revision = Revision::Store(101);
        case.node(1).snaps.get_mut(&name("kubelet")).unwrap().held = Some(Holder::Own);
        let snap = case.node(2).snaps.get_mut(&name("kubelet")).unwrap();
        (snap.exempt, snap.revision, snap.channel) = (Some(Exempt::Sideloaded), Revision::Local(1), None);
        let told: Vec<String> = overview(&case.rollout, &case.options)
            .iter()
            .map(|row| {
                let units = row.units.iter().map(|(unit, remarks)| {
                    let remarks: Vec<&str> = remarks.iter().map(|remark| remark.as_str()).collect();
                    format!("{unit} {}", remarks.join("+"))
                });
                let units: Vec<String> = units.collect();
                format!("{} {} {}: {}", row.snap, row.architecture, row.revision, units.join(", "))
            })
            .collect();
        assert_eq!(
            told,
            [
                "kubelet amd64 x1: lockstep/2 local build",
                "kubelet amd64 100: lockstep/0 waits for its turn",
                "kubelet amd64 101: lockstep/1 held by lockstep",
            ]
        );
    }
}
