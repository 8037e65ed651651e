//! `snaps.yaml`, a file that may be packed into the charm: which snaps it is for, and where each of
//! them is to be. Anybody may have written it by hand, so a fault names its place.
//!
//! ```yaml
//! snaps:
//!   kubelet:
//!     channel: 1.32/stable
//!     revision: {amd64: 4567, arm64: 4568}   # optional
//!     upgrade-supported: ^1.31               # optional
//! ```

use super::{Architecture, Channel, Constraint, Revision, SnapName};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Its name in the charm directory.
pub const PACKED: &str = "snaps.yaml";
/// The longest file that is read, in bytes.
pub const PACKED_LIMIT: u64 = 64 << 10;

/// Where the packed file wants each snap.
pub type Packed = BTreeMap<SnapName, PackedSnap>;

/// Where one snap is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedSnap {
    /// The channel.
    pub channel: Channel,
    /// The revision in it, by architecture; none for one: whatever the channel has.
    pub revisions: BTreeMap<Architecture, Revision>,
    /// The versions from which an upgrade to it is supported; none: any.
    pub supported: Option<Constraint>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    snaps: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Entry {
    channel: String,
    #[serde(default)]
    revision: BTreeMap<String, u32>,
    #[serde(default)]
    upgrade_supported: Option<String>,
}

/// Reads the file's text. The error says where it is wrong, and what is.
pub fn parse_packed(text: &str) -> Result<Packed, String> {
    let file: File = serde_saphyr::from_str(text).map_err(|error| {
        let line = error.to_string();
        line.lines().next().unwrap_or("not YAML").trim().to_owned()
    })?;
    let mut packed = Packed::new();
    for (name, entry) in file.snaps {
        let at = format!("snaps.{name}");
        let key: SnapName = name.parse().map_err(|error| format!("{at}: {error}"))?;
        let channel = entry.channel.parse().map_err(|error| format!("{at}.channel: {error}"))?;
        let mut revisions = BTreeMap::new();
        for (architecture, revision) in entry.revision {
            let at = format!("{at}.revision.{architecture}");
            let architecture = architecture.parse().map_err(|error| format!("{at}: {error}"))?;
            if revision == 0 {
                return Err(format!("{at}: 0 is not a revision"));
            }
            revisions.insert(architecture, Revision::Store(revision));
        }
        let supported = entry.upgrade_supported.map(|text| text.parse()).transpose();
        let supported = supported.map_err(|error| format!("{at}.upgrade-supported: {error}"))?;
        packed.insert(key, PackedSnap { channel, revisions, supported });
    }
    if packed.is_empty() {
        return Err("snaps: names no snap".to_owned());
    }
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_file_is_read() {
        let text = "snaps:\n  kubelet:\n    channel: 1.30\n    revision: {amd64: 41, arm64: 42}\n    \
                    upgrade-supported: ^1.29, <1.31\n  kube-proxy: {channel: 1.30/edge}\n";
        let packed = parse_packed(text).unwrap();
        let kubelet = &packed[&"kubelet".parse().unwrap()];
        assert_eq!(kubelet.channel.to_string(), "1.30/stable");
        assert_eq!(kubelet.revisions[&Architecture::Arm64], Revision::Store(42));
        assert_eq!(kubelet.supported.as_ref().unwrap().to_string(), "^1.29, <1.31");
        let proxy = &packed[&"kube-proxy".parse().unwrap()];
        assert!(proxy.revisions.is_empty() && proxy.supported.is_none());
    }

    #[test]
    fn what_is_wrong_in_it_is_told_with_its_place() {
        let table = [
            (
                "snaps: {kubelet: {channel: 1.30/stabl}}",
                "snaps.kubelet.channel: \"1.30/stabl\" is not a channel",
            ),
            ("snaps: {Kubelet: {channel: stable}}", "snaps.Kubelet: "),
            ("snaps: {kk: {channel: stable, revision: {x86: 1}}}", "snaps.kk.revision.x86: "),
            ("snaps: {kk: {channel: stable, revision: {amd64: 0}}}", "snaps.kk.revision.amd64: 0 is not"),
            ("snaps: {kk: {channel: stable, upgrade-supported: 1.x}}", "snaps.kk.upgrade-supported: "),
            ("snaps: {}", "snaps: names no snap"),
        ];
        for (text, fault) in table {
            let error = parse_packed(text).unwrap_err();
            assert!(error.starts_with(fault), "{text}: {error}");
        }
        for text in
            ["", "snaps: [", "snaps: 1", "snaps: {kk: {}}", "snaps: {kk: {channel: 1, x: 2}}", "other: {}"]
        {
            assert!(!parse_packed(text).unwrap_err().is_empty(), "{text}");
        }
    }
}
