//! What does not fit is left out, the largest first, and named.
//!
//! Juju refuses the whole commit of a hook for one value that is too large, so the sizes are kept here.

use super::lines::{Lines, Rank};
use super::own::Own;
use crate::databag::record::{Record, record_key, write_peer};
use crate::juju::{AppName, Endpoint, UnitName};
use crate::observed::observability::Observability;
use std::collections::BTreeMap;

/// A rendered group or template.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) application: AppName,
    /// Group name or template id.
    pub(super) name: String,
    text: String,
    /// Bytes of the name as a JSON text.
    key: usize,
    /// What a person calls it.
    title: String,
    /// Our own group is never left out.
    ours: bool,
}

impl Item {
    pub(super) fn of(application: &AppName, name: String, text: String) -> Self {
        Self {
            application: application.clone(),
            title: name.clone(),
            key: serde_json::Value::from(name.as_str()).to_string().len(),
            name,
            text,
            ours: false,
        }
    }

    pub(super) fn own(application: &AppName, name: String, text: String) -> Self {
        Self { ours: true, ..Self::of(application, name, text) }
    }

    pub(super) fn called(mut self, title: &str) -> Self {
        self.title = title.chars().take(60).collect();
        self
    }

    /// Bytes in the databag: the text, a key before it, and what separates them.
    fn size(&self) -> usize {
        self.text.len() + self.key + 2
    }
}

/// Bytes of an outgoing databag beside its items: keys, braces, `uuid`, `metadata`.
const FRAME: usize = 1024;

/// The groups that fit, rendered, in their order.
pub(super) fn groups(
    items: Vec<Item>,
    endpoint: Endpoint,
    observed: &Observability,
    lines: &mut Lines,
) -> Vec<String> {
    let items = fitting(items, "group", endpoint, observed, lines);
    items.into_iter().map(|item| item.text).collect()
}

/// The templates that fit, by id.
pub(super) fn templates(
    items: Vec<Item>,
    endpoint: Endpoint,
    observed: &Observability,
    lines: &mut Lines,
) -> BTreeMap<String, String> {
    let items = fitting(items, "dashboard", endpoint, observed, lines);
    items.into_iter().map(|item| (item.name, item.text)).collect()
}

fn fitting(
    mut items: Vec<Item>,
    what: &str,
    endpoint: Endpoint,
    observed: &Observability,
    lines: &mut Lines,
) -> Vec<Item> {
    let limit = observed.limits.outgoing_bag;
    let mut size: usize = FRAME + items.iter().map(Item::size).sum::<usize>();
    while size > limit {
        let largest = items
            .iter()
            .enumerate()
            .filter(|(_, item)| !item.ours)
            .max_by_key(|(_, item)| (item.size(), &item.name));
        let Some((index, _)) = largest else { break };
        let item = items.remove(index);
        size -= item.size();
        let line = format!(
            "{} {what} {} ({} KiB) left out: more than {} KiB on {endpoint}",
            item.application,
            item.title,
            item.text.len() >> 10,
            limit >> 10
        );
        lines.add(Rank::Budget, line);
    }
    items
}

/// Keeps the own records within their budget: the largest dashboards go first; a record whose rules
/// alone are too much gives way to the last good one, or goes.
pub(super) fn records(
    observed: &Observability,
    last_good: &BTreeMap<&UnitName, &Record>,
    own: &mut Own,
    lines: &mut Lines,
) {
    let limit = observed.limits.records;
    let size = |record: &Record| record_key(&record.unit).len() + write_peer(record, &observed.values).len();
    let mut sizes: BTreeMap<UnitName, usize> = BTreeMap::new();
    for (unit, record) in &own.records {
        sizes.insert(unit.clone(), size(record));
    }
    while sizes.values().sum::<usize>() > limit {
        let dashboards = own.records.values().flat_map(|record| {
            let places = record.content.dashboards.iter().enumerate();
            places.map(move |(place, digest)| {
                let bytes = observed.values.get(digest).map_or(0, str::len);
                (bytes, &record.unit, place)
            })
        });
        if let Some((bytes, unit, place)) = dashboards.max() {
            let unit = unit.clone();
            let Some(record) = own.records.get_mut(&unit) else {
                return;
            };
            let line = format!(
                "{unit} config {} ({} KiB) left out: more than {} KiB of cos-agent data",
                record.content.dashboard_path(place),
                bytes >> 10,
                limit >> 10
            );
            record.content.leave_out(place);
            sizes.insert(unit, size(record));
            lines.add(Rank::Budget, line);
            continue;
        }
        let largest = sizes.iter().max_by_key(|(unit, size)| (**size, *unit));
        let Some((unit, bytes)) = largest.map(|(unit, size)| (unit.clone(), *size)) else {
            return;
        };
        let old = last_good.get(&unit).filter(|old| size(old) < bytes);
        let kept = match old {
            Some(old) => {
                own.records.insert(unit.clone(), (*old).clone());
                sizes.insert(unit.clone(), size(old));
                "its last good data stay"
            }
            None => {
                own.records.remove(&unit);
                sizes.remove(&unit);
                "not forwarded"
            }
        };
        let line =
            format!("{unit} config: {} KiB of rules, more than {} KiB; {kept}", bytes >> 10, limit >> 10);
        lines.add(Rank::Budget, line);
    }
}
