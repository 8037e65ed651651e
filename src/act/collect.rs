//! One step of collection. Files that may hold a secret have mode 0600 from their first byte on, and come
//! into the collector's directory whole.

use crate::databag::Hidden;
use crate::decide::collection::{id_of, places, snap as collector};
use crate::juju::{Context, UnitName};
use crate::observed::collection::{Done, Failure, Step};
use crate::snap::Trouble;
use crate::tools::otelcol;
use crate::tools::snap::Snap;
use fs_err as fs;
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Carries out one step. None of them fails a hook.
pub fn collect(snap: &Snap, context: &Context, step: &Step) -> Result<Done, Failure> {
    let files = Files { root: &context.root, unit: &context.unit };
    let name = collector();
    match step {
        Step::Lock { name } => files.lock(name).map_err(io_failure),
        Step::Bundle { text } => files.bundle(text.as_deref()).map_err(io_failure),
        Step::Place { text } => files.place(text.as_ref()).map_err(io_failure),
        Step::Withdraw => files.withdraw().map_err(io_failure),
        Step::Validate { text } => Ok(if files.accepts(snap, text)? { Done::Done } else { Done::Refused }),
        Step::Probe { parts } => {
            let mut culprits = std::collections::BTreeSet::new();
            for (principal, text) in parts {
                if !files.accepts(snap, text)? {
                    culprits.insert(principal.clone());
                }
            }
            Ok(Done::Culprits(culprits))
        }
        Step::Alter(alteration) => done(super::alter(snap, alteration)),
        // It is read where what is observed is kept.
        Step::ReadConnections => Ok(Done::Done),
        Step::ConnectPlug { plug, slot } => {
            done(snap.connect(&format!("{name}:{plug}"), &format!(":{slot}")))
        }
        Step::Connect { slot } => done(snap.connect(&format!("{name}:logs"), &slot.to_string())),
        Step::Disconnect { slot } => done(snap.disconnect(&format!("{name}:logs"), &slot.to_string())),
        Step::Start => done(snap.start(&name)),
        Step::Restart => done(snap.restart(&name)),
        Step::Stop => done(snap.stop(&name)),
        Step::RemoveSnap => done(snap.remove(&name)),
    }
}

fn done<T>(outcome: Result<T, Trouble>) -> Result<Done, Failure> {
    outcome.map(|_| Done::Done).map_err(|trouble| Failure::from(&trouble))
}

fn io_failure(error: io::Error) -> Failure {
    Failure { transient: true, unsupported: false, text: error.to_string() }
}

/// The files of one unit.
struct Files<'a> {
    root: &'a Path,
    unit: &'a UnitName,
}

impl Files<'_> {
    fn below(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    fn own(&self) -> PathBuf {
        self.below(places::CONFIG).join(format!("{}.yaml", id_of(self.unit)))
    }

    fn bundle_path(&self) -> PathBuf {
        self.below(places::COMMON).join(format!("{}-ca.pem", id_of(self.unit)))
    }

    fn lock(&self, name: &str) -> io::Result<Done> {
        self.unlock(Some(name))?;
        let dir = self.below(places::LOCKS);
        fs::create_dir_all(&dir)?;
        write(&dir.join(name), format!("lockstep {}\n", self.unit).as_bytes(), 0o644)?;
        Ok(Done::Done)
    }

    /// Takes the unit's lock files away but for one.
    fn unlock(&self, but: Option<&str>) -> io::Result<()> {
        let ending = format!("__{}", id_of(self.unit));
        for name in names(&self.below(places::LOCKS))? {
            if name.starts_with(places::LOCK) && name.ends_with(&ending) && Some(name.as_str()) != but {
                remove(&self.below(places::LOCKS).join(name))?;
            }
        }
        Ok(())
    }

    fn bundle(&self, text: Option<&str>) -> io::Result<Done> {
        match text {
            None => remove(&self.bundle_path())?,
            Some(text) => {
                fs::create_dir_all(self.below(places::COMMON))?;
                let new = self.bundle_path().with_extension("new");
                write(&new, text.as_bytes(), 0o644)?;
                fs::rename(new, self.bundle_path())?;
            }
        }
        Ok(Done::Done)
    }

    fn place(&self, text: Option<&Hidden>) -> io::Result<Done> {
        let Some(text) = text else {
            remove(&self.own())?;
            return Ok(Done::Done);
        };
        fs::create_dir_all(self.below(places::CONFIG))?;
        // The queue holds log lines.
        let queue = self.below(places::COMMON).join("lockstep");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(queue)?;
        let new = self.written(text)?;
        fs::rename(new, self.own())?;
        Ok(Done::Done)
    }

    /// Writes a configuration beside the directory in which it would be in force.
    fn written(&self, text: &Hidden) -> io::Result<PathBuf> {
        let beside = self.below(places::BESIDE);
        fs::create_dir_all(&beside)?;
        let new = beside.join(format!("{}.new", id_of(self.unit)));
        remove(&new)?;
        write(&new, text.expose().as_bytes(), 0o600)?;
        Ok(new)
    }

    fn accepts(&self, snap: &Snap, text: &Hidden) -> Result<bool, Failure> {
        let file = self.written(text).map_err(io_failure)?;
        let outcome = otelcol::validate(snap.runner(), &self.below(places::PROGRAM), &file);
        remove(&file).map_err(io_failure)?;
        outcome.map_err(|error| Failure { transient: true, unsupported: false, text: error.to_string() })
    }

    fn withdraw(&self) -> io::Result<Done> {
        remove(&self.own())?;
        remove(&self.below(places::BESIDE).join(format!("{}.new", id_of(self.unit))))?;
        remove(&self.bundle_path())?;
        self.unlock(None)?;
        Ok(Done::Done)
    }
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    file.write_all(bytes)
}

/// Removes a file that may not be there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The names in a directory that may not be there.
fn names(dir: &Path) -> io::Result<Vec<String>> {
    match fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_file_with_secrets_is_never_readable_by_others_and_everything_goes() {
        let root = tempfile::tempdir().unwrap();
        let unit = "lockstep/3".parse().unwrap();
        let files = Files { root: root.path(), unit: &unit };
        let mode = |path: &str| {
            std::fs::metadata(root.path().join(path)).map(|m| m.permissions().mode() & 0o777).ok()
        };
        files.lock("LCK..opentelemetry-collector--rev79__lockstep_3").unwrap();
        files.lock("LCK..opentelemetry-collector--rev80__lockstep_3").unwrap();
        assert_eq!(names(&root.path().join("opt/singleton_snaps")).unwrap().len(), 1);
        files.bundle(Some("pem")).unwrap();
        files.place(Some(&Hidden::new("s3cret"))).unwrap();
        assert_eq!(mode("etc/otelcol/config.d/lockstep_3.yaml"), Some(0o600));
        assert_eq!(mode("var/snap/opentelemetry-collector/common/lockstep_3-ca.pem"), Some(0o644));
        assert_eq!(mode("var/snap/opentelemetry-collector/common/lockstep"), Some(0o700));
        assert_eq!(names(&root.path().join("etc/otelcol")).unwrap(), ["config.d"]);
        files.withdraw().unwrap();
        files.withdraw().unwrap();
        assert_eq!(names(&root.path().join("etc/otelcol/config.d")).unwrap(), Vec::<String>::new());
        assert_eq!(names(&root.path().join("opt/singleton_snaps")).unwrap(), Vec::<String>::new());
        assert_eq!(mode("var/snap/opentelemetry-collector/common/lockstep_3-ca.pem"), None);
    }
}
