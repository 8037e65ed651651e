//! Where the collector and its users have their files.
//!
//! canonical/opentelemetry-collector-snap `snap/snapcraft.yaml`, `snap/local/command-wrapper`: every
//! non-empty file below [`CONFIG`] is a configuration, whatever its name. Lock files of the snap's users:
//! canonical/opentelemetry-collector-operator `src/singleton_snap.py`.

/// The directory of configurations; a file that is being written must not be in it.
pub const CONFIG: &str = "/etc/otelcol/config.d";
/// The directory beside it, on the same file system.
pub const BESIDE: &str = "/etc/otelcol";
/// One file for each user of a snap that several charms share.
pub const LOCKS: &str = "/opt/singleton_snaps";
/// What such a file begins with for the collector.
pub const LOCK: &str = "LCK..opentelemetry-collector--rev";
/// The data that all revisions of the snap share.
pub const COMMON: &str = "/var/snap/opentelemetry-collector/common";
/// What snapd has mounted into the snap.
pub const FSTAB: &str = "/var/lib/snapd/mount/snap.opentelemetry-collector.fstab";
/// Where in the snap that is.
pub const MOUNTED: &str = "shared-logs";
/// The program itself, which runs outside of the sandbox too.
pub const PROGRAM: &str = "/snap/opentelemetry-collector/current/bin/otelcol";
/// The configuration of the older collector.
pub const AGENT: &str = "/etc/grafana-agent.yaml";
/// Its snap.
pub const AGENT_SNAP: &str = "grafana-agent";
