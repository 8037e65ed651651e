//! What became of a `snap` command, by what is to be done about it.

use serde::{Deserialize, Serialize};

/// The outcome of a command that alters the machine and did not fail. It is a word only: what is
/// true is seen by reading again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Done, or only the channel or key was stored: both print the same line.
    Done,
    /// Nothing was done: no updates available, or (install) the snap is there already, and channel
    /// and key were not applied.
    NothingToDo,
    /// The change waits for something outside of snapd, such as a restart of the machine.
    Waiting,
}

/// A command that failed, or gave an answer that nobody understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
#[error("{command}: {text}")]
pub struct Trouble {
    /// What is to be done about it.
    pub kind: TroubleKind,
    /// The command line without its values.
    pub command: String,
    /// The error text on one line, cohort keys shortened; at most 500 characters.
    pub text: String,
}

/// Kinds of trouble, told apart by their remedy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// Another change is at work on the snap (exit status 10): come back later.
    Busy,
    /// Processes of the snap run, which a refresh would not end.
    RunningApps {
        /// Their numbers, as far as snapd tells them (2.59 and newer).
        pids: Vec<u32>,
    },
    /// The store cannot be reached or fails: come back later.
    StoreUnreachable,
    /// The store answers 429: come back later.
    TooManyRequests,
    /// snapd does not answer, restarts, or its socket is not there: come back later.
    SnapdUnavailable,
    /// The client was ended, by its time limit or by somebody; the change goes on in snapd.
    Unfinished,
    /// No time is left for queries to the store in this pass; it was not asked.
    OutOfTime,
    /// The snap is not on this machine.
    NotInstalled,
    /// The store does not know the snap. From `info` of a snap that is not installed also a store
    /// that refused to answer: the texts are the same.
    NotFound,
    /// The store does not have that revision (any more).
    RevisionNotAvailable,
    /// The channel has no release, or its branch is gone.
    ChannelNotAvailable,
    /// The channel has releases for other architectures only.
    NotForArchitecture,
    /// Nothing fits channel and key: a channel that was closed when the key was made, or a bad key.
    NotAvailableAsSpecified,
    /// Installing needs consent to classic confinement.
    NeedsClassic,
    /// A local build, which only `--amend` would replace.
    Sideloaded,
    /// The snap is disabled.
    Disabled,
    /// The revision cannot read the data of the installed one.
    Epoch,
    /// The disk is full.
    DiskFull,
    /// snapd or the store asks for rights or a login.
    AccessDenied,
    /// This client does not know the command or flag.
    NotSupported,
    /// The command line was wrong: a fault of this charm.
    Usage,
    /// No such change.
    NoSuchChange,
    /// The change was begun, failed, and was undone.
    ChangeFailed,
    /// There is no `snap` command.
    NoSnapCommand,
    /// The answer is not in the form that it should have.
    NotUnderstood,
    /// Anything else, the store's own texts included: it has no code for a key that it refuses.
    Other,
}

impl TroubleKind {
    /// Whether it may be over by itself, so that trying again later makes sense. Otherwise somebody
    /// must do something first.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Busy
            | Self::RunningApps { .. }
            | Self::StoreUnreachable
            | Self::TooManyRequests
            | Self::SnapdUnavailable
            | Self::Unfinished
            | Self::OutOfTime => true,
            Self::NotInstalled
            | Self::NotFound
            | Self::RevisionNotAvailable
            | Self::ChannelNotAvailable
            | Self::NotForArchitecture
            | Self::NotAvailableAsSpecified
            | Self::NeedsClassic
            | Self::Sideloaded
            | Self::Disabled
            | Self::Epoch
            | Self::DiskFull
            | Self::AccessDenied
            | Self::NotSupported
            | Self::Usage
            | Self::NoSuchChange
            | Self::ChangeFailed
            | Self::NoSnapCommand
            | Self::NotUnderstood
            | Self::Other => false,
        }
    }

    /// Whether a refresh with a cohort key may have failed because of the key. snapd has no kind for
    /// a refused key, so this is all that can be said.
    pub fn may_be_the_key(&self) -> bool {
        matches!(
            self,
            Self::NotAvailableAsSpecified
                | Self::RevisionNotAvailable
                | Self::ChannelNotAvailable
                | Self::NotForArchitecture
                | Self::Other
        )
    }
}
