//! `grafana-dashboards-provider`: what we write into our application databag, and its template ids.
//!
//! canonical/grafana-k8s-operator `lib/charms/grafana_k8s/v0/grafana_dashboard.py`. `templates` is always
//! there, empty when there are none: without it the far side's hook fails, and without the whole key it
//! keeps what it had.

use super::{Digest, Topology};
use crate::juju::AppName;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// The key.
pub const DASHBOARDS: &str = "dashboards";

/// Bytes of a folded title that go into a template id: the far side may make a file name of it, and a
/// longer one than about 200 bytes fails there.
const MAX_TITLE: usize = 80;

/// What stands before each template id of an application; the colon ends it unambiguously.
pub fn template_prefix(topology: &Topology, application: &AppName) -> String {
    format!("file:{}:", topology.identifier(application))
}

/// A template id: application, title for people, uid to tell apart what has the same title.
pub fn template_id(topology: &Topology, application: &AppName, title: &str, uid: &str) -> String {
    let prefix = template_prefix(topology, application);
    format!("{prefix}{}:{uid}", folded(title))
}

/// A uid of this system, 40 hex digits, made of those parts.
pub fn uid_of(parts: &[&str]) -> String {
    let first = Digest::of_parts(parts.iter().copied()).to_string();
    let second: String = Digest::of(&first).to_string().chars().take(8).collect();
    format!("{first}{second}")
}

/// A title as the reference folds it, shortened: blanks and slashes to `_`, lower case.
pub fn folded(title: &str) -> String {
    let mut folded: String = title
        .chars()
        .map(|c| if matches!(c, ' ' | '/') { '_' } else { c })
        .flat_map(char::to_lowercase)
        .collect();
    while folded.len() > MAX_TITLE {
        folded.pop();
    }
    folded
}

/// One template, its fields in the order of their names.
#[derive(Serialize)]
struct Template<'a> {
    charm: &'a str,
    content: &'a str,
    dashboard_alt_uid: String,
    inject_dropdowns: bool,
    juju_topology: BTreeMap<&'a str, &'a str>,
}

/// Renders one template. `juju_topology` counts by its keys alone, and only a non-empty one gets
/// the Juju drop-downs and matchers.
pub fn render_template(id: &str, content: &str, topology: &Topology) -> String {
    let unit = topology.fixed_unit();
    let template = Template {
        charm: &topology.charm,
        content,
        dashboard_alt_uid: Digest::of(id).to_string().chars().take(16).collect(),
        inject_dropdowns: true,
        juju_topology: BTreeMap::from([
            ("application", topology.application.as_str()),
            ("model", topology.model.as_str()),
            ("model_uuid", topology.model_uuid.as_str()),
            ("unit", unit.as_str()),
        ]),
    };
    serde_json::to_string(&template).unwrap_or_default() // texts and a boolean always serialise
}

/// The application databag of rendered templates by id. `uuid` follows from the content; a random one
/// made the far side read everything again each time (canonical/grafana-k8s-operator PR 570).
pub fn app_bag(templates: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let entries: Vec<String> = templates
        .iter()
        .map(|(id, template)| format!("{}:{template}", serde_json::Value::from(id.as_str())))
        .collect();
    let templates = format!("{{{}}}", entries.join(","));
    let uuid: String = Digest::of(&templates).to_string().chars().take(16).collect();
    BTreeMap::from([(DASHBOARDS.to_owned(), format!(r#"{{"templates":{templates},"uuid":"{uuid}"}}"#))])
}

/// The applications whose templates are in a databag that we wrote earlier, by their ids.
pub fn applications_of(bag: &BTreeMap<String, String>, topology: &Topology) -> BTreeSet<AppName> {
    let before = format!("file:{}", topology.identifier_start());
    let ids = templates_of(bag, &before).into_keys();
    ids.filter_map(|id| id.strip_prefix(&before)?.split_once(':')?.0.parse().ok()).collect()
}

/// The rendered templates of one application in a databag that we wrote earlier, by id.
pub fn templates_of(bag: &BTreeMap<String, String>, prefix: &str) -> BTreeMap<String, String> {
    #[derive(Deserialize)]
    struct Written<'a> {
        #[serde(borrow)]
        templates: BTreeMap<String, &'a RawValue>,
    }
    let text = bag.get(DASHBOARDS).map(String::as_str).unwrap_or_default();
    let written: Written<'_> = match serde_json::from_str(text) {
        Ok(written) => written,
        Err(_) => return BTreeMap::new(),
    };
    let ours = written.templates.into_iter();
    ours.filter(|(id, _)| id.starts_with(prefix))
        .map(|(id, template)| (id, template.get().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_folded_and_cut_at_a_character() {
        assert_eq!(folded("Disk/IO Per Node"), "disk_io_per_node");
        assert_eq!(folded("Überblick"), "überblick");
        assert_eq!(folded(&"ü".repeat(100)).len(), 80);
        assert_eq!(folded(&format!("a{}", "🚢".repeat(100))).len(), 77);
    }

    #[test]
    fn templates_read_back_as_they_were_rendered() {
        let topology = Topology {
            model: "harbor".into(),
            model_uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".into(),
            application: "lockstep".parse().unwrap(),
            charm: "lockstep".into(),
        };
        let id = template_id(&topology, &"db".parse().unwrap(), "A:b", "00");
        assert_eq!(id, "file:harbor_7d1f3c2a_db:a:b:00");
        let rendered = render_template(&id, "/Td6", &topology);
        let templates = BTreeMap::from([(id, rendered)]);
        let bag = app_bag(&templates);
        let prefix = template_prefix(&topology, &"db".parse().unwrap());
        assert_eq!(templates_of(&bag, &prefix), templates);
        let other = template_prefix(&topology, &"db-replica".parse().unwrap());
        assert_eq!(templates_of(&bag, &other), BTreeMap::new());
        assert_eq!(templates_of(&BTreeMap::new(), &prefix), BTreeMap::new());
        assert!(app_bag(&BTreeMap::new())[DASHBOARDS].starts_with(r#"{"templates":{},"uuid":""#));
    }
}
