//! What snapd and the kernel say about this machine: never cached, since it is what an effect changes.

use super::collection;
use super::kube::below;
use crate::decide::collection::snap as collector;
use crate::observed::rollout::Snapd;
use crate::snap::{Architecture, SnapName, SnapdVersion, Trouble, TroubleKind};
use crate::tools::snap::Snap;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The kernel's name of the machine's architecture (Linux 6.1 or newer).
const ARCH: &str = "/proc/sys/kernel/arch";

/// The machine's architecture, as the kernel tells it; where it does not, what this executable is for.
pub fn architecture(root: &Path) -> Architecture {
    let told = fs::read_to_string(below(root, ARCH)).unwrap_or_default();
    Architecture::of_kernel(told.trim()).unwrap_or_else(Architecture::of_this_machine)
}

/// Reads what snapd says. `changes` is only asked where a move may be under way; services where there is
/// a managed snap or a collector.
pub fn read(snap: &Snap, root: &Path, managed: &BTreeSet<SnapName>, changes: bool) -> Snapd {
    let installed = match snap.list() {
        // A machine without snapd has no snaps.
        Err(Trouble { kind: TroubleKind::NoSnapCommand, .. }) => return Snapd::default(),
        Err(trouble) => return silent(trouble),
        Ok(installed) => installed,
    };
    let any = installed.keys().any(|name| managed.contains(name));
    let collects = installed.contains_key(&collector()) || collection::agent_is_configured(root);
    // The version says only whether a snap can be held: where all are, there is nothing to ask.
    let unheld = installed.iter().any(|(name, snap)| managed.contains(name) && !snap.notes.held());
    Snapd {
        services: if any || collects { snap.services() } else { Ok(BTreeMap::new()) },
        changes: if any && changes { snap.in_flight(managed) } else { Ok(BTreeMap::new()) },
        version: installed
            .get(&snapd_snap())
            .and_then(|snapd| SnapdVersion::parse(snapd.version.as_deref()?))
            .or_else(|| if unheld { snap.version().ok().flatten() } else { None }),
        installed: Ok(installed),
    }
}

fn snapd_snap() -> SnapName {
    #[expect(clippy::unwrap_used, reason = "a constant, read by a test")]
    "snapd".parse().unwrap()
}

/// snapd did not answer the first question, so it is not asked another: each may take 20 s.
fn silent(trouble: Trouble) -> Snapd {
    Snapd {
        installed: Err(trouble.clone()),
        changes: Err(trouble.clone()),
        services: Err(trouble),
        version: None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_of_snapd_is_one() {
        assert_eq!(super::snapd_snap().as_str(), "snapd");
    }
}
