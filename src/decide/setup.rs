//! The setup concern: options, the role that the container endpoints give this unit, and databags that
//! Juju refuses.

use super::options::Options;
use super::withheld;
use crate::juju::{Endpoint, Level, Status};
use crate::observed::Observed;

/// Statuses about the options and the role.
pub fn statuses(observed: &Observed, options: &Options) -> Vec<Status> {
    let mut statuses = options.faults.clone();
    statuses.extend(role(observed));
    statuses.extend(withheld::statuses(&observed.remembered.withheld));
    statuses
}

/// The role, or what is wrong with it.
fn role(observed: &Observed) -> Option<Status> {
    let principal = |endpoint| observed.at(endpoint).find_map(|(_, relation)| relation.units.first());
    Some(match (principal(Endpoint::ControlPlane), principal(Endpoint::Worker)) {
        (Some(unit), None) => Status::new(Level::Active, format!("control-plane beside {unit}")),
        (None, Some(unit)) => Status::new(Level::Active, format!("worker beside {unit}")),
        (None, None) => return None,
        // Which of them is meant, only the admin knows.
        (Some(control_plane), Some(worker)) => {
            let app = observed.context.application();
            let (control_plane, worker) = (control_plane.application(), worker.application());
            let line = format!(
                "two roles: juju remove-relation {worker} {app}:worker, or {control_plane} {app}:control-plane"
            );
            Status::new(Level::Blocked, line)
        }
    })
}
