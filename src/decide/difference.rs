//! What differs between what own databags shall hold and what they hold.

use crate::databag::Digest;
use crate::databag::charm_state::{Remembered, WrittenBag};
use crate::juju::{RelationId, Scope};
use crate::observed::Observed;
use crate::plan::{BagWrite, Keys};
use std::collections::BTreeMap;

/// All that own databags shall hold.
pub type Wanted = BTreeMap<(RelationId, Scope), Keys>;
/// The digests of all that, made once: an outgoing databag is megabytes.
pub type Digests = BTreeMap<(RelationId, Scope), WrittenBag>;

/// The digests of what own databags shall hold.
pub fn digests(wanted: &Wanted) -> Digests {
    let of = |keys: &Keys| {
        let values =
            keys.iter().filter_map(|(key, value)| Some((key.clone(), Digest::of(value.as_deref()?))));
        values.collect()
    };
    wanted.iter().map(|(bag, keys)| (*bag, of(keys))).collect()
}

/// The writes that make the own databags hold these keys, unit databags first: an application
/// databag is refused as a whole when leadership is lost.
pub fn writes(observed: &Observed, wanted: &Wanted, digests: &Digests) -> Vec<BagWrite> {
    let mut writes: Vec<BagWrite> = wanted
        .iter()
        .filter_map(|(bag @ (relation, scope), keys)| {
            let (held, digests) = (observed.own.get(bag)?, digests.get(bag)?);
            let changes: Keys = keys
                .iter()
                .filter(|(key, _)| held.get(*key) != digests.get(*key))
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            (!changes.is_empty()).then_some(BagWrite { relation: *relation, scope: *scope, changes })
        })
        .collect();
    writes.sort_by_key(|write| (write.scope, write.relation));
    writes
}

/// Remembers what the own databags hold once these writes are committed.
pub fn remember(observed: &Observed, writes: &[BagWrite], digests: &Digests, remember: &mut Remembered) {
    remember.written.clear();
    for ((relation, scope), held) in &observed.own {
        remember.written.entry(*relation).or_default().insert(*scope, held.clone());
    }
    for write in writes {
        let bag = remember.written.entry(write.relation).or_default().entry(write.scope).or_default();
        let digests = digests.get(&(write.relation, write.scope));
        for key in write.changes.keys() {
            match digests.and_then(|digests| digests.get(key)) {
                Some(digest) => bag.insert(key.clone(), *digest),
                None => bag.remove(key),
            };
        }
    }
}
