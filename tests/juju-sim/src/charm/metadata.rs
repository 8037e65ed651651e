//! metadata.yaml: its content, and the checks of juju/charm meta.go.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::assumes::Assumes;
use super::manifest::Manifest;
use super::schema::{self, unexpected};
use crate::wire::go_text::quote;
use crate::wire::yaml_v2;

/// The content of metadata.yaml that matters on a machine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Metadata {
    /// Of the charm.
    pub name: String,
    /// One line.
    pub summary: String,
    /// Long text.
    pub description: String,
    /// Deployed into the containers of principals.
    pub subordinate: bool,
    /// Provided first, then required, then peers; each by name.
    pub endpoints: Vec<Endpoint>,
    /// What the model must offer.
    pub assumes: Option<Assumes>,
    /// Old form of the bases.
    pub series: Vec<String>,
    /// Names of storage.
    pub storage: Vec<String>,
    /// Names of workload containers.
    pub containers: Vec<String>,
    /// Old form of `assumes`.
    pub min_juju_version: Option<String>,
}

/// One endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// As relations name it.
    pub name: String,
    /// Which side it is.
    pub role: Role,
    /// Both sides name the same.
    pub interface: String,
    /// Which units see each other.
    pub scope: Scope,
    /// Most relations at a time.
    pub limit: Option<i64>,
    /// Not enforced by Juju.
    pub optional: bool,
}

/// The side of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Under `provides`.
    Provides,
    /// Under `requires`.
    Requires,
    /// Under `peers`.
    Peers,
}

/// The scope of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All units see all units.
    Global,
    /// Only units in the same container see each other.
    Container,
}

const ROLES: [(Role, &str); 3] =
    [(Role::Provides, "provides"), (Role::Requires, "requires"), (Role::Peers, "peers")];
const OLD_KEYS: [&str; 3] = ["deployment", "min-juju-version", "series"];
const NEW_KEYS: [&str; 3] = ["assumes", "charm-user", "containers"];

impl Metadata {
    /// Read the file. What needs the other files is left to [`Metadata::check`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(root) = yaml_v2::document(text.as_bytes())?.filter(|root| !root.is_null()) else {
            // Nothing at all passes here and has no name.
            return Ok(Self::default());
        };
        root.entries_as("map[interface {}]interface {}")?;
        let raw = root.object()?;
        refuse_mixed_keys(&raw)?;
        let mut metadata = read(&raw).map_err(|why| format!("metadata: {why}"))?;
        if raw.contains_key("deployment") && metadata.series.is_empty() {
            return Err("charm with deployment metadata must declare at least one series".to_owned());
        }
        if let Some(user) =
            schema::optional_string(&raw, "charm-user").map_err(|why| format!("metadata: {why}"))?
            && !["root", "sudoer", "non-root"].contains(&user.as_str())
        {
            let user = quote(&user);
            return Err(format!(
                "parsing charm-user: invalid charm-user {user} expected one of root, sudoer or non-root"
            ));
        }
        metadata.assumes = raw.get("assumes").map(Assumes::parse).transpose()?;
        Ok(metadata)
    }

    /// The endpoint of this name.
    pub fn endpoint(&self, name: &str) -> Option<&Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.name == name)
    }

    /// The checks over the whole file, and against manifest.yaml.
    pub fn check(&self, manifest: Option<&Manifest>) -> Result<(), String> {
        if !is_charm_name(&self.name) {
            return Err(format!("name {} not valid", quote(&self.name)));
        }
        self.check_format(manifest)?;
        self.check_endpoints()?;
        let container =
            |endpoint: &Endpoint| endpoint.role == Role::Requires && endpoint.scope == Scope::Container;
        if self.subordinate && !self.endpoints.iter().any(container) {
            let name = quote(&self.name);
            return Err(format!("subordinate charm {name} lacks \"requires\" relation with container scope"));
        }
        Ok(())
    }

    /// A manifest with a base makes the metadata version 2. Juju itself falls back to version 1 if there are series;
    /// here they are refused beside a manifest, as nothing good comes of both.
    fn check_format(&self, manifest: Option<&Manifest>) -> Result<(), String> {
        let refused = |what: &str| Err(format!("{what} not valid"));
        if manifest.is_some_and(|manifest| !manifest.bases.is_empty()) || !self.containers.is_empty() {
            if !self.series.is_empty() {
                return refused("metadata v2 manifest.yaml with series slice");
            }
            if self.min_juju_version.is_some() {
                return refused("min-juju-version in metadata v2");
            }
        } else if self.assumes.is_some() {
            return refused("assumes in metadata v1");
        }
        Ok(())
    }

    fn check_endpoints(&self) -> Result<(), String> {
        let charm = quote(&self.name);
        let mut names = BTreeSet::new();
        for Endpoint { name, role, interface, scope, .. } in &self.endpoints {
            let exempt = self.subordinate && (*role, *scope) == (Role::Requires, Scope::Container);
            if !exempt && self.is_reserved(name) {
                return Err(format!("charm {charm} using a reserved relation name: {}", quote(name)));
            }
            if *role != Role::Requires && self.is_reserved(interface) {
                let (name, interface) = (quote(name), quote(interface));
                return Err(format!("charm {charm} relation {name} using a reserved interface: {interface}"));
            }
            if !names.insert(name) {
                return Err(format!("charm {charm} using a duplicated relation name: {}", quote(name)));
            }
        }
        Ok(())
    }

    fn is_reserved(&self, name: &str) -> bool {
        !self.name.starts_with("juju-") && (name == "juju" || name.starts_with("juju-"))
    }
}

