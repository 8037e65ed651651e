//! What differs between what own databags shall hold and what they hold.

use crate::databag::Digest;
use crate::databag::charm_state::Remembered;
use crate::juju::{RelationId, Scope};
use crate::observed::Observed;
use crate::plan::{BagWrite, Keys};
use std::collections::BTreeMap;

/// The writes that make the own databags hold these keys, unit databags first: an application
/// databag is refused as a whole when leadership is lost.
pub fn writes(observed: &Observed, keys: &BTreeMap<(RelationId, Scope), Keys>) -> Vec<BagWrite> {
    let mut writes: Vec<BagWrite> = keys
        .iter()
        .filter_map(|((relation, scope), wanted)| {
            let held = observed.own.get(&(*relation, *scope))?;
            let changes: Keys = wanted
                .iter()
                .filter(|(key, value)| held.get(*key) != value.as_deref().map(Digest::of).as_ref())
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect();
            (!changes.is_empty()).then_some(BagWrite { relation: *relation, scope: *scope, changes })
        })
        .collect();
    writes.sort_by_key(|write| (write.scope, write.relation));
    writes
}

/// Remembers what the own databags hold once these writes are committed.
pub fn remember(observed: &Observed, writes: &[BagWrite], remember: &mut Remembered) {
    remember.written.clear();
    for ((relation, scope), held) in &observed.own {
        remember.written.entry(*relation).or_default().insert(*scope, held.clone());
    }
    for write in writes {
        let bag = remember.written.entry(write.relation).or_default().entry(write.scope).or_default();
        for (key, value) in &write.changes {
            match value {
                Some(value) => bag.insert(key.clone(), Digest::of(value)),
                None => bag.remove(key),
            };
        }
    }
}
