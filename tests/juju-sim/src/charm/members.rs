//! The members of a charm file, or of a folder that stands for one.

use std::io::{self, Read, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err as fs;
use zip::{System, ZipArchive};

use super::archive::Error;

/// One member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    /// As the file names it.
    pub(super) name: String,
    /// Of the permissions only.
    pub(super) mode: u32,
    pub(super) content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    Folder,
    File(Vec<u8>),
    /// With its target.
    Link(String),
    /// A device or the like, by the type bits of its mode.
    Other(u32),
}

/// All members, in the order of the file.
pub(super) fn read(path: &Path) -> Result<Vec<Member>, Error> {
    if fs::metadata(path)?.is_dir() {
        let mut members = Vec::new();
        read_folder(path, "", &mut members)?;
        return Ok(members);
    }
    let mut archive = ZipArchive::new(fs::File::open(path)?)?;
    (0..archive.len()).map(|index| read_entry(&mut archive, index)).collect()
}

/// Types and permissions as Go's archive/zip sees them.
fn read_entry(archive: &mut ZipArchive<impl Read + Seek>, index: usize) -> Result<Member, Error> {
    const FOLDER: u32 = 0o040_000;
    const LINK: u32 = 0o120_000;
    const FILE: u32 = 0o100_000;
    let mut entry = archive.by_index(index)?;
    let name = entry.name()?.into_owned();
    let attributes = entry.external_attributes();
    let unix = matches!(entry.system(), System::Unix | System::OsDarwin);
    let (mut kind, mode) = match (unix, attributes & 0x10 != 0, attributes & 0x01 != 0) {
        (true, ..) => ((attributes >> 16) & 0o170_000, (attributes >> 16) & 0o777),
        (false, true, _) => (FOLDER, 0o777),
        (false, false, true) => (FILE, 0o444),
        (false, false, false) => (FILE, 0o666),
    };
    if name.ends_with('/') {
        kind = FOLDER;
    }
    let mut data = Vec::new();
    let content = match kind {
        FOLDER => Content::Folder,
        LINK => {
            entry.read_to_end(&mut data)?;
            Content::Link(String::from_utf8_lossy(&data).into_owned())
        }
        // No type at all is a file.
        FILE | 0 => {
            entry.read_to_end(&mut data)?;
            Content::File(data)
        }
        other => Content::Other(other),
    };
    Ok(Member { name, mode, content })
}

fn read_folder(path: &Path, prefix: &str, members: &mut Vec<Member>) -> Result<(), Error> {
    let mut entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let metadata = fs::symlink_metadata(entry.path())?;
        let mode = metadata.permissions().mode() & 0o777;
        if metadata.is_dir() {
            members.push(Member { name: format!("{name}/"), mode, content: Content::Folder });
            read_folder(&entry.path(), &format!("{name}/"), members)?;
            continue;
        }
        let content = if metadata.is_symlink() {
            Content::Link(fs::read_link(entry.path())?.to_string_lossy().into_owned())
        } else if metadata.is_file() {
            Content::File(fs::read(entry.path())?)
        } else {
            Content::Other(metadata.permissions().mode() & 0o170_000)
        };
        members.push(Member { name, mode, content });
    }
    Ok(())
}

/// The name without `.` and `..` parts, as Go's `path.Clean` has it. A `/` at the start stays.
pub(super) fn clean(name: &str) -> String {
    let rooted = name.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}