/// `^[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*$`: no part after a hyphen without a letter.
pub fn is_charm_name(name: &str) -> bool {
    let parts_fit = name.split('-').all(|part| {
        part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && part.bytes().any(|b| b.is_ascii_lowercase())
    });
    parts_fit && name.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Keys of version 1 and version 2 do not go together; those of the version that comes first by name are "matched".
fn refuse_mixed_keys(raw: &Map<String, Value>) -> Result<(), String> {
    let present = |keys: [&str; 3]| -> Vec<String> {
        keys.iter().filter(|key| raw.contains_key(**key)).map(|key| quote(key)).collect()
    };
    let (old, new) = (present(OLD_KEYS), present(NEW_KEYS));
    if old.is_empty() || new.is_empty() {
        return Ok(());
    }
    let (matched, mismatched) = if old < new { (old, new) } else { (new, old) };
    let (matched, mismatched) = (matched.join(", "), mismatched.join(", "));
    Err(format!("ambiguous metadata: keys {mismatched} cannot be used with {matched}"))
}

fn read(raw: &Map<String, Value>) -> Result<Metadata, String> {
    let mut endpoints = Vec::new();
    for (role, key) in ROLES {
        for (name, entry) in schema::map(raw, key)? {
            endpoints.push(endpoint(name, role, entry, &format!("{key}.{name}"))?);
        }
    }
    let names = |key: &str| -> Result<Vec<String>, String> {
        Ok(schema::map(raw, key)?.into_iter().map(|(name, _)| name.clone()).collect())
    };
    for key in ["categories", "tags", "terms"] {
        schema::strings(raw, key)?;
    }
    Ok(Metadata {
        name: schema::string(raw, "name")?,
        summary: schema::string(raw, "summary")?,
        description: schema::string(raw, "description")?,
        subordinate: schema::boolean(raw, "subordinate")?.unwrap_or(false),
        endpoints,
        assumes: None,
        series: schema::strings(raw, "series")?,
        storage: names("storage")?,
        containers: names("containers")?,
        min_juju_version: schema::optional_string(raw, "min-juju-version")?,
    })
}

/// A string is the interface; a map has more.
fn endpoint(name: &str, role: Role, entry: &Value, path: &str) -> Result<Endpoint, String> {
    let mut endpoint = Endpoint {
        name: name.to_owned(),
        role,
        interface: String::new(),
        scope: Scope::Global,
        limit: None,
        optional: false,
    };
    let map = match entry {
        Value::String(interface) => {
            endpoint.interface.clone_from(interface);
            return Ok(endpoint);
        }
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(unexpected(path, "map", entry));
        }
    };
    let at = |key: &str| format!("{path}.{key}");
    endpoint.interface = schema::as_string(map.get("interface").unwrap_or(&Value::Null), &at("interface"))?;
    endpoint.scope = match map.get("scope").map(|scope| (scope.as_str(), scope)) {
        None | Some((Some("global"), _)) => Scope::Global,
        Some((Some("container"), _)) => Scope::Container,
        Some((_, scope)) => return Err(unexpected_constant(&at("scope"), scope)),
    };
    endpoint.limit = match map.get("limit") {
        None | Some(Value::Null) => None,
        Some(limit) => Some(schema::as_int(limit).ok_or_else(|| unexpected_constant(&at("limit"), limit))?),
    };
    if let Some(optional) = map.get("optional") {
        endpoint.optional =
            schema::as_bool(optional).ok_or_else(|| unexpected(&at("optional"), "bool", optional))?;
    }
    Ok(endpoint)
}

fn unexpected_constant(path: &str, got: &Value) -> String {
    format!("{path}: unexpected value {}", crate::wire::go_text::literal(got))
}

#[cfg(test)]
mod tests;
