//! Templates for Grafana out of the chosen dashboards.
//!
//! A dashboard with a uid of 40 hex digits and a `charm: ` tag passes as it came. The uid of any other is
//! made of the model, the application and what the provider calls it: its own uid of another form, else
//! its title. So it survives a new version of the dashboard and the re-making of a relation. Where that
//! does not tell two apart, the content does.
//!
//! Two dashboards of one application with one uid: the same content is one dashboard; otherwise the one
//! that Grafana would have shown (the highest version) keeps the uid, and each other gets one of its own,
//! since an author who copied a file and forgot the uid wants to see both. Between applications equal uids
//! stay: two deployments of one charm mean the same dashboard, and the far side shows the newer one.

use super::budget::Item;
use super::gather::Gathered;
use super::lines::{Lines, Rank};
use super::workshop::Workshop;
use crate::databag::dashboard::Facts;
use crate::databag::rules::Query;
use crate::databag::{Digest, grafana};
use crate::juju::AppName;
use crate::observed::observability::Observability;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// One sound dashboard of an application.
struct Dashboard {
    source: Digest,
    facts: Facts,
}

/// The templates of all applications.
pub(super) fn templates(
    observed: &Observability,
    gathered: &Gathered<'_>,
    known: &[&BTreeMap<String, String>],
    workshop: &mut Workshop<'_>,
    lines: &mut Lines,
) -> Vec<Item> {
    let mut items = Vec::new();
    for (application, chosen) in &gathered.chosen {
        let charm = [Query::Metrics, Query::Logs]
            .into_iter()
            .flat_map(|query| charms(workshop, chosen.rules(query), query))
            .collect::<BTreeSet<String>>();
        // The principal's charm is only known from its rules' labels.
        let charm = match (charm.len(), charm.first()) {
            (1, Some(charm)) => charm.as_str(),
            _ => application.as_str(),
        };
        // By content, so that one dashboard encoded twice is one.
        let mut sound: BTreeMap<Digest, Dashboard> = BTreeMap::new();
        let sources: BTreeSet<Digest> = chosen.dashboards.content.dashboards.iter().copied().collect();
        for source in sources {
            if let Ok(facts) = workshop.facts(source) {
                let facts = facts.clone();
                sound.entry(facts.content).or_insert(Dashboard { source, facts });
            }
        }
        for (uid, dashboard) in with_uids(observed, application, sound.into_values().collect()) {
            let title = dashboard.facts.title.as_deref().unwrap_or("no title");
            let content = if dashboard.facts.as_it_is && dashboard.facts.uid.as_ref() == Some(&uid) {
                workshop.text(dashboard.source).ok_or("was not read".to_owned())
            } else {
                let written = workshop.rewritten(dashboard.source, &uid, charm).as_ref();
                written.map(String::as_str).map_err(Clone::clone)
            };
            match content {
                Ok(content) => {
                    let id = grafana::template_id(&observed.topology, application, title, &uid);
                    let text = grafana::render_template(&id, content, &observed.topology);
                    items.push(Item::of(application, id, text).called(title));
                }
                Err(reason) => {
                    let line = format!("{application} dashboard {title} {reason}; left out");
                    lines.add(Rank::PeerItem, line);
                }
            }
        }
    }
    for application in &gathered.held {
        let prefix = grafana::template_prefix(&observed.topology, application);
        let held = known
            .iter()
            .map(|bag| grafana::templates_of(bag, &prefix))
            .find(|templates| !templates.is_empty());
        for (id, text) in held.unwrap_or_default() {
            let title = id.strip_prefix(&prefix).unwrap_or(&id).to_owned();
            items.push(Item::of(application, id, text).called(&title));
        }
    }
    items
}

/// The charm names in the labels of an application's rules.
fn charms(
    workshop: &mut Workshop<'_>,
    content: &crate::databag::record::Content,
    query: Query,
) -> BTreeSet<String> {
    let rules = workshop.rules(content, query);
    let rules = rules.groups.iter().flat_map(|group| &group.rules);
    rules
        .filter_map(|rule| rule.get("labels")?.get("juju_charm")?.as_str())
        .filter(|charm| !charm.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Gives each dashboard of an application a uid of its own.
fn with_uids(
    observed: &Observability,
    application: &AppName,
    mut dashboards: Vec<Dashboard>,
) -> BTreeMap<String, Dashboard> {
    let made = |kind: &str, name: &str, content: &str| {
        let model = observed.topology.model_uuid.as_str();
        grafana::uid_of(&[model, application.as_str(), kind, name, content])
    };
    // What the far side would show of equal uids comes first.
    dashboards.sort_by_key(|d| (Reverse(d.facts.version), d.facts.content));
    let mut names: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for dashboard in &dashboards {
        if dashboard.facts.uid.is_none() {
            *names.entry(name_of(&dashboard.facts)).or_default() += 1;
        }
    }
    let mut with_uids = BTreeMap::new();
    for dashboard in dashboards {
        let content = dashboard.facts.content.to_string();
        let uid = match &dashboard.facts.uid {
            Some(uid) if !with_uids.contains_key(uid) => uid.clone(),
            Some(uid) => made("copy", uid, &content),
            None => {
                let (kind, name) = name_of(&dashboard.facts);
                let alone = names.get(&(kind, name.clone())) == Some(&1);
                made(kind, &name, if alone { "" } else { &content })
            }
        };
        with_uids.insert(uid, dashboard);
    }
    with_uids
}

/// What a dashboard without a good uid is known by.
fn name_of(facts: &Facts) -> (&'static str, String) {
    match (&facts.foreign_uid, &facts.title) {
        (Some(uid), _) => ("uid", uid.clone()),
        (None, title) => ("title", title.clone().unwrap_or_default()),
    }
}
