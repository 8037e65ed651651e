//! The gate of an upgrade: checks in a fixed order, each with a name, a verdict and a reason.
//!
//! Pure, and without a part in the rollout: it is told what is known of the units and says what
//! speaks against a move. What cannot be known counts as failed, and so does a check that panics: an
//! admin overrides either by name. Facts of Kubernetes: the version skew policy of its documentation.

mod checks;
mod report;
mod skew;

pub use report::{Outlook, Report, report};
pub use skew::minors;

use crate::databag::node::{Node, Role};
use crate::databag::progress::State;
use crate::databag::target::{TargetHeads, Wishes};
use crate::juju::{AppName, UnitName};
use crate::snap::{Architecture, Channel, Constraint, Minor, SnapName};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Overrides every check.
pub const ALL: &str = "all";

/// A check: its name, and what it finds; none where there is nothing to check.
type Check = (&'static str, fn(&Facts<'_>) -> Option<Found>);

/// Every check, in the order in which they are made and told.
const CHECKS: [Check; 7] = [
    ("units-reported", checks::units_reported),
    ("charm-version", checks::charm_version),
    (CONTROL_PLANE_HEALTHY, checks::control_plane_healthy),
    ("version-skew", skew::version_skew),
    ("channel-exists", checks::channel_exists),
    ("snap-changes", checks::snap_changes),
    ("version-constraints", checks::version_constraints),
];

/// The check whose override lets an upgrade go on although the control plane is not known to be well.
pub const CONTROL_PLANE_HEALTHY: &str = "control-plane-healthy";

/// What is known where an upgrade is wanted.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The application.
    pub app: &'a AppName,
    /// The charm build of the unit that checks.
    pub build: &'a str,
    /// Principals beside which no unit has reported; or why that cannot be told.
    pub unreported: Result<Vec<UnitName>, String>,
    /// The members, without those that an admin has given up as dead.
    pub units: Vec<Unit<'a>>,
    /// Where snaps are wanted that are not there yet.
    pub changes: Wishes,
    /// From which versions each of them may come, where the charm says so.
    pub supported: BTreeMap<SnapName, Constraint>,
    /// The heads that are known, with the unit that told them.
    pub heads: TargetHeads,
    /// The channels that the store was asked for and does not have, by snap and architecture.
    pub absent: BTreeMap<SnapName, BTreeMap<Architecture, BTreeSet<Channel>>>,
    /// Who asks the store for an architecture.
    pub reporters: BTreeMap<Architecture, UnitName>,
    /// The snap of this machine that snapd is at work on; or why that cannot be told.
    pub busy: Result<Option<SnapName>, String>,
    /// The oldest and newest versions of applications that follow this one; none: not told.
    pub followers: Vec<(String, Option<(Minor, Minor)>)>,
}

/// One member.
#[derive(Debug, Clone, Copy)]
pub struct Unit<'a> {
    /// Its name.
    pub unit: &'a UnitName,
    /// The role that it counts with.
    pub role: Role,
    /// What it tells of its machine; none where it does not, or that cannot be read.
    pub node: Option<&'a Node>,
    /// How far it is; likewise.
    pub state: Option<State>,
}

/// How a check ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against the upgrade.
    Ok,
    /// Something does.
    Failed,
    /// It cannot be told, which holds the upgrade back as well.
    Unknown,
}

impl Verdict {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// How it ends.
    pub verdict: Verdict,
    /// Why, in few words: there is little room beside the command that overrides it.
    pub short: String,
    /// Why and what to do, in full.
    pub long: String,
    /// Whether it is over by itself, without an admin.
    pub passes: bool,
}

impl Found {
    fn new(verdict: Verdict, short: impl Into<String>, guidance: &str) -> Self {
        let short = short.into();
        let long = if guidance.is_empty() { short.clone() } else { format!("{short}; {guidance}") };
        Self { verdict, short, long, passes: false }
    }

    fn ok(long: impl Into<String>) -> Option<Self> {
        Some(Self::new(Verdict::Ok, long, ""))
    }

    fn failed(short: impl Into<String>, guidance: &str) -> Option<Self> {
        Some(Self::new(Verdict::Failed, short, guidance))
    }

    fn unknown(short: impl Into<String>, guidance: &str) -> Option<Self> {
        Some(Self::new(Verdict::Unknown, short, guidance))
    }

    /// This one is over by itself.
    fn passes(self) -> Self {
        Self { passes: true, ..self }
    }
}

/// A check that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Its name.
    pub name: &'static str,
    /// What it has found.
    pub found: Found,
}

impl Checked {
    /// Whether it holds the upgrade back, with these checks overridden.
    pub fn holds(&self, overridden: impl Fn(&str) -> bool) -> bool {
        self.found.verdict != Verdict::Ok && !overridden(self.name) && !overridden(ALL)
    }
}

/// The names of all checks, in their order.
pub fn names() -> impl Iterator<Item = &'static str> {
    CHECKS.iter().map(|(name, _)| *name)
}

/// Makes every check. A panic in one is its failure: it must not close the gate for good.
pub fn run(facts: &Facts<'_>) -> Vec<Checked> {
    made(&CHECKS, facts)
}

fn made(checks: &[Check], facts: &Facts<'_>) -> Vec<Checked> {
    let make = |(name, check): &Check| {
        let found = catch_unwind(AssertUnwindSafe(|| check(facts))).unwrap_or_else(|_| {
            Found::failed("fault in lockstep", "this check could not be made: please report it")
        });
        found.map(|found| Checked { name, found })
    };
    checks.iter().filter_map(make).collect()
}

/// The first of some units, and how many more there are.
fn first(units: &[&UnitName]) -> String {
    match units {
        [] => String::new(),
        [one] => one.to_string(),
        [one, more @ ..] => format!("{one} (+{})", more.len()),
    }
}

/// Whether the version skew policy of Kubernetes speaks of a snap.
fn is_kubernetes(name: &SnapName) -> bool {
    name.as_str().starts_with("kube") || matches!(name.as_str(), "k8s" | "k8s-worker")
}

#[cfg(test)]
mod tests;
