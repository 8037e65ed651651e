//! Which application of lockstep owns this machine: two that moved the same snaps would fight.

use crate::juju::{AppName, Context};
use fs_err as fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

/// The lock file of this machine. `/run` is empty after a boot, so a lock never outlives its owner for
/// longer than that.
#[derive(Debug, Clone)]
pub struct Owner {
    path: PathBuf,
    own: String,
}

impl Owner {
    /// The lock file as that unit's application sees it.
    pub fn new(context: &Context) -> Self {
        let own = format!("{} {}\n", context.model_uuid, context.application());
        Self { path: context.root.join("run/lockstep/owner"), own }
    }

    /// Takes the machine for the own application if nobody has it. Gives the other one that has it.
    pub fn claim(&self) -> io::Result<Option<String>> {
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir)?;
        }
        let mut options = std::fs::OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(&self.path) {
            Ok(mut file) => file.write_all(self.own.as_bytes()).map(|()| None),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.other(),
            Err(error) => Err(error),
        }
    }

    /// The other application that has the machine, without taking it.
    pub fn other(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.path) {
            Ok(held) if held == self.own => Ok(None),
            Ok(held) => Ok(application(&held)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives the machine up, if the own application has it. Another unit of it takes it again.
    pub fn release(&self) -> io::Result<()> {
        match fs::read_to_string(&self.path) {
            Ok(held) if held == self.own => fs::remove_file(&self.path),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// The application in a lock file; one that was cut while it was written names nobody.
fn application(held: &str) -> Option<String> {
    let (_, app) = held.trim_end().split_once(' ')?;
    app.parse::<AppName>().ok().map(|app| app.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_application_owns_the_machine_until_it_gives_it_up() {
        let root = tempfile::tempdir().unwrap();
        let owner = |app: &str| {
            let path = root.path().join("run/lockstep/owner");
            Owner { path, own: format!("7d1f3c2a {app}\n") }
        };
        let (first, second) = (owner("lockstep"), owner("lockstep-two"));
        assert_eq!(first.claim().unwrap(), None);
        assert_eq!(first.claim().unwrap(), None);
        assert_eq!(second.claim().unwrap(), Some("lockstep".to_owned()));
        second.release().unwrap();
        assert_eq!(second.claim().unwrap(), Some("lockstep".to_owned()));
        first.release().unwrap();
        assert_eq!(second.claim().unwrap(), None);
        assert_eq!(first.claim().unwrap(), Some("lockstep-two".to_owned()));
    }
}
