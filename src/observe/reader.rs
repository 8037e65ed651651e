//! Reads the parts of the index that are absent and needed.

use super::collection;
use super::index::{Index, Records, Relation, UnitBag};
use crate::databag::collected::COLLECTED;
use crate::databag::scrape::{self, Jobs};
use crate::databag::{Digest, Values, certificates, loki, node, peers, progress, record, remote_write};
use crate::juju::{Context, Endpoint, RelationId, Scope, UnitName};
use crate::tools::ToolError;
use crate::tools::hook_tools::HookTools;
use std::collections::{BTreeMap, BTreeSet};

/// The key of cos-agent in the principal's unit databag.
const CONFIG: &str = "config";
/// Keys that Juju itself writes into unit databags.
const JUJU_KEYS: [&str; 3] = ["ingress-address", "egress-subnets", "private-address"];

/// Fills an index.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The hook tools.
    pub tools: &'a HookTools,
    /// Who reads.
    pub context: &'a Context,
    /// Where large values go.
    pub values: &'a mut Values,
    /// The relation that this hook says is broken: gone, whether or not Juju still lists it (it does
    /// before 3.4.4).
    pub broken: Option<RelationId>,
    /// The scrape jobs that were read in this pass. They hold secrets and are not kept.
    pub jobs: BTreeMap<(RelationId, UnitName), Option<Jobs>>,
}

