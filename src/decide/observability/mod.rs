//! cos-agent forwarding: what each principal tells goes to peers, the leader gathers it and hands it on.
//!
//! Each unit copies what its own principals tell into its peer databag (`own`). The leader chooses,
//! per principal application and per kind, one unit's copy (`gather`), makes groups and templates of
//! it (`rules`, `dashboards`), keeps within the budget, and shows what came back as refused.
//! Everything is a function of the data: no order of units, keys or hooks changes a byte, and nothing
//! depends on which unit leads. Formats: [`crate::databag`].
//!
//! **Identity at the far sides.** prometheus-k8s and loki-k8s name a relation's rule file by the
//! topology labels of the first rule of the first group; two relations with one identity overwrite each
//! other there in silence. So a group of our own, labelled with our own topology, stands first in both
//! databags: an info series for Prometheus (always there), and for Loki, whose recording rules need a
//! remote write that may not exist, an alert that cannot fire (only beside other groups). Two
//! lockstep applications in two models, or of two names in one, never clash; the risk that remains is
//! another charm that forwards under our own application's name.

mod budget;
mod dashboards;
mod gather;
mod lines;
mod own;
mod refusals;
mod rules;
mod workshop;

use crate::databag::dashboard::Memo;
use crate::databag::record::{read_config, record_key, write_peer};
use crate::databag::{Fault, Values, grafana, loki, remote_write, rules::Query};
use crate::juju::{AppName, Endpoint, RelationId, Status};
use crate::observed::observability::Observability;
use lines::Lines;
use std::collections::{BTreeMap, BTreeSet};
use workshop::Workshop;

/// What forwarding wants to be true.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// Exactly the record keys ([`crate::databag::record::is_record_key`]) that the own peer unit
    /// databag shall hold; no other key there is this concern's.
    pub records: BTreeMap<String, String>,
    /// Of a leader: exactly the keys that each own application databag shall hold. A relation that is
    /// not listed is left as it is.
    pub outgoing: BTreeMap<RelationId, BTreeMap<String, String>>,
    /// Most important first; empty where nothing is related.
    pub statuses: Vec<Status>,
    /// Principal units whose data this unit forwards.
    pub observed_principals: usize,
    /// Applications that are held because this leader has not met every unit yet.
    pub strangers: BTreeSet<AppName>,
    /// What is known of the dashboards that were looked at, for the next pass.
    pub memo: Memo,
}

/// Decides what is forwarded.
pub fn decide(observed: &Observability) -> Outcome {
    let mut workshop = Workshop::new(&observed.values, &observed.memo);
    let mut lines = Lines::default();
    let own = own::decide(observed, &mut workshop, &mut lines);
    let (mut outgoing, mut strangers) = (BTreeMap::new(), BTreeSet::new());
    if observed.leader {
        let gathered = gather::gather(observed, &own, &mut workshop, &mut lines);
        outgoing = hand_on(observed, &gathered, &mut workshop, &mut lines);
        strangers = gathered.strangers;
    }
    let records: BTreeMap<String, String> = own
        .records
        .values()
        .map(|record| {
            let text = write_peer(record, &observed.values);
            (record_key(&record.unit), text)
        })
        .collect();
    Outcome {
        observed_principals: records.len(),
        statuses: lines.statuses(observed, &own),
        records,
        outgoing,
        strangers,
        memo: workshop.into_memo(),
    }
}

/// The outgoing databags. All relations of one endpoint get the same.
fn hand_on(
    observed: &Observability,
    gathered: &gather::Gathered<'_>,
    workshop: &mut Workshop<'_>,
    lines: &mut Lines,
) -> BTreeMap<RelationId, BTreeMap<String, String>> {
    let mut by_endpoint: BTreeMap<Endpoint, Vec<_>> = BTreeMap::new();
    for outgoing in &observed.outgoing {
        let relations = by_endpoint.entry(outgoing.relation.endpoint).or_default();
        relations.push(outgoing);
    }
    let mut bags = BTreeMap::new();
    for (endpoint, mut relations) in by_endpoint {
        relations.sort_by_key(|outgoing| outgoing.relation);
        for outgoing in &relations {
            refusals::name(observed, gathered, outgoing, lines);
        }
        // What is to stay of an application can only be found where our own databag is known.
        let known: Vec<_> = relations.iter().filter_map(|o| o.own.as_ref()).collect();
        if known.is_empty() && !gathered.held.is_empty() {
            continue;
        }
        let bag = match endpoint {
            Endpoint::SendRemoteWrite => {
                let groups = rules::groups(Query::Metrics, observed, gathered, &known, workshop);
                remote_write::app_bag(&budget::groups(groups, endpoint, observed, lines))
            }
            Endpoint::LoggingConsumer => {
                let groups = rules::groups(Query::Logs, observed, gathered, &known, workshop);
                let groups = budget::groups(groups, endpoint, observed, lines);
                loki::app_bag(&groups, &observed.topology)
            }
            Endpoint::GrafanaDashboards => {
                let templates = dashboards::templates(observed, gathered, &known, workshop, lines);
                grafana::app_bag(&budget::templates(templates, endpoint, observed, lines))
            }
            Endpoint::ControlPlane
            | Endpoint::Worker
            | Endpoint::CosAgent
            | Endpoint::Peers
            | Endpoint::ReceiveCaCert
            | Endpoint::Cohorts
            | Endpoint::FollowCohorts => continue,
        };
        for outgoing in relations {
            bags.insert(outgoing.relation, bag.clone());
        }
    }
    bags
}

/// All that is wrong with one `config` value, found in the same way as in a pass: `check-data`.
pub fn check_data(text: &str) -> Vec<Fault> {
    let mut values = Values::default();
    match read_config(text, &mut values) {
        Ok(content) => Workshop::new(&values, &Memo::default()).faults(&content),
        Err(fault) => vec![fault],
    }
}

#[cfg(test)]
mod tests;
