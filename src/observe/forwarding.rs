//! What the observability concern looks at, out of the index.

use super::index::{Index, Records};
use super::reader::Reader;
use crate::databag::collected::{COLLECTED, Collected};
use crate::databag::dashboard::Memo;
use crate::databag::record::{Content, Record};
use crate::databag::{Digest, Fault, Topology, Values};
use crate::juju::{AppName, Context, Endpoint, JujuVersion, RelationId, Scope};
use crate::observed::Observability;
use crate::observed::observability::{ForwardOptions, Limits, Outgoing, Principal, Strangers};
use crate::tools::ToolError;
use std::collections::{BTreeMap, BTreeSet};

/// The own records of one unit on peers, in bytes.
const RECORDS: usize = 1 << 20;
/// From this version on a databag has a limit that is not known; half a mebibyte was never refused.
const LIMITED_FROM: JujuVersion = JujuVersion::new(4, 0, 12);
const LIMITED: usize = 512 << 10;
/// What the records leave of it to the addresses that Juju itself keeps beside them, and to other concerns.
const OTHERS: usize = 16 << 10;

/// The own application databags at the outgoing relations, as far as they were read.
pub type OwnBags = BTreeMap<RelationId, BTreeMap<String, String>>;

/// The parts of the index that the concern looks at.
pub fn gather(index: &Index, context: &Context, leader: bool, own: &OwnBags) -> Observability {
    let event = |id: &RelationId| {
        index.relations.get(id).and_then(|relation| relation.app_bag.as_ref()?.get("event").cloned())
    };
    let at = |endpoint| index.relations.iter().filter(move |(id, _)| id.endpoint == endpoint);
    let outgoing = [Endpoint::SendRemoteWrite, Endpoint::LoggingConsumer, Endpoint::GrafanaDashboards];
    Observability {
        unit: context.unit.clone(),
        topology: Topology {
            model: context.model.clone(),
            model_uuid: context.model_uuid.clone(),
            application: context.application().clone(),
            charm: "lockstep".to_owned(),
        },
        leader,
        peers_related: at(Endpoint::Peers).next().is_some(),
        principals: at(Endpoint::CosAgent)
            .flat_map(|(id, relation)| {
                relation.units.iter().map(|(unit, bag)| Principal {
                    relation: *id,
                    unit: unit.clone(),
                    config: bag.config.clone(),
                })
            })
            .collect(),
        own_records: index.own_records.clone().unwrap_or_default(),
        peer_records: at(Endpoint::Peers)
            .filter(|_| leader)
            .flat_map(|(_, relation)| &relation.units)
            .filter_map(|(unit, bag)| Some((unit.clone(), bag.records.clone()?)))
            .collect(),
        outgoing: outgoing
            .into_iter()
            .filter(|_| leader)
            .flat_map(at)
            .map(|(id, _)| Outgoing { relation: *id, event: event(id), own: own.get(id).cloned() })
            .collect(),
        collected: collected(index).filter(|_| leader).collect(),
        strangers: Strangers::default(),
        options: ForwardOptions::default(),
        limits: if context.juju_version >= LIMITED_FROM {
            Limits { records: LIMITED - OTHERS, outgoing_bag: LIMITED }
        } else {
            Limits { records: RECORDS, outgoing_bag: 8 << 20 }
        },
        values: Values::default(),
        memo: Memo::default(),
        rollout: None,
    }
}

/// The applications that units tell that they collect, this unit's own as committed.
fn collected(index: &Index) -> impl Iterator<Item = AppName> {
    let peers = index.relations.iter().filter(|(id, _)| id.endpoint == Endpoint::Peers);
    let others = peers.flat_map(|(_, relation)| relation.units.values().map(|bag| &bag.texts));
    let texts = others.chain(&index.own_texts).filter_map(|texts| texts.get(COLLECTED));
    // One that cannot be read tells nothing: then host health alerts stay where they are harmless.
    let told = texts.filter_map(|text| Collected::read(text).ok());
    told.flat_map(|told| told.principals).map(|unit| unit.application().clone())
}

/// Whether a record or an own principal's value cannot be read, so that what was sent before has to be
/// looked at: it may be all that is left of an application.
pub fn has_unreadable(part: &Observability) -> bool {
    let config = part.principals.iter().any(|principal| matches!(principal.config, Some(Err(_))));
    let mut records = part.peer_records.values().chain([&part.own_records]).flat_map(BTreeMap::values);
    config || records.any(Result::is_err)
}

/// Reads the own application databags at outgoing relations.
pub fn own_bags(reader: &Reader<'_>, part: &Observability) -> Result<OwnBags, ToolError> {
    let mut bags = OwnBags::new();
    for outgoing in &part.outgoing {
        if let Some(bag) = reader.own(outgoing.relation, Scope::App)? {
            bags.insert(outgoing.relation, bag);
        }
    }
    Ok(bags)
}

/// The digest of all that the concern looks at: the parts, the options and the charm build.
pub fn gate(part: &Observability, index: &Index, build: &str) -> Digest {
    let config = index.config.as_ref();
    let option = |name| config.and_then(|config| config.get(name));
    let options = ["forward-alert-rules", "forward-host-health", "extra-alert-labels"].map(option);
    Digest::of(&format!(
        "{build} {:?} {} {} {:?} {:?} {:?} {:?} {:?} {options:?} {:?}",
        part.topology,
        part.leader,
        part.peers_related,
        part.principals,
        part.own_records,
        part.peer_records,
        part.outgoing.iter().map(|outgoing| (outgoing.relation, &outgoing.event)).collect::<Vec<_>>(),
        part.collected,
        part.limits,
    ))
}

/// The large values that the index speaks of.
pub fn wanted(index: &Index) -> BTreeSet<Digest> {
    let mut wanted = BTreeSet::new();
    let mut content = |content: &Content| {
        wanted.extend([content.metric_rules, content.log_rules]);
        wanted.extend(&content.dashboards);
    };
    let mut records = |records: &Records| {
        records
            .values()
            .filter_map(|record: &Result<Record, Fault>| record.as_ref().ok())
            .for_each(|r| content(&r.content));
    };
    index.own_records.iter().for_each(&mut records);
    for bag in index.relations.values().flat_map(|relation| relation.units.values()) {
        bag.records.iter().for_each(&mut records);
    }
    for bag in index.relations.values().flat_map(|relation| relation.units.values()) {
        if let Some(Ok(config)) = &bag.config {
            content(config);
        }
    }
    wanted
}
