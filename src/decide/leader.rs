//! Who leads: the leader signs the peers application databag, so that one that finds another name
//! there knows that it is new, whatever the hook.

use crate::databag::peers;
use crate::juju::{Endpoint, RelationId, Scope};
use crate::observed::Observed;
use crate::plan::Keys;
use std::collections::BTreeMap;

/// Whether this unit leads and has not signed yet, where there is something to sign.
pub fn is_new(observed: &Observed) -> bool {
    let there = observed.at(Endpoint::Peers).next().is_some();
    observed.leader && there && observed.signed.as_ref() != Some(&observed.context.unit)
}

/// The signature, where this unit leads.
pub fn keys(observed: &Observed) -> BTreeMap<(RelationId, Scope), Keys> {
    if !observed.leader {
        return BTreeMap::new();
    }
    let (key, value) = peers::write_leader(&observed.context.unit);
    let signature = Keys::from([(key, Some(value))]);
    observed.at(Endpoint::Peers).map(|(id, _)| ((id, Scope::App), signature.clone())).collect()
}
