//! What alters a machine: `snap refresh`, `switch`, `install`, and holds.
//!
//! One snap a command: with several names the client drops `--cohort` and `--revision` in silence.

use super::{MOVE_LIMIT, NOTE_LIMIT, Reach, Snap, cohort_flag};
use crate::snap::{Answer, Channel, CohortKey, Revision, SnapName, Trouble};
use std::collections::BTreeSet;
use std::time::Duration;

/// Where a snap is to go within its channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To<'a> {
    /// Where its channel and its stored cohort key lead.
    Tracked,
    /// Where that cohort leads, up or down; the key is stored.
    Cohort(&'a CohortKey),
    /// To that revision, for this time. snapd refuses it together with a key.
    Revision(Revision),
}

/// A snap, and where it is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Move<'a> {
    /// The snap.
    pub name: &'a SnapName,
    /// The channel to follow from now on; none for the one that it follows (when it is installed:
    /// `latest/stable`).
    pub channel: Option<&'a Channel>,
    /// Where in it.
    pub to: To<'a>,
}

impl Move<'_> {
    fn args(&self, command: &str) -> Vec<String> {
        let mut args = vec![command.to_owned(), self.name.to_string()];
        args.extend(self.channel.map(channel_flag));
        match self.to {
            To::Tracked => {}
            To::Cohort(key) => args.push(cohort_flag(key)),
            To::Revision(revision) => args.push(format!("--revision={revision}")),
        }
        args
    }
}

/// What to store of a snap without moving it. The next refresh, perhaps snapd's own, acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchTo<'a> {
    /// Another channel.
    Channel(&'a Channel),
    /// Another cohort. snapd does not ask the store, so a bad key is accepted.
    Cohort(&'a CohortKey),
    /// No cohort.
    LeaveCohort,
}

impl Snap {
    /// Moves a snap and waits up to ten minutes; then the client is ended and the change goes on
    /// (`Unfinished`). Holds do not stop it. With `ignore_running` open processes of the snap do not
    /// either.
    pub fn refresh(&self, to: Move<'_>, ignore_running: bool) -> Result<Answer, Trouble> {
        let mut args = to.args("refresh");
        args.extend(ignore_running.then(|| "--ignore-running".to_owned()));
        self.alter(args, MOVE_LIMIT)
    }

    /// Installs a snap, and waits as for a refresh. If it is there already nothing is done, and
    /// channel and key are not applied. `classic` gives consent to classic confinement.
    pub fn install(&self, to: Move<'_>, classic: bool) -> Result<Answer, Trouble> {
        let mut args = to.args("install");
        args.extend(classic.then(|| "--classic".to_owned()));
        self.alter(args, MOVE_LIMIT)
    }

    /// Stores something about a snap without moving it.
    pub fn switch(&self, name: &SnapName, to: SwitchTo<'_>) -> Result<Answer, Trouble> {
        let flag = match to {
            SwitchTo::Channel(channel) => channel_flag(channel),
            SwitchTo::Cohort(key) => cohort_flag(key),
            SwitchTo::LeaveCohort => "--leave-cohort".to_owned(),
        };
        self.alter(vec!["switch".to_owned(), name.to_string(), flag], NOTE_LIMIT)
    }

    /// Holds snapd's own refreshes of these snaps for ever. `NotSupported` before 2.58. One name that
    /// is not installed fails all.
    pub fn hold(&self, names: &BTreeSet<SnapName>) -> Result<(), Trouble> {
        self.holds("--hold=forever", names)
    }

    /// Takes holds of these snaps off; none there is fine.
    pub fn unhold(&self, names: &BTreeSet<SnapName>) -> Result<(), Trouble> {
        self.holds("--unhold", names)
    }

    fn holds(&self, flag: &str, names: &BTreeSet<SnapName>) -> Result<(), Trouble> {
        // Without a name it would be the whole machine.
        if names.is_empty() {
            return Ok(());
        }
        let mut args = vec!["refresh".to_owned(), flag.to_owned()];
        args.extend(names.iter().map(ToString::to_string));
        self.alter(args, NOTE_LIMIT).map(|_| ())
    }

    fn alter(&self, args: Vec<String>, limit: Duration) -> Result<Answer, Trouble> {
        Ok(self.run(args, Reach::Change(limit))?.answer)
    }
}

fn channel_flag(channel: &Channel) -> String {
    format!("--channel={channel}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_bound_to_its_flag() {
        let name = "kubelet".parse().unwrap();
        let channel: Channel = "1.30".parse().unwrap();
        let key = "KEYONE==".parse().unwrap();
        let args = |channel, to| Move { name: &name, channel, to }.args("refresh").join(" ");
        assert_eq!(args(None, To::Tracked), "refresh kubelet");
        let both = "refresh kubelet --channel=1.30/stable --cohort=KEYONE==";
        assert_eq!(args(Some(&channel), To::Cohort(&key)), both);
        assert_eq!(args(None, To::Revision(Revision::Store(41))), "refresh kubelet --revision=41");
    }
}
