//! Large values on disk, one file a digest, so that the index stays small and equal values of many
//! units are kept once.

use crate::databag::{Digest, Values};
use fs_err as fs;
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The directory of value files.
#[derive(Debug, Clone)]
pub struct Store {
    dir: PathBuf,
}

impl Store {
    /// The store in that directory, which need not exist yet.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Adds the texts of these digests to `values`. False if one is missing or damaged.
    pub fn load(&self, wanted: &BTreeSet<Digest>, values: &mut Values) -> bool {
        wanted.iter().all(|digest| {
            if values.has(digest) {
                return true;
            }
            match fs::read_to_string(self.path(digest)) {
                Ok(text) if Digest::of(&text) == *digest => {
                    values.share(*digest, Arc::from(text));
                    true
                }
                Ok(_) | Err(_) => false,
            }
        })
    }

    /// Writes the texts that are wanted and not yet there, and removes files that are not wanted.
    pub fn save(&self, wanted: &BTreeSet<Digest>, values: &Values) -> io::Result<()> {
        let mut present = BTreeSet::new();
        for entry in fs::read_dir(&self.dir)? {
            let name = entry?.file_name();
            match name.to_str().and_then(|name| name.parse::<Digest>().ok()) {
                Some(digest) if wanted.contains(&digest) => {
                    present.insert(digest);
                }
                Some(_) | None => fs::remove_file(self.dir.join(name))?,
            }
        }
        for digest in wanted.difference(&present) {
            if let Some(text) = values.get(digest) {
                replace(&self.path(digest), text.as_bytes())?;
            }
        }
        Ok(())
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.dir.join(digest.to_string())
    }
}

/// Writes a file whole or not at all: mode 0600, by rename.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&beside)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", beside.display())))?;
    file.write_all(bytes)?;
    fs::rename(beside, path)
}
