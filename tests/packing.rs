//! The packed charm, judged on the file that `make charm` makes and not on the build output: its
//! layout, what Juju would refuse, that no hook, action, endpoint or option is forgotten, that the
//! same tree gives the same bytes, and that the links run.
//!
//! Facts: juju/charm `charmarchive.go`, `meta.go`, `manifest.go`, `actions.go`, `config.go`;
//! juju/utils `zip/zip.go`. The lists of names here are written by hand, as the design has them, so
//! that nothing is added to or lost from the charm's interface by accident.

#![expect(
    clippy::disallowed_methods,
    reason = "the packer and the unpacked links are run as a person would run them"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail like tests"
)]

#[path = "packing/example.rs"]
mod example;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;
use zip::{CompressionMethod, ZipArchive};

/// name, section, interface, container scope, limit, optional
type Declared<'a> = (&'a str, &'a str, &'a str, bool, Option<u32>, bool);
const ENDPOINTS: [Declared<'static>; 10] = [
    ("cohorts", "provides", "snap_cohort", false, None, true),
    ("control-plane", "requires", "juju-info", true, None, true),
    ("cos-agent", "requires", "cos_agent", true, None, true),
    ("follow-cohorts", "requires", "snap_cohort", false, Some(1), true),
    ("grafana-dashboards-provider", "provides", "grafana_dashboard", false, None, true),
    ("logging-consumer", "requires", "loki_push_api", false, None, true),
    ("peers", "peers", "lockstep_peers", false, None, false),
    ("receive-ca-cert", "requires", "certificate_transfer", false, None, true),
    ("send-remote-write", "requires", "prometheus_remote_write", false, None, true),
    ("worker", "requires", "juju-info", true, None, true),
];

/// name, type, default
const OPTIONS: [(&str, &str, &str); 19] = [
    ("adopt-held", "boolean", "false"),
    ("channel", "string", ""),
    ("cohort-check-interval", "string", "1h"),
    ("cohort-refresh", "string", "auto"),
    ("collect", "string", "auto"),
    ("extra-alert-labels", "string", ""),
    ("forward-alert-rules", "boolean", "true"),
    ("forward-host-health", "string", "auto"),
    ("grant-timeout", "string", "30m"),
    ("hold-snaps", "boolean", "true"),
    ("install-missing", "boolean", "false"),
    ("kubeconfig", "string", ""),
    ("on-removal", "string", "restore"),
    ("pause-after-unit-refresh", "string", "none"),
    ("ready-timeout", "string", "10m"),
    ("refresh-window", "string", ""),
    ("role", "string", ""),
    (
        "snaps",
        "string",
        "kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy kubectl cdk-addons",
    ),
    ("worker-parallelism", "int", "1"),
];

/// name, and of each parameter: name, type, default, required
type Parameter = (&'static str, &'static str, Option<&'static str>, bool);
const ACTIONS: [(&str, &[Parameter]); 8] = [
    ("override-checks", &[("checks", "string", None, true)]),
    ("pre-upgrade-check", &[("channel", "string", Some(""), false)]),
    ("refresh-cohorts", &[("force", "boolean", Some("false"), false)]),
    ("resume-upgrade", &[]),
    ("retry-unit", &[("unit", "string", None, true)]),
    ("rollback", &[]),
    ("show-status", &[]),
    ("skip-unit", &[("force", "boolean", Some("false"), false), ("unit", "string", None, true)]),
];

/// The hooks that belong to no endpoint.
const HOOKS: [&str; 9] = [
    "install",
    "start",
    "stop",
    "remove",
    "config-changed",
    "upgrade-charm",
    "update-status",
    "leader-elected",
    "leader-settings-changed",
];

/// metadata.yaml, with every key that this charm uses: another one is a typing error.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
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
    subordinate: bool,
    assumes: Vec<String>,
    provides: BTreeMap<String, Endpoint>,
    requires: BTreeMap<String, Endpoint>,
    peers: BTreeMap<String, Endpoint>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Endpoint {
    interface: String,
    scope: Option<String>,
    limit: Option<u32>,
    optional: bool,
    description: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    options: BTreeMap<String, Value>,
}

/// An option, or a parameter of an action.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Value {
    r#type: String,
    default: Option<Scalar>,
    description: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Boolean(bool),
    Int(i64),
    Text(String),
}

