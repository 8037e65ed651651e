//! The example of a principal charm: the same executable, actions and options, without a principal.

use super::{
    Action, Base, Config, Endpoint, Manifest, arch, endpoints_of, entries, read, root, stdout, yaml,
};
use super::{Scalar, pack_py};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

const DIR: &str = "examples/principal";
/// Options whose default is another one here, with it.
const OTHER: [(&str, &str); 3] = [("install-missing", "true"), ("role", "control-plane"), ("snaps", "")];

/// What a principal charm's metadata has: no `subordinate`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(dead_code, reason = "read for their presence alone")]
struct Metadata {
    name: String,
    display_name: String,
    summary: String,
    description: String,
    docs: String,
    issues: String,
    source: String,
    website: String,
    maintainers: Vec<String>,
    assumes: Vec<String>,
    provides: BTreeMap<String, Endpoint>,
    requires: BTreeMap<String, Endpoint>,
    peers: BTreeMap<String, Endpoint>,
}

fn charm() -> PathBuf {
    let path = root().join(format!("target/charm/example-control-plane_{}.charm", arch()));
    assert!(path.exists(), "{} is not there: run `make charm`", path.display());
    path
}

#[test]
fn it_has_the_same_executable_with_links_of_its_own_hooks_alone() {
    let (example, subordinate) = (entries(&charm()), entries(&super::charm()));
    assert_eq!(example["lockstep"].content, subordinate["lockstep"].content);
    let metadata: Metadata = read(&charm(), "metadata.yaml");
    let own = endpoints_of(&metadata.provides, &metadata.requires, &metadata.peers);
    let own: BTreeSet<&str> = own.iter().map(|(name, ..)| *name).collect();
    let links = |packed: &BTreeMap<String, super::Entry>| -> BTreeSet<String> {
        packed
            .keys()
            .filter(|name| name.starts_with("hooks/") || name.starts_with("actions/"))
            .cloned()
            .collect()
    };
    let related = |link: &String| link.split_once("-relation-").map(|(name, _)| name.replace("hooks/", ""));
    let expected = links(&subordinate).into_iter();
    let expected: BTreeSet<String> =
        expected.filter(|link| related(link).is_none_or(|name| own.contains(name.as_str()))).collect();
    assert_eq!(links(&example), expected);
    assert!(example.values().all(|entry| entry.system == 3));
    for name in ["metadata.yaml", "config.yaml", "actions.yaml", "README.md"] {
        let of_tree = fs_err::read(root().join(DIR).join(name)).unwrap();
        assert_eq!(example[name].content, of_tree, "{name}: run `make charm`");
    }
    let snaps = fs_err::read(root().join(DIR).join("charm/snaps.yaml")).unwrap();
    assert_eq!(example["snaps.yaml"].content, snaps);
}

#[test]
fn its_endpoints_are_lockstep_s_and_none_needs_a_principal() {
    let metadata: Metadata = read(&charm(), "metadata.yaml");
    let whole: super::Metadata = yaml("metadata.yaml");
    assert_eq!(metadata.assumes, whole.assumes);
    let all = super::endpoints(&whole);
    for (name, section, own) in endpoints_of(&metadata.provides, &metadata.requires, &metadata.peers) {
        let (_, there, like) = all.iter().find(|(other, ..)| *other == name).unwrap();
        assert_eq!((section, &own.interface, own.limit), (*there, &like.interface, like.limit), "{name}");
        assert_eq!(own.scope, None, "{name}");
    }
    assert!(metadata.peers.contains_key("peers"));
}

#[test]
fn its_actions_and_options_are_lockstep_s_but_for_three_defaults() {
    let packed: BTreeMap<String, Action> = read(&charm(), "actions.yaml");
    let whole: BTreeMap<String, Action> = yaml("actions.yaml");
    assert_eq!(format!("{packed:?}"), format!("{whole:?}"));
    let (packed, whole): (Config, Config) = (read(&charm(), "config.yaml"), yaml("config.yaml"));
    let shown = |config: &Config| -> BTreeMap<String, (String, String)> {
        let one = |value: &super::Value| value.default.as_ref().map(Scalar::shown).unwrap().1;
        config.options.iter().map(|(name, v)| (name.clone(), (one(v), v.description.clone()))).collect()
    };
    let mut expected = shown(&whole);
    for (name, default) in OTHER {
        expected.get_mut(name).unwrap().0 = default.to_owned();
    }
    assert_eq!(shown(&packed), expected);
}

#[test]
fn its_version_and_bases_are_told() {
    let version =
        stdout(&pack_py(root(), &["version", "--charm", &root().join(DIR).display().to_string()], "UTC"));
    assert_eq!(String::from_utf8(entries(&charm())["version"].content.clone()).unwrap(), version);
    assert_ne!(version, stdout(&pack_py(root(), &["version"], "UTC")), "another charm is another build");
    let (manifest, whole): (Manifest, Manifest) = (read(&charm(), "manifest.yaml"), yaml("manifest.yaml"));
    let shown = |bases: &[Base]| bases.iter().map(|base| base.channel.clone()).collect::<Vec<_>>();
    assert_eq!(shown(&manifest.bases), shown(&whole.bases));
}
