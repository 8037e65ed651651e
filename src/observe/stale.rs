//! Which event makes which part of the index stale. A part that is not named here stays: Juju wakes
//! this unit for every change of it (juju/juju `worker/uniter/relation/resolver.go`).

use super::index::Index;
use crate::juju::{Event, PlainHook, RelationEvent, RelationHook};

/// Takes out what the event makes stale.
pub fn invalidate(index: &mut Index, event: &Event) {
    match event {
        Event::Plain(hook) => match hook {
            PlainHook::ConfigChanged => index.config = None,
            // These read everything anyway, see `full`.
            PlainHook::Install | PlainHook::Start | PlainHook::UpgradeCharm | PlainHook::LeaderElected => {
                *index = Index::default()
            }
            PlainHook::UpdateStatus
            | PlainHook::LeaderSettingsChanged
            | PlainHook::Stop
            | PlainHook::Remove => {}
        },
        Event::Relation(event) => relation(index, event),
    }
}

fn relation(index: &mut Index, event: &RelationEvent) {
    let id = event.relation;
    match event.hook {
        RelationHook::Created => {
            index.ids = None;
            index.relations.remove(&id);
        }
        RelationHook::Broken => {
            // Juju lists the relation or not, by version: here it is gone either way.
            index.relations.remove(&id);
            if let Some(ids) = &mut index.ids {
                ids.remove(&id);
            }
        }
        RelationHook::Joined | RelationHook::Departed | RelationHook::Changed => {
            let relation = index.relations.entry(id).or_default();
            match &event.remote_unit {
                Some(unit) => {
                    relation.units.remove(unit);
                    if event.hook != RelationHook::Changed {
                        relation.members = None;
                    }
                }
                None => relation.app_bag = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::{Relation, UnitBag};
    use super::*;
    use crate::juju::RelationId;
    use std::collections::{BTreeMap, BTreeSet};

    fn full_index() -> Index {
        let peers: RelationId = "peers:1".parse().unwrap();
        let units: BTreeSet<_> = ["l/1", "l/2"].iter().map(|u| u.parse().unwrap()).collect();
        let relation = Relation {
            app: Some("l".parse().unwrap()),
            members: Some(units.clone()),
            units: units.into_iter().map(|unit| (unit, UnitBag::default())).collect(),
            app_bag: Some(BTreeMap::new()),
        };
        Index {
            config: Some(BTreeMap::new()),
            ids: Some(BTreeSet::from([peers])),
            relations: BTreeMap::from([(peers, relation)]),
            own_records: Some(BTreeMap::new()),
            own_texts: Some(BTreeMap::new()),
        }
    }

    fn after(hook: RelationHook, unit: Option<&str>) -> Index {
        let mut index = full_index();
        let event = Event::Relation(RelationEvent {
            hook,
            relation: "peers:1".parse().unwrap(),
            remote_app: None,
            remote_unit: unit.map(|unit| unit.parse().unwrap()),
            departing_unit: None,
        });
        invalidate(&mut index, &event);
        index
    }

    #[test]
    fn a_changed_unit_makes_only_its_own_databag_stale() {
        let mut expected = full_index();
        let relation = expected.relations.values_mut().next().unwrap();
        relation.units.remove(&"l/1".parse().unwrap());
        assert_eq!(after(RelationHook::Changed, Some("l/1")), expected);
    }

    #[test]
    fn changed_application_data_makes_only_that_databag_stale() {
        let mut expected = full_index();
        expected.relations.values_mut().next().unwrap().app_bag = None;
        assert_eq!(after(RelationHook::Changed, None), expected);
    }

    #[test]
    fn a_joined_or_departed_unit_makes_the_members_stale_too() {
        for hook in [RelationHook::Joined, RelationHook::Departed] {
            let index = after(hook, Some("l/1"));
            let relation = index.relations.values().next().unwrap();
            assert_eq!(relation.members, None);
            assert_eq!(relation.units.len(), 1);
        }
    }

    #[test]
    fn a_broken_relation_is_gone_at_once() {
        let index = after(RelationHook::Broken, None);
        assert_eq!(index.ids, Some(BTreeSet::new()));
        assert_eq!(index.relations, BTreeMap::new());
    }

    #[test]
    fn config_changed_makes_the_options_stale_and_update_status_nothing() {
        let mut index = full_index();
        invalidate(&mut index, &Event::Plain(PlainHook::UpdateStatus));
        assert_eq!(index, full_index());
        invalidate(&mut index, &Event::Plain(PlainHook::ConfigChanged));
        assert_eq!(index, Index { config: None, ..full_index() });
    }
}