impl Scalar {
    /// The type that Juju would see, and the value as text.
    fn shown(&self) -> (&'static str, String) {
        match self {
            Self::Boolean(value) => ("boolean", value.to_string()),
            Self::Int(value) => ("int", value.to_string()),
            Self::Text(value) => ("string", value.clone()),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Action {
    description: String,
    #[serde(default)]
    params: BTreeMap<String, Value>,
    #[serde(default)]
    required: BTreeSet<String>,
    additional_properties: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    bases: Vec<Base>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Base {
    name: String,
    channel: String,
    architectures: Vec<String>,
}

/// One entry of the zip.
#[derive(Debug)]
struct Entry {
    /// With the bits for the file type.
    mode: u32,
    /// 3 is Unix. From any other Juju takes no mode, and nothing is executable.
    system: u8,
    stored: bool,
    content: Vec<u8>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => panic!("lockstep is not packed for {other}"),
    }
}

/// The file that all of this is about.
fn charm() -> PathBuf {
    let path = root().join(format!("target/charm/lockstep_{}.charm", arch()));
    assert!(path.exists(), "{} is not there: run `make charm`", path.display());
    path
}

fn entries(path: &Path) -> BTreeMap<String, Entry> {
    let raw = fs_err::read(path).unwrap();
    let mut archive = ZipArchive::new(File::open(path).unwrap()).unwrap();
    let mut found = BTreeMap::new();
    let mut order = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).unwrap();
        let name = file.name().unwrap().into_owned();
        let at = usize::try_from(file.central_header_start()).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        let entry = Entry {
            mode: file.unix_mode().unwrap_or_else(|| panic!("{name} has no mode")),
            // "version made by" follows the four bytes of the header's mark; its upper byte.
            system: raw[at + 5],
            stored: file.compression() == CompressionMethod::Stored,
            content,
        };
        order.push(name.clone());
        assert!(found.insert(name.clone(), entry).is_none(), "{name} is there twice");
    }
    assert!(order.is_sorted(), "the entries are not sorted: {order:?}");
    found
}

/// A YAML file of the packed charm.
fn yaml<T: serde::de::DeserializeOwned>(name: &str) -> T {
    read(&charm(), name)
}

/// A YAML file of a packed charm.
fn read<T: serde::de::DeserializeOwned>(charm: &Path, name: &str) -> T {
    let packed = entries(charm);
    let text = String::from_utf8(packed[name].content.clone()).unwrap();
    serde_saphyr::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All endpoints with the section that each is in.
fn endpoints(metadata: &Metadata) -> Vec<(&str, &'static str, &Endpoint)> {
    endpoints_of(&metadata.provides, &metadata.requires, &metadata.peers)
}

type Endpoints = BTreeMap<String, Endpoint>;

fn endpoints_of<'a>(
    provides: &'a Endpoints,
    requires: &'a Endpoints,
    peers: &'a Endpoints,
) -> Vec<(&'a str, &'static str, &'a Endpoint)> {
    let sections = [("provides", provides), ("requires", requires), ("peers", peers)];
    let mut all: Vec<_> = sections
        .iter()
        .flat_map(|(section, names)| names.iter().map(|(name, endpoint)| (name.as_str(), *section, endpoint)))
        .collect();
    all.sort_by_key(|(name, ..)| *name);
    all
}

/// `packing/pack.py` of a tree, run from elsewhere, so that it must find that tree by itself.
fn pack_py(tree: &Path, arguments: &[&str], zone: &str) -> Output {
    Command::new("python3")
        .arg("-B")
        .arg(tree.join("packing/pack.py"))
        .args(arguments)
        .current_dir("/")
        .env("TZ", zone)
        .output()
        .expect("python3 runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The executable inside the charm, as a file, for packing it again.
fn executable(folder: &Path) -> PathBuf {
    let path = folder.join("executable");
    fs_err::write(&path, &entries(&charm())["lockstep"].content).unwrap();
    path
}

/// Juju's form of a charm's name (juju/charm `url.go`): parts of letters and digits, joined by single
/// hyphens, the first beginning with a letter, and a letter in each.
fn is_charm_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.split('-').all(|part| {
            part.contains(|c: char| c.is_ascii_lowercase())
                && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        })
}

/// Juju's form of an action's name (juju/charm `actions.go`).
fn is_action_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.starts_with(plain) && name.ends_with(plain) && name.chars().all(|c| plain(c) || c == '-')
}

#[test]
fn the_layout_is_exactly_what_is_meant_to_be_packed() {
    let packed = entries(&charm());
    let mut expected: BTreeSet<String> = [
        "lockstep",
        "metadata.yaml",
        "config.yaml",
        "actions.yaml",
        "manifest.yaml",
        "version",
        "README.md",
        "LICENSE",
        "icon.svg",
    ]
    .map(str::to_owned)
    .into();
    expected.extend(HOOKS.map(|hook| format!("hooks/{hook}")));
    for (endpoint, ..) in ENDPOINTS {
        expected.extend(
            ["created", "joined", "changed", "departed", "broken"]
                .map(|what| format!("hooks/{endpoint}-relation-{what}")),
        );
    }
    expected.extend(ACTIONS.map(|(action, _)| format!("actions/{action}")));
    // An equality: nothing forgotten, no `./` before a name, no folder entries, no sources or build output.
    assert_eq!(packed.keys().cloned().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn every_hook_and_action_is_a_relative_link_to_the_one_executable() {
    for (name, entry) in entries(&charm()) {
        assert_eq!(entry.system, 3, "{name}");
        if name.starts_with("hooks/") || name.starts_with("actions/") {
            assert_eq!(entry.mode, 0o120777, "{name}");
            assert!(entry.stored, "{name}");
            assert_eq!(entry.content, b"../lockstep", "{name}");
        } else if name == "lockstep" {
            assert_eq!(entry.mode, 0o100755, "{name}");
        } else {
            assert_eq!(entry.mode, 0o100644, "{name}");
        }
    }
}

#[test]
fn files_of_the_tree_are_packed_byte_for_byte() {
    let packed = entries(&charm());
    for name in ["metadata.yaml", "config.yaml", "actions.yaml", "README.md", "LICENSE"] {
        assert_eq!(
            packed[name].content,
            fs_err::read(root().join(name)).unwrap(),
            "{name}: run `make charm`"
        );
    }
    assert_eq!(packed["icon.svg"].content, fs_err::read(root().join("charm/icon.svg")).unwrap());
}

#[test]
fn the_version_names_this_tree() {
    let packed = entries(&charm());
    let text = std::str::from_utf8(&packed["version"].content).unwrap();
    assert_eq!(
        text,
        stdout(&pack_py(root(), &["version"], "UTC")),
        "the charm is of another tree: run `make charm`"
    );
    let line = text.strip_suffix('\n').expect("one line");
    // Juju shows the first 100 characters.
    assert!(line.len() <= 100 && !line.contains('\n'), "{line:?}");
    let digest =
        line.strip_prefix(concat!(env!("CARGO_PKG_VERSION"), "-")).expect("the crate's version first");
    assert!(digest.len() == 8 && digest.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{line}");
}

#[test]
fn the_manifest_names_three_bases_and_22_04_is_the_default() {
    let manifest: Manifest = yaml("manifest.yaml");
    let bases: Vec<_> = manifest
        .bases
        .iter()
        .map(|base| (base.name.as_str(), base.channel.as_str(), base.architectures.join(" ")))
        .collect();
    let arch = arch().to_owned();
    assert_eq!(bases, ["22.04", "24.04", "20.04"].map(|channel| ("ubuntu", channel, arch.clone())));
    // An unquoted channel is a number to YAML 1.1, which Juju refuses.
    let packed = entries(&charm());
    let text = std::str::from_utf8(&packed["manifest.yaml"].content).unwrap();
    assert_eq!(text.matches("channel: \"").count(), 3, "{text}");
}

#[test]
fn the_executable_is_static_and_for_this_architecture() {
    let packed = entries(&charm());
    let elf = &packed["lockstep"].content;
    let number = |at: usize, width: usize| {
        elf[at..at + width].iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    // Of the ELF-64 header: mark, 64 bits, little end first; e_machine; e_phoff, e_phentsize, e_phnum.
    assert_eq!(elf[..6], *b"\x7fELF\x02\x01");
    assert_eq!(number(18, 2), if arch() == "amd64" { 62 } else { 183 });
    let (offset, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    assert!(count > 0);
    for index in 0..count {
        // p_type 3 is PT_INTERP: the loader of a dynamic executable, bound to the builder's glibc.
        assert_ne!(number(offset + index * size, 4), 3, "the executable needs a loader");
    }
}

#[test]
fn metadata_holds_what_juju_demands_and_nothing_that_it_refuses() {
    let metadata: Metadata = yaml("metadata.yaml");
    assert_eq!(metadata.name, "lockstep");
    assert!(is_charm_name(&metadata.name));
    assert!((2..=40).contains(&metadata.display_name.chars().count()));
    assert!(
        metadata.summary.chars().count() <= 78 && !metadata.summary.contains('\n'),
        "{}",
        metadata.summary
    );
    assert!(!metadata.description.trim().is_empty());
    assert!(!metadata.maintainers.is_empty());
    for link in [&metadata.docs, &metadata.issues, &metadata.source, &metadata.website] {
        assert!(link.starts_with("https://"), "{link}");
    }
    assert!(metadata.subordinate);
    assert_eq!(metadata.assumes, ["juju >= 3.1"]);
    // Without one Juju refuses a subordinate; a container-scoped `provides` does not count.
    assert!(metadata.requires.values().any(|endpoint| endpoint.scope.as_deref() == Some("container")));
    let all = endpoints(&metadata);
    let names: BTreeSet<_> = all.iter().map(|(name, ..)| name).collect();
    assert_eq!(names.len(), all.len(), "a name is in two sections");
    for (name, section, endpoint) in all {
        let reserved = |text: &str| text == "juju" || text.starts_with("juju-");
        assert!(!reserved(name), "{name}");
        assert!(!reserved(&endpoint.interface) || section == "requires", "{name}");
        assert!(!endpoint.description.trim().is_empty(), "{name}");
        assert!(matches!(endpoint.scope.as_deref(), None | Some("global" | "container")), "{name}");
    }
}

#[test]
fn endpoints_are_those_of_the_design() {
    let metadata: Metadata = yaml("metadata.yaml");
    let found: Vec<Declared<'_>> = endpoints(&metadata)
        .iter()
        .map(|(name, section, endpoint)| {
            let container = endpoint.scope.as_deref() == Some("container");
            let interface = endpoint.interface.as_str();
            (*name, *section, interface, container, endpoint.limit, endpoint.optional)
        })
        .collect();
    assert_eq!(found, ENDPOINTS);
}

#[test]
fn options_are_those_of_the_design_and_each_default_has_its_type() {
    let config: Config = yaml("config.yaml");
    let mut found = Vec::new();
    for (name, option) in &config.options {
        let (kind, default) = option.default.as_ref().expect("each option has a default").shown();
        assert_eq!(kind, option.r#type, "{name}: the default is of another type");
        assert!(!option.description.trim().is_empty(), "{name}");
        assert!(!name.contains('_'), "{name}");
        found.push((name.as_str(), kind, default));
    }
    assert_eq!(found, OPTIONS.map(|(name, kind, default)| (name, kind, default.to_owned())));
}

#[test]
fn actions_are_those_of_the_design_and_take_no_other_parameters() {
    let actions: BTreeMap<String, Action> = yaml("actions.yaml");
    let found: Vec<_> = actions.keys().map(String::as_str).collect();
    assert_eq!(found, ACTIONS.map(|(name, _)| name));
    for (name, expected) in ACTIONS {
        let action = &actions[name];
        assert!(is_action_name(name) && !name.starts_with("juju"), "{name}");
        assert!(!action.additional_properties, "{name}");
        assert!(!action.description.trim().is_empty(), "{name}");
        assert!(action.required.iter().all(|one| action.params.contains_key(one)), "{name}");
        let mut found = Vec::new();
        for (param, value) in &action.params {
            assert!(!value.description.trim().is_empty(), "{name} {param}");
            let default = value.default.as_ref().map(Scalar::shown);
            if let Some((kind, _)) = &default {
                assert_eq!(*kind, value.r#type, "{name} {param}");
            }
            let required = action.required.contains(param);
            found.push((param.as_str(), value.r#type.as_str(), default.map(|(_, text)| text), required));
        }
        let expected: Vec<_> = expected
            .iter()
            .map(|(param, kind, default, required)| (*param, *kind, default.map(str::to_owned), *required))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn two_packings_of_one_tree_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let executable = executable(folder.path());
    // The zone and the state of the folder must not matter.
    let packed = ["UTC", "Asia/Tokyo"].map(|zone| {
        let output = folder.path().join(zone.replace('/', "-"));
        for _ in 0..2 {
            let arguments = ["--arch", arch(), "--executable"].map(str::to_owned);
            let paths = [&executable, &output].map(|path| path.to_str().unwrap());
            let arguments: Vec<&str> =
                arguments.iter().map(String::as_str).chain([paths[0], "--output", paths[1]]).collect();
            stdout(&pack_py(root(), &arguments, zone));
        }
        fs_err::read(output).unwrap()
    });
    assert!(packed[0] == packed[1]);
    let left: BTreeSet<_> =
        fs_err::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "an unfinished file is left: {left:?}");
}

#[test]
fn the_form_for_charmcraft_has_one_dispatch_and_no_links() {
    let folder = tempfile::tempdir().unwrap();
    let executable = executable(folder.path());
    let output = folder.path().join("dispatch.charm");
    let paths = [&executable, &output].map(|path| path.to_str().unwrap());
    let arguments = ["--form", "dispatch", "--arch", arch(), "--executable", paths[0], "--output", paths[1]];
    stdout(&pack_py(root(), &arguments, "UTC"));
    let packed = entries(&output);
    assert_eq!(packed["dispatch"].mode, 0o100755);
    assert_eq!(packed["dispatch"].content, entries(&charm())["lockstep"].content);
    for name in packed.keys() {
        assert!(!name.contains('/') && name != "lockstep", "{name}");
    }
}

/// What the packer needs of a tree, without git; `change` is made to metadata.yaml.
fn tree_without_git(folder: &Path, change: impl Fn(String) -> String) {
    for name in ["packing", "src", "charm"] {
        fs_err::create_dir(folder.join(name)).unwrap();
    }
    for name in [
        "packing/pack.py",
        "charm/icon.svg",
        "src/main.rs",
        "Cargo.toml",
        "Cargo.lock",
        "config.yaml",
        "actions.yaml",
        "README.md",
        "LICENSE",
    ] {
        fs_err::copy(root().join(name), folder.join(name)).unwrap();
    }
    let metadata = fs_err::read_to_string(root().join("metadata.yaml")).unwrap();
    fs_err::write(folder.join("metadata.yaml"), change(metadata)).unwrap();
}

#[test]
fn the_charm_build_changes_with_any_source_and_with_nothing_else() {
    let build = |change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        tree_without_git(folder.path(), |text| text);
        change(folder.path());
        stdout(&pack_py(folder.path(), &["version"], "UTC"))
    };
    let write = |name: &'static str| move |tree: &Path| fs_err::write(tree.join(name), "changed").unwrap();
    let plain = build(&|_| ());
    assert_eq!(build(&write("README.md")), plain);
    for name in ["src/main.rs", "src/new.rs", "charm/icon.svg", "config.yaml", "Cargo.lock"] {
        assert_ne!(build(&write(name)), plain, "{name}");
    }
}

#[test]
fn the_packer_refuses_a_form_of_metadata_that_it_does_not_understand() {
    let refused = |from: &str, to: &str| {
        let folder = tempfile::tempdir().unwrap();
        tree_without_git(folder.path(), |text| {
            assert!(text.contains(from), "{from:?} is not in metadata.yaml");
            text.replacen(from, to, 1)
        });
        let executable = executable(folder.path());
        let arguments = ["--arch", arch(), "--executable", executable.to_str().unwrap()];
        let output = pack_py(folder.path(), &arguments, "UTC");
        assert_eq!(output.status.code(), Some(1), "{to:?} was taken");
        assert!(!folder.path().join("target/charm").exists());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.starts_with("pack.py: metadata.yaml") && message.lines().count() == 1, "{message}");
    };
    refused("  worker:\n", "  worker: {interface: juju-info}\n");
    refused("  worker:\n", "  \"worker\":\n");
    refused("  worker:\n", "   worker:\n");
    refused("  worker:\n", "\tworker:\n");
    refused("  worker:\n", "  cohorts:\n");
    refused("requires:\n", "provides:\n");
    refused("peers:\n", "peers: # us\n");
    refused("peers:\n", "---\npeers:\n");
}

#[test]
fn unpacked_links_run_without_crashing_in_an_empty_environment() {
    let folder = tempfile::tempdir().unwrap();
    ZipArchive::new(File::open(charm()).unwrap()).unwrap().extract(folder.path()).unwrap();
    for name in ["hooks/update-status", "actions/show-status"] {
        let link = folder.path().join(name);
        assert!(link.is_symlink(), "{name}");
        let output = Command::new(&link)
            .current_dir(folder.path())
            .env_clear()
            .output()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        // Without a unit's agent it cannot do its work; it must say so, not die of a signal.
        assert!(output.status.code().is_some(), "{name}: {}", output.status);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(!messages.contains("panicked"), "{name}: {messages}");
    }
}
