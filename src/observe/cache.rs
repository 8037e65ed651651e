//! The cache on disk: an index, a store of large values, and the in-flight mark.
//!
//! It only repeats what can be read again. Whatever is wrong with it costs one full read, never a
//! wrong decision, so no fault of it fails a pass.

use super::forwarding;
use super::index::Index;
use super::store::{Store, replace};
use crate::databag::dashboard::Memo;
use crate::databag::{Digest, Values};
use crate::juju::{Context, RelationId};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

/// Raised whenever the meaning of the index changes.
const FORMAT: u32 = 2;

/// What a cache belongs to; one that belongs to something else is as good as lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Binding {
    format: u32,
    model_uuid: String,
    unit: String,
    build: String,
}

/// What is kept between two passes.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// The parts that were read.
    pub index: Index,
    /// The number of the last pass that buffered a write.
    pub pass: u64,
    /// How many update-status passes there were since everything was read.
    pub ticks: u32,
    /// Results of decoding.
    pub memo: Memo,
    /// What the last pass wrote to outgoing application databags, by digest.
    pub outgoing: BTreeMap<RelationId, Digest>,
}

#[derive(Serialize, Deserialize)]
struct File {
    binding: Binding,
    pass: u64,
    ticks: u32,
    index: Index,
    memo: Memo,
    outgoing: BTreeMap<RelationId, Digest>,
}

/// The cache of one unit.
#[derive(Debug, Clone)]
pub struct Cache {
    dir: PathBuf,
    binding: Binding,
    store: Store,
}

impl Cache {
    /// The cache beside the charm directory of that unit.
    pub fn new(context: &Context, build: &str) -> Self {
        let dir = context.own_dir();
        let binding = Binding {
            format: FORMAT,
            model_uuid: context.model_uuid.clone(),
            unit: context.unit.to_string(),
            build: build.to_owned(),
        };
        Self { store: Store::new(dir.join("values")), dir, binding }
    }

    /// What the last pass kept; none if it is lost, damaged, or somebody else's.
    pub fn load(&self) -> Option<Kept> {
        let bytes = fs::read(self.index_path()).ok()?;
        let (sum, body) = bytes.split_at_checked(33)?;
        let body = std::str::from_utf8(body).ok()?;
        if sum.strip_suffix(b"\n")? != Digest::of(body).to_string().as_bytes() {
            return None;
        }
        let file: File = serde_json::from_str(body).ok()?;
        (file.binding == self.binding).then_some(Kept {
            index: file.index,
            pass: file.pass,
            ticks: file.ticks,
            memo: file.memo,
            outgoing: file.outgoing,
        })
    }

    /// Keeps what was read, with those of `values` that the index speaks of.
    pub fn save(&self, kept: Kept, values: &Values) -> io::Result<()> {
        self.make_dirs()?;
        self.store.save(&forwarding::wanted(&kept.index), values)?;
        let Kept { index, pass, ticks, memo, outgoing } = kept;
        let file = File { binding: self.binding.clone(), pass, ticks, index, memo, outgoing };
        let body = serde_json::to_string(&file)?;
        replace(&self.index_path(), format!("{}\n{body}", Digest::of(&body)).as_bytes())
    }

    /// Reads large values; false if one is missing or damaged.
    pub fn load_values(&self, wanted: &BTreeSet<Digest>, values: &mut Values) -> bool {
        self.store.load(wanted, values)
    }

    fn index_path(&self) -> PathBuf {
        self.dir.join("cache")
    }

    fn make_dirs(&self) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(self.dir.join("values"))
    }
}

/// The mark of a hook in flight: set before the first read, taken off at the end of the pass. One
/// that is still there says that the hook before was not carried out to its end.
#[derive(Debug, Clone)]
pub struct Mark {
    path: PathBuf,
}

impl Mark {
    /// The mark of that unit.
    pub fn new(context: &Context) -> Self {
        Self { path: context.own_dir().join("in-flight") }
    }

    /// Whether a hook is marked as in flight.
    pub fn is_set(&self) -> bool {
        self.path.exists()
    }

    /// Marks a hook.
    pub fn set(&self, hook: &str) -> io::Result<()> {
        if let Some(dir) = self.path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        replace(&self.path, hook.as_bytes())
    }

    /// Takes the mark off.
    pub fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }
}
