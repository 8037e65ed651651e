//! Where an agent's files are on a machine, and how a charm gets there.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use fs_err as fs;

use crate::world::unit_tag;

/// Files from this size on are linked, not copied: an executable of some megabytes for each of many units.
const LINK_FROM: u64 = 64 << 10;

/// The places below the root directory of one machine.
#[derive(Debug, Clone)]
pub struct Paths {
    /// Stands for `/` of that machine.
    pub root: PathBuf,
}

impl Paths {
    /// Where the unit agent and its charm may keep files: beside the charm directory.
    pub fn agent(&self, unit: &str) -> PathBuf {
        self.root.join("var/lib/juju/agents").join(unit_tag(unit))
    }

    /// `JUJU_CHARM_DIR`
    pub fn charm(&self, unit: &str) -> PathBuf {
        self.agent(unit).join("charm")
    }

    /// The links to hook tools.
    pub fn tools(&self, unit: &str) -> PathBuf {
        self.root.join("var/lib/juju/tools").join(unit_tag(unit))
    }

    /// `JUJU_AGENT_SOCKET_ADDRESS`
    pub fn socket(&self, unit: &str) -> PathBuf {
        self.agent(unit).join("agent.socket")
    }

    /// The links to programs of the machine that are not Juju's.
    pub fn programs(&self) -> PathBuf {
        self.root.join("usr/bin")
    }

    /// Where those programs reach the simulator.
    pub fn machine_socket(&self) -> PathBuf {
        self.root.join("run/machine.socket")
    }

    /// The simulated time.
    pub fn clock(&self) -> PathBuf {
        self.root.join("run/clock")
    }
}

/// What is at the place of a hook, action or dispatch file, as Go's `exec.LookPath` sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Can be run.
    Runs,
    /// Absent, or a link to nothing.
    Missing,
    /// Exists, but is no executable file.
    Denied,
}

/// Looks for a script.
pub fn look(path: &Path) -> Script {
    match fs::metadata(path) {
        Err(_) => Script::Missing,
        Ok(meta) if meta.is_file() && meta.permissions().mode() & 0o111 != 0 => Script::Runs,
        Ok(_) => Script::Denied,
    }
}

/// Makes a symbolic link anew.
pub fn link(target: &Path, at: &Path) -> io::Result<()> {
    if fs::symlink_metadata(at).is_ok() {
        fs::remove_file(at)?;
    }
    symlink(target, at)
}

/// Writes a file in one step.
pub fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let temporary = path.with_extension("new");
    fs::write(&temporary, text)?;
    fs::rename(&temporary, path)
}

/// Every file and link below a directory, relative, in order.
pub fn walk(dir: &Path) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(dir.join(&below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                open.push(path);
            } else if let Some(text) = path.to_str() {
                found.insert(text.to_owned());
            }
        }
    }
    Ok(found)
}

/// Puts a charm's files into a unit's charm directory: each is removed and made anew, and what the charm before had
/// and this one lacks is removed (worker/uniter/charm/manifest_deployer.go). Gives the new list of files.
pub fn unpack(from: &Path, to: &Path, before: &BTreeSet<String>) -> io::Result<BTreeSet<String>> {
    let files = walk(from)?;
    fs::create_dir_all(to)?;
    for gone in before.difference(&files) {
        remove_if_there(&to.join(gone))?;
    }
    for file in &files {
        let target = to.join(file);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        remove_if_there(&target)?;
        copy(&from.join(file), &target)?;
    }
    Ok(files)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    if meta.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if meta.size() >= LINK_FROM && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map(|_| ())
}

/// Copies a whole directory tree; sockets are left out.
pub fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_file() || kind.is_symlink() {
            copy(&entry.path(), &target)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// Deletes what matches a pattern below a directory, files and whole directories; gives what was deleted. Within one
/// part of the path `*` stands for any text and `?` for one character.
pub fn delete_matching(dir: &Path, pattern: &str) -> io::Result<Vec<String>> {
    let mut places = vec![PathBuf::new()];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        let mut next = Vec::new();
        for place in places {
            let Ok(entries) = fs::read_dir(dir.join(&place)) else { continue };
            let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
            names.sort();
            next.extend(
                names.iter().filter(|n| n.to_str().is_some_and(|n| matches(part, n))).map(|n| place.join(n)),
            );
        }
        places = next;
    }
    let mut deleted = Vec::new();
    for place in places {
        let path = dir.join(&place);
        match fs::symlink_metadata(&path)?.is_dir() {
            true => fs::remove_dir_all(&path)?,
            false => fs::remove_file(&path)?,
        }
        deleted.push(place.display().to_string());
    }
    Ok(deleted)
}

fn matches(pattern: &str, name: &str) -> bool {
    let mut chars = pattern.chars();
    match chars.next() {
        None => name.is_empty(),
        Some('*') => {
            let rest = chars.as_str();
            matches(rest, name)
                || name.char_indices().any(|(at, c)| matches(rest, &name[at + c.len_utf8()..]))
        }
        Some('?') => name.chars().next().is_some_and(|c| matches(chars.as_str(), &name[c.len_utf8()..])),
        Some(wanted) => name.strip_prefix(wanted).is_some_and(|rest| matches(chars.as_str(), rest)),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("*", "a", true),
            ("*.json", "a.json", true),
            ("*.json", "a.json.x", false),
            ("a?c", "abc", true),
            ("a*b*c", "axxbyyc", true),
            ("a", "ab", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
