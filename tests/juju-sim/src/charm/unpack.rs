//! Members onto disk, as juju/utils zip.go and juju/charm charmarchive.go do it.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err as fs;
use fs_err::os::unix::fs::{OpenOptionsExt as _, symlink};

use super::archive::Error;
use super::members::{Content, Member, clean};
use crate::wire::go_text::quote;

/// The unit agent's: nobody else may write.
const UMASK: u32 = 0o022;

/// Create all members. Each one that is there already is removed first, so that a running program keeps its file.
pub(super) fn extract(members: &[Member], dir: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir)?;
    for member in members {
        create(member, dir).map_err(|why| match why {
            Error::Refused(why) => {
                Error::Refused(format!("cannot extract {}: {why}", quote(&clean(&member.name))))
            }
            Error::Io(_) | Error::Zip(_) => why,
        })?;
    }
    Ok(())
}

fn create(member: &Member, dir: &Path) -> Result<(), Error> {
    let name = inside(&member.name);
    let path = dir.join(&name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match &member.content {
        Content::Folder => {
            let known = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir());
            if !known {
                remove(&path)?;
                fs::create_dir_all(&path)?;
            }
            fs::set_permissions(&path, Permissions::from_mode(member.mode & !UMASK))?;
        }
        Content::Link(target) => {
            check_target(&name, target)?;
            remove(&path)?;
            symlink(target, &path)?;
        }
        Content::File(data) => {
            remove(&path)?;
            let mode = member.mode & !UMASK;
            let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)?;
            file.write_all(data)?;
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
        Content::Other(kind) => return Err(Error::Refused(format!("unknown file type {kind}"))),
    }
    Ok(())
}

/// The name below the charm folder, whatever the archive says.
fn inside(name: &str) -> String {
    let cleaned = clean(name);
    let mut rest = cleaned.trim_start_matches('/');
    while let Some(below) = rest.strip_prefix("../") {
        rest = below;
    }
    rest.to_owned()
}

fn check_target(name: &str, target: &str) -> Result<(), Error> {
    if target.starts_with('/') {
        return Err(Error::Refused(format!("symlink {} is absolute", quote(target))));
    }
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let end = clean(&format!("./{folder}/{target}"));
    if end == ".." || end.starts_with("../") {
        return Err(Error::Refused(format!("symlink {} leads out of scope", quote(target))));
    }
    Ok(())
}

/// Remove whatever is there, folders with all they hold.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    let metadata = match fs::symlink_metadata(path) {
        // Below a file there is nothing either.
        Err(why) if matches!(why.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(());
        }
        other => other?,
    };
    if metadata.is_dir() {
        fs::remove_dir_all(path)?
    } else {
        fs::remove_file(path)?
    }
    Ok(())
}

/// Make known hooks executable: real files directly in `hooks/`, by name.
pub(super) fn fix_hooks(dir: &Path, known: &BTreeSet<String>) -> Result<(), Error> {
    for name in known {
        let path = dir.join("hooks").join(name);
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        let mode = metadata.permissions().mode();
        if metadata.is_file() && mode & 0o100 == 0 {
            fs::set_permissions(&path, Permissions::from_mode((mode & 0o777) | 0o100))?;
        }
    }
    Ok(())
}
