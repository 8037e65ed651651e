//! The vocabulary of snaps: names, channels, revisions, cohort keys, what a machine has and what the
//! store offers. No I/O; every value that can reach an argument list is validated on its way in, and
//! none of them can begin with a dash.
//!
//! Facts: snapcore/snapd 2.57 to 2.68, `snap/naming`, `snap/channel`, `cmd/snap`.

mod alteration;
mod architecture;
mod change;
mod channel;
mod cohort_key;
mod connection;
mod constraint;
mod heads;
mod installed;
mod minor;
mod mount;
mod name;
mod order;
mod packed;
mod revision;
mod trouble;

pub use alteration::{Alteration, Place, Relocation};
pub use architecture::Architecture;
pub use change::{Change, ChangeId, Service, Task};
pub use channel::{Channel, Risk};
pub use cohort_key::{CohortKey, KeyDigest};
pub use connection::Connection;
pub use constraint::{Constraint, Version};
pub use heads::{Head, Heads, Hold, Info, Local};
pub use installed::{Installed, Notes, Tracking};
pub use minor::{Minor, SnapdVersion};
pub use mount::{Mount, parse_mounts};
pub use name::SnapName;
pub use order::KubernetesOrder;
pub use packed::{PACKED, PACKED_LIMIT, Packed, PackedSnap, parse_packed};
pub use revision::Revision;
pub use trouble::{Answer, Trouble, TroubleKind};

/// Why a text is not what it should be: the text, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {what}: {why}")]
pub struct SnapTextError {
    text: String,
    what: &'static str,
    why: &'static str,
}

impl SnapTextError {
    fn new(text: &str, what: &'static str, why: &'static str) -> Self {
        // It may be anybody's text, of any length.
        Self { text: text.chars().take(80).collect(), what, why }
    }
}

/// Serde as a string, with the validation of `FromStr`.
macro_rules! as_string {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}
use as_string;
