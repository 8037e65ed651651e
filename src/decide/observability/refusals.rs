//! What the far sides refuse, traced back to the principal application, group or dashboard.

use super::gather::Gathered;
use super::lines::{Lines, Rank};
use crate::databag::event::{Refusal, read_event};
use crate::databag::{grafana, remote_write};
use crate::juju::{AppName, Endpoint};
use crate::observed::observability::{Observability, Outgoing};

/// Names each refusal in one relation's `event`.
pub(super) fn name(
    observed: &Observability,
    gathered: &Gathered<'_>,
    outgoing: &Outgoing,
    lines: &mut Lines,
) {
    let Some(event) = &outgoing.event else { return };
    let what = match outgoing.relation.endpoint {
        Endpoint::GrafanaDashboards => "dashboards",
        Endpoint::SendRemoteWrite | Endpoint::LoggingConsumer => "rules",
        Endpoint::ControlPlane
        | Endpoint::Worker
        | Endpoint::CosAgent
        | Endpoint::Peers
        | Endpoint::ReceiveCaCert
        | Endpoint::Cohorts
        | Endpoint::FollowCohorts => return,
    };
    for refusal in read_event(event) {
        let concerned = gathered
            .applications()
            .into_iter()
            .find_map(|application| concerned(observed, application, &refusal))
            .unwrap_or_else(|| what.to_owned());
        let line = format!("{} refuses {concerned}: {}", outgoing.relation, refusal.text);
        lines.add(Rank::Refusal, line);
    }
}

/// `group disk_rules of ledger-db`, if that application is the one.
fn concerned(observed: &Observability, application: &AppName, refusal: &Refusal) -> Option<String> {
    if let Some(id) = &refusal.dashboard {
        let prefix = grafana::template_prefix(&observed.topology, application);
        let title = id.strip_prefix(&prefix)?;
        let title = title.rsplit_once(':').map_or(title, |(title, _uid)| title);
        return Some(format!("dashboard {title} of {application}"));
    }
    let prefix = remote_write::group_prefix(&observed.topology, application);
    let (_, rest) = refusal.text.split_once(&prefix)?;
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let group = rest.split(|c| !name(c)).next().unwrap_or(rest);
    Some(format!("group {group} of {application}"))
}
