//! Where a target takes a machine, for people: from which version of which snap to which.

use super::machine::Machine;
use crate::databag::node::Role;
use crate::databag::target::{Goal, Target};
use crate::snap::{Architecture, KubernetesOrder, SnapName};
use std::fmt;

/// The first snap that moves, in the order of moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    name: SnapName,
    from: String,
    to: String,
    /// How many move after it.
    more: usize,
}

impl Way {
    /// What moves on a machine; none where all that changes is the key.
    pub fn of(
        machine: &Machine<'_>,
        target: &Target,
        role: Role,
        architecture: Architecture,
    ) -> Option<Self> {
        let mut snaps: Vec<_> = machine.snaps.iter().filter(|(_, snap)| snap.exempt.is_none()).collect();
        snaps.sort_by_key(|(name, _)| KubernetesOrder::of(name));
        let mut moving = snaps.into_iter().filter_map(|(name, snap)| {
            let installed = snap.installed;
            let goal = target.snaps.get(*name)?.goal(role, architecture);
            let tracked = super::machine::tracked(installed);
            let (revision, version, channel) = match goal {
                Goal::Revision { revision, channel } => (Some(revision), None, channel),
                Goal::Cohort { channel, .. } => {
                    let heads = target.heads.get(*name).and_then(|heads| heads.get(&architecture));
                    let head = heads.and_then(|heads| heads.get(channel.or(tracked.as_ref())?));
                    (head.map(|head| head.revision), head.map(|head| head.version.as_str()), channel)
                }
                Goal::Unsaid => return None,
            };
            let elsewhere = channel.is_some_and(|channel| tracked.as_ref() != Some(channel));
            let to = match (revision, version) {
                (Some(revision), _) if revision == installed.revision && !elsewhere => return None,
                (Some(revision), Some(version)) => format!("{version} ({revision})"),
                (Some(revision), None) => format!("revision {revision}"),
                (None, _) => channel.filter(|_| elsewhere)?.to_string(),
            };
            let from = match &installed.version {
                Some(version) => format!("{version} ({})", installed.revision),
                None => format!("revision {}", installed.revision),
            };
            Some((*name, from, to))
        });
        let (name, from, to) = moving.next()?;
        Some(Self { name: name.clone(), from, to, more: moving.count() })
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} to {}", self.name, self.from, self.to)?;
        match self.more {
            0 => Ok(()),
            more => write!(f, " (+{more} more)"),
        }
    }
}
