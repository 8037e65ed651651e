//! A charm as the controller takes it: from a directory or a packed file, or from endpoints alone.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use serde::Deserialize;

use crate::charm::actions::Actions;
use crate::charm::archive;
use crate::charm::config::Config;
use crate::charm::metadata::{Endpoint, Metadata, Role as MetadataRole, Scope};
use crate::world::{Charm, EndpointDef, Role};

/// What a scenario says of a scripted charm: the part of metadata.yaml that relations need.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScriptedMetadata {
    name: String,
    #[serde(default)]
    subordinate: bool,
    #[serde(default)]
    provides: BTreeMap<String, Entry>,
    #[serde(default)]
    requires: BTreeMap<String, Entry>,
    #[serde(default)]
    peers: BTreeMap<String, Entry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Entry {
    Interface(String),
    Full {
        interface: String,
        #[serde(default)]
        scope: Option<String>,
        #[serde(default)]
        limit: Option<i64>,
    },
}

impl ScriptedMetadata {
    /// The charm that this describes, if Juju would take it.
    pub fn charm(&self) -> Result<Charm> {
        let mut endpoints = Vec::new();
        let roles = [
            (MetadataRole::Provides, &self.provides),
            (MetadataRole::Requires, &self.requires),
            (MetadataRole::Peers, &self.peers),
        ];
        for (role, entries) in roles {
            for (name, entry) in entries {
                let (interface, scope, limit) = match entry {
                    Entry::Interface(interface) => (interface, None, None),
                    Entry::Full { interface, scope, limit } => (interface, scope.as_deref(), *limit),
                };
                let scope = if scope == Some("container") { Scope::Container } else { Scope::Global };
                let (name, interface) = (name.clone(), interface.clone());
                endpoints.push(Endpoint { name, role, interface, scope, limit, optional: false });
            }
        }
        let (name, subordinate) = (self.name.clone(), self.subordinate);
        let metadata = Metadata { name, subordinate, endpoints, ..Metadata::default() };
        metadata.check(None).map_err(|e| anyhow!("charm {}: {e}", self.name))?;
        let mut charm = from_metadata(&metadata);
        charm.scripted = true;
        Ok(charm)
    }
}

fn from_metadata(metadata: &Metadata) -> Charm {
    let endpoints = metadata.endpoints.iter().map(|endpoint| {
        let role = match endpoint.role {
            MetadataRole::Provides => Role::Provides,
            MetadataRole::Requires => Role::Requires,
            MetadataRole::Peers => Role::Peer,
        };
        let def = EndpointDef {
            role,
            interface: endpoint.interface.clone(),
            container: endpoint.scope == Scope::Container,
            limit: endpoint.limit,
        };
        (endpoint.name.clone(), def)
    });
    Charm {
        name: metadata.name.clone(),
        revision: 0,
        scripted: false,
        subordinate: metadata.subordinate,
        endpoints: endpoints.collect(),
        config: Config::default(),
        actions: Actions::default(),
        assumes: None,
        version: String::new(),
        source: None,
    }
}

/// Unpacks a charm into a directory of the simulator's own, by Juju's rules and with Juju's checks.
pub fn store(path: &Path, dir: &Path) -> Result<Charm> {
    let files = archive::unpack(path, dir).with_context(|| format!("charm {}", path.display()))?;
    let mut charm = from_metadata(&files.metadata);
    charm.config = files.config;
    charm.actions = files.actions;
    charm.assumes = files.metadata.assumes;
    charm.version = files.version;
    charm.source = Some(dir.to_owned());
    Ok(charm)
}
