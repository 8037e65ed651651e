//! The setup concern: options, and the role that the container endpoints give this unit.

use super::concern::Outcome;
use super::options::{Options, SPECS};
use crate::juju::{Endpoint, Level, Status};
use crate::observed::Observed;

/// Statuses about the options and the role.
pub fn decide(observed: &Observed, options: &Options) -> Outcome {
    let mut statuses = options.faults.clone();
    statuses.extend(roles(observed));
    statuses.extend(not_built(observed, options));
    Outcome { statuses: Some(statuses), ..Outcome::default() }
}

/// Two roles at once: which of them is meant, only the admin knows.
fn roles(observed: &Observed) -> Option<Status> {
    let app = observed.context.application();
    let principal = |endpoint| {
        observed.at(endpoint).find_map(|(_, relation)| relation.units.first().map(|unit| unit.application()))
    };
    let (control_plane, worker) = (principal(Endpoint::ControlPlane)?, principal(Endpoint::Worker)?);
    let line = format!(
        "related as control-plane ({control_plane}) and as worker ({worker}): \
         juju remove-relation {app}:worker {worker}"
    );
    Some(Status::new(Level::Blocked, line))
}

/// Options and endpoints that are declared and whose concern is not part of this version.
fn not_built(observed: &Observed, options: &Options) -> Vec<Status> {
    let set = SPECS
        .iter()
        .filter(|spec| {
            !spec.built && options.good.get(spec.name).is_some_and(|value| *value != spec.default())
        })
        .map(|spec| format!("option {}", spec.name));
    let related = [Endpoint::Cohorts, Endpoint::FollowCohorts]
        .into_iter()
        .filter(|endpoint| observed.at(*endpoint).next().is_some())
        .map(|endpoint| format!("endpoint {endpoint}"));
    set.chain(related)
        .map(|what| Status::new(Level::Active, format!("{what} has no effect in this version")))
        .collect()
}
