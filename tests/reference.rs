//! The reference pages of options, actions and endpoints say what the charm's YAML files say: they are
//! made from them. `UPDATE_EXPECT=1 cargo test --test reference` writes them anew. The Terraform module
//! names the same endpoints.

#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "support/declared.rs"]
mod declared;

use declared::{Declared, Metadata, config, metadata};
use expect_test::expect_file;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write;

#[derive(Deserialize)]
struct Action {
    description: String,
    #[serde(default)]
    params: BTreeMap<String, Declared>,
    #[serde(default)]
    required: Vec<String>,
}

#[derive(Deserialize)]
struct Endpoint {
    interface: String,
    #[serde(default)]
    scope: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
    optional: bool,
    description: String,
}

const MADE: &str = "<!-- Made from the charm's own files by tests/reference.rs. -->\n";

/// A description as it stands, without blanks at the ends of lines.
fn text(description: &str) -> String {
    description.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_page_of_options_is_what_config_yaml_says() {
    let mut page = format!("{MADE}\n# Options\n\nSet one with `juju config lockstep NAME=VALUE`.\n");
    page.push_str("A value that is not accepted blocks the unit, with the option, the value and what is ");
    page.push_str("accepted; the last good value stays in force meanwhile.\n");
    for (name, option) in &config().options {
        let default = match option.default.as_deref() {
            None | Some("") => "empty".to_owned(),
            Some(value) => format!("`{value}`"),
        };
        write!(
            page,
            "\n## `{name}`\n\n{}, default {default}\n\n{}\n",
            option.r#type,
            text(&option.description)
        )
        .unwrap();
    }
    expect_file!["../docs/reference/options.md"].assert_eq(&page);
}

#[test]
fn the_page_of_actions_is_what_actions_yaml_says() {
    let actions: BTreeMap<String, Action> = serde_saphyr::from_str(include_str!("../actions.yaml")).unwrap();
    let mut page =
        format!("{MADE}\n# Actions\n\nRun one with `juju run UNIT NAME [PARAMETER=VALUE]`. An action ");
    page.push_str("that only the leader can carry out fails elsewhere, and prints the command that works.\n");
    for (name, action) in &actions {
        write!(page, "\n## `{name}`\n\n{}\n", text(&action.description)).unwrap();
        for (param, declared) in &action.params {
            let needed = match (action.required.contains(param), declared.default.as_deref()) {
                (true, _) => "required".to_owned(),
                (false, None | Some("")) => "default empty".to_owned(),
                (false, Some(value)) => format!("default `{value}`"),
            };
            let about = text(&declared.description).replace('\n', " ");
            write!(page, "\n- `{param}` ({}, {needed}): {about}\n", declared.r#type).unwrap();
        }
    }
    expect_file!["../docs/reference/actions.md"].assert_eq(&page);
}

#[test]
fn the_page_of_endpoints_is_what_metadata_yaml_says() {
    let Metadata { provides, requires, peers } = metadata::<Endpoint>();
    let mut page =
        format!("{MADE}\n# Endpoints\n\nAll but the peer relation are optional: what is not related ");
    page.push_str(
        "is quiet, not blocked. Name both endpoints in `juju integrate`: Juju never infers `juju-info`.\n",
    );
    for (side, endpoints) in [("provides", provides), ("requires", requires), ("peers", peers)] {
        for (name, endpoint) in endpoints {
            let mut facts = vec![side.to_owned(), format!("interface `{}`", endpoint.interface)];
            facts.extend(endpoint.scope.map(|scope| format!("scope {scope}")));
            facts.extend(endpoint.limit.map(|limit| format!("at most {limit} relation")));
            facts.push(if endpoint.optional { "optional" } else { "always there" }.to_owned());
            let facts = facts.join(", ");
            write!(page, "\n## `{name}`\n\n{facts}\n\n{}\n", text(&endpoint.description)).unwrap();
        }
    }
    expect_file!["../docs/reference/endpoints.md"].assert_eq(&page);
}

/// `output "provides"` and `output "requires"` of the module list each endpoint once.
#[test]
fn the_terraform_module_names_every_endpoint() {
    let Metadata { provides, requires, .. } = metadata::<Endpoint>();
    let outputs = include_str!("../terraform/outputs.tf");
    let block = |name: &str| {
        let (_, rest) = outputs.split_once(&format!("output \"{name}\"")).unwrap();
        let (_, rest) = rest.split_once("value = {").unwrap();
        let (inside, _) = rest.split_once('}').unwrap();
        let pairs = inside.lines().filter_map(|line| line.split_once('='));
        pairs
            .map(|(key, value)| (key.trim().to_owned(), value.trim().trim_matches('"').to_owned()))
            .collect::<BTreeMap<String, String>>()
    };
    for (name, endpoints) in [("provides", provides), ("requires", requires)] {
        let expected: BTreeMap<String, String> =
            endpoints.keys().map(|name| (name.replace('-', "_"), name.clone())).collect();
        assert_eq!(block(name), expected, "output {name}");
    }
}