impl Reader<'_> {
    /// Reads what a unit needs; a leader needs more.
    pub fn fill(&mut self, index: &mut Index, leader: bool) -> Result<(), ToolError> {
        if index.config.is_none() {
            index.config = Some(self.tools.config_get()?);
        }
        let ids = match &index.ids {
            Some(ids) => ids.clone(),
            None => self.ids()?,
        };
        index.relations.retain(|id, _| ids.contains(id));
        for id in &ids {
            self.relation(*id, index.relations.entry(*id).or_default(), leader)?;
        }
        index.ids = Some(ids);
        Ok(())
    }

    fn ids(&self) -> Result<BTreeSet<RelationId>, ToolError> {
        let mut ids = BTreeSet::new();
        for endpoint in Endpoint::ALL {
            ids.extend(self.tools.relation_ids(endpoint)?);
        }
        ids.retain(|id| Some(*id) != self.broken);
        Ok(ids)
    }

    fn relation(&mut self, id: RelationId, relation: &mut Relation, leader: bool) -> Result<(), ToolError> {
        let members = match &relation.members {
            Some(members) => members.clone(),
            None => self.tools.relation_list(id)?.into_iter().collect(),
        };
        relation.units.retain(|unit, _| members.contains(unit));
        match id.endpoint {
            Endpoint::Peers => {
                relation.app = Some(self.context.application().clone());
                // What a follower has left out, a leader reads.
                relation.units.retain(|_, bag| !leader || bag.records.is_some());
                for unit in missing(&members, relation) {
                    let bag = self.tools.relation_get(id, &unit)?.unwrap_or_default();
                    let records = leader.then(|| self.records(&bag));
                    let texts = rollout_texts(&bag);
                    relation.units.insert(unit, UnitBag { records, texts, ..UnitBag::default() });
                }
                self.app_bag(id, relation)?;
            }
            Endpoint::CosAgent => {
                for unit in missing(&members, relation) {
                    let bag = self.tools.relation_get(id, &unit)?.unwrap_or_default();
                    let config = bag.get(CONFIG).map(|text| record::read_config(text, self.values));
                    let jobs = bag.get(CONFIG).map(|text| scrape::digest(text));
                    self.jobs.insert((id, unit.clone()), collection::jobs(bag.get(CONFIG)));
                    relation.units.insert(unit, UnitBag { config, jobs, ..UnitBag::default() });
                }
            }
            Endpoint::SendRemoteWrite | Endpoint::LoggingConsumer => {
                self.texts(id, &members, relation, &[remote_write::REMOTE_WRITE, loki::ENDPOINT])?;
                if leader {
                    self.app_bag(id, relation)?;
                }
            }
            Endpoint::ReceiveCaCert => {
                self.texts(id, &members, relation, &certificates::KEYS)?;
                self.app_bag(id, relation)?;
            }
            Endpoint::GrafanaDashboards if leader => self.app_bag(id, relation)?,
            Endpoint::GrafanaDashboards | Endpoint::ControlPlane | Endpoint::Worker => {}
            Endpoint::Cohorts | Endpoint::FollowCohorts => self.app_bag(id, relation)?,
        }
        relation.members = Some(members);
        Ok(())
    }

    /// Keeps these keys of the databags of remote units that are not known.
    fn texts(
        &self,
        id: RelationId,
        members: &BTreeSet<UnitName>,
        relation: &mut Relation,
        keys: &[&str],
    ) -> Result<(), ToolError> {
        for unit in missing(members, relation) {
            let mut texts = self.tools.relation_get(id, &unit)?.unwrap_or_default();
            texts.retain(|key, _| keys.contains(&key.as_str()));
            relation.units.insert(unit, UnitBag { texts, ..UnitBag::default() });
        }
        Ok(())
    }

    /// The jobs of a principal: as this pass has read them, else read now.
    pub fn jobs(&mut self, id: RelationId, unit: &UnitName) -> Result<Option<Jobs>, ToolError> {
        let key = (id, unit.clone());
        if let Some(jobs) = self.jobs.get(&key) {
            return Ok(jobs.clone());
        }
        let bag = self.tools.relation_get(id, unit)?.unwrap_or_default();
        let jobs = collection::jobs(bag.get(CONFIG));
        self.jobs.insert(key, jobs.clone());
        Ok(jobs)
    }

    fn app_bag(&self, id: RelationId, relation: &mut Relation) -> Result<(), ToolError> {
        if relation.app_bag.is_some() {
            return Ok(());
        }
        if relation.app.is_none() {
            relation.app = self.tools.relation_app(id)?;
        }
        relation.app_bag = match &relation.app {
            Some(app) => self.tools.relation_get_app(id, app)?,
            None => None,
        };
        // Gone, or not told yet: nothing to read, until an event says otherwise.
        relation.app_bag.get_or_insert_default();
        Ok(())
    }

    /// An own databag as it is: nothing if the relation is gone.
    pub fn own(&self, id: RelationId, scope: Scope) -> Result<Option<BTreeMap<String, String>>, ToolError> {
        let bag = match scope {
            Scope::Unit => self.tools.relation_get(id, &self.context.unit)?,
            Scope::App => self.tools.relation_get_app(id, self.context.application())?,
        };
        Ok(bag.map(|mut bag| {
            if scope == Scope::Unit {
                bag.retain(|key, _| !JUJU_KEYS.contains(&key.as_str()));
            }
            bag
        }))
    }

    /// The records in a unit databag on peers.
    pub fn records(&mut self, bag: &BTreeMap<String, String>) -> Records {
        bag.iter()
            .filter(|(key, _)| record::is_record_key(key))
            .map(|(key, text)| (key.clone(), record::read_peer(key, text, self.values)))
            .collect()
    }
}

/// The members whose databags are not known.
fn missing(members: &BTreeSet<UnitName>, relation: &Relation) -> Vec<UnitName> {
    members.iter().filter(|unit| !relation.units.contains_key(unit)).cloned().collect()
}

/// What a unit databag on peers tells of rollouts and of collection.
pub fn rollout_texts(bag: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let keys = [node::NODE, node::NODES, node::ADDRESS, progress::PROGRESS, COLLECTED];
    keys.into_iter().filter_map(|key| Some((key.to_owned(), bag.get(key)?.clone()))).collect()
}

/// The digests of a databag's values.
pub fn digests(bag: &BTreeMap<String, String>) -> BTreeMap<String, Digest> {
    bag.iter().map(|(key, text)| (key.clone(), Digest::of(text))).collect()
}

/// The unit that signed the peers application databag, if it was read and can be.
pub fn signed(index: &Index) -> Option<UnitName> {
    let (_, relation) = index.relations.iter().find(|(id, _)| id.endpoint == Endpoint::Peers)?;
    peers::read_leader(relation.app_bag.as_ref()?).ok().flatten()
}
