//! A charm as it is deployed: a `.charm` file, or a folder with the same content.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use fs_err as fs;

use super::actions::Actions;
use super::config::Config;
use super::hooks;
use super::manifest::Manifest;
use super::members::{self, Content, Member, clean};
use super::metadata::Metadata;
use super::unpack;
use crate::wire::go_text::quote;

/// Why a charm is not taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Juju refuses it, with this text.
    #[error("{0}")]
    Refused(String),
    /// The disk does not give or take it.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Not a zip file.
    #[error(transparent)]
    Zip(#[from] zip::result::ZipError),
}

/// A charm that passed all checks.
#[derive(Debug, Clone, PartialEq)]
pub struct CharmFiles {
    /// Where it was read from.
    pub source: PathBuf,
    /// metadata.yaml
    pub metadata: Metadata,
    /// config.yaml
    pub config: Config,
    /// actions.yaml
    pub actions: Actions,
    /// manifest.yaml
    pub manifest: Manifest,
    /// Shown in status: the first line of the file `version`, or nothing.
    pub version: String,
    /// Of the file `revision`, or 0.
    pub revision: i64,
    /// The cleaned names of all members, `revision` included.
    pub members: BTreeSet<String>,
}

/// Read and check a charm, as `juju deploy` and the controller do together.
pub fn open(path: &Path) -> Result<CharmFiles, Error> {
    let members = members::read(path)?;
    let file = |name: &str| content(&members, name);
    let metadata = file("metadata.yaml")?
        .ok_or_else(|| Error::Refused("archive file \"metadata.yaml\" not found".to_owned()))?;
    let metadata = Metadata::parse(&metadata).map_err(Error::Refused)?;
    let in_manifest = |why: String| Error::Refused(format!("parsing \"manifest.yaml\" file: {why}"));
    let manifest =
        file("manifest.yaml")?.map(|text| Manifest::parse(&text)).transpose().map_err(in_manifest)?;
    let config = file("config.yaml")?.map(|text| Config::parse(&text)).transpose().map_err(Error::Refused)?;
    let actions = file("actions.yaml")?.map(|text| Actions::parse(&metadata.name, &text)).transpose();
    let actions = actions.map_err(Error::Refused)?.unwrap_or_default();
    let revision = match file("revision")? {
        None => 0,
        Some(text) => {
            let number = text.split_whitespace().next().and_then(|word| word.parse().ok());
            number.ok_or_else(|| Error::Refused("invalid revision file".to_owned()))?
        }
    };
    let version = file("version")?.unwrap_or_default();
    metadata.check(manifest.as_ref()).map_err(Error::Refused)?;
    if !has_hooks_or_dispatch(&members) {
        let name = quote(&metadata.name);
        return Err(Error::Refused(format!("invalid charm {name}: has no hooks nor dispatch file")));
    }
    let Some(manifest) = manifest.filter(|manifest| !manifest.bases.is_empty()) else {
        return Err(Error::Refused("charm does not define any bases".to_owned()));
    };
    let names = members.iter().map(|member| clean(&member.name)).filter(|name| name != ".");
    Ok(CharmFiles {
        source: path.to_owned(),
        metadata,
        config: config.unwrap_or_default(),
        actions,
        manifest,
        version: first_line(&version),
        revision,
        members: names.chain(["revision".to_owned()]).collect(),
    })
}

/// Open a charm and unpack it into a folder, which is made if it is not there.
pub fn unpack(file: &Path, dir: &Path) -> Result<CharmFiles, Error> {
    let charm = open(file)?;
    unpack::extract(&members::read(file)?, dir)?;
    unpack::fix_hooks(dir, &hooks::known(&charm.metadata))?;
    fs::write(dir.join("revision"), charm.revision.to_string())?;
    Ok(charm)
}

/// Replace the charm in a folder: members that only the old one has are deleted, the new ones made anew, and files
/// that the charm itself made stay.
pub fn upgrade(dir: &Path, old_members: &BTreeSet<String>, file: &Path) -> Result<CharmFiles, Error> {
    let new = open(file)?;
    for gone in old_members.difference(&new.members).filter(|name| is_below(name)) {
        unpack::remove(&dir.join(gone))?;
    }
    unpack(file, dir)
}

fn is_below(name: &str) -> bool {
    !name.starts_with('/') && name != ".." && !name.starts_with("../")
}

/// The file of exactly this name; `./metadata.yaml` is another one.
fn content(members: &[Member], name: &str) -> Result<Option<String>, Error> {
    let Some(member) = members.iter().find(|member| member.name == name) else {
        return Ok(None);
    };
    let bytes = match &member.content {
        Content::File(bytes) => bytes.clone(),
        // Read out of the archive, a link is a file with its target as the text.
        Content::Link(target) => target.clone().into_bytes(),
        Content::Folder | Content::Other(_) => return Ok(None),
    };
    let invalid = |_| Error::Refused(format!("juju-sim: {name} is not UTF-8"));
    String::from_utf8(bytes).map(Some).map_err(invalid)
}

/// A file or link directly in `hooks/`, or any path with `dispatch` in it.
fn has_hooks_or_dispatch(members: &[Member]) -> bool {
    members.iter().any(|Member { name, content, .. }| {
        let hook = name.strip_prefix("hooks/").is_some_and(|hook| !hook.is_empty() && !hook.contains('/'));
        name.contains("dispatch") || (hook && matches!(content, Content::File(_) | Content::Link(_)))
    })
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("revision-id: ").unwrap_or(line).chars().take(100).collect()
}

#[cfg(test)]
mod tests;
