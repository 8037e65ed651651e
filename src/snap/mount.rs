//! What snapd has mounted into a snap: `/var/lib/snapd/mount/snap.NAME.fstab`.
//!
//! snapcore/snapd `interfaces/mount/spec.go`, `osutil/mountentry.go`: a line a mount, six fields, blanks
//! escaped in octal. Two sources with one last part: the second target gets `-2`, by snapd's order,
//! which a later connection can change. So a mount is known by its source, never by its place.

use super::SnapName;
use std::collections::BTreeSet;

/// One directory that is mounted into another snap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mount {
    /// The snap that it belongs to.
    pub snap: SnapName,
    /// The last part of where it is mounted; empty for the plug's target itself.
    pub place: String,
}

/// The mounts of an fstab that lie below a plug's target, `/snap/NAME/REVISION/TARGET`. Lines of another
/// form are of other plugs.
pub fn parse_mounts(fstab: &str, plug: &SnapName, target: &str) -> BTreeSet<Mount> {
    fstab
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace().map(unescape);
            let (source, place) = (fields.next()?, fields.next()?);
            let place = below(&place, "/snap", plug.as_str())?;
            let place = place.strip_prefix(target)?;
            let place = if place.is_empty() { place } else { place.strip_prefix('/')? };
            // It becomes a part of a pattern of files: nothing that would mean more than itself there.
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
            if !place.chars().all(plain) || place.starts_with('.') {
                return None;
            }
            Some(Mount { snap: owner(&source)?, place: place.to_owned() })
        })
        .collect()
}

/// The snap whose directory a source is: `/var/snap/NAME/common/...` or `/snap/NAME/41/...`.
fn owner(source: &str) -> Option<SnapName> {
    let rest = source.strip_prefix("/var/snap/").or_else(|| source.strip_prefix("/snap/"))?;
    rest.split('/').next()?.parse().ok()
}

/// What stands behind `BASE/NAME/REVISION/` in a path.
fn below<'a>(path: &'a str, base: &str, name: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(base)?.strip_prefix('/')?.strip_prefix(name)?.strip_prefix('/')?;
    rest.split_once('/').map(|(_, rest)| rest)
}

/// A field of an fstab, with `\040` and its like as the characters that they stand for.
fn unescape(field: &str) -> String {
    let mut out = String::new();
    let mut rest = field;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (code, after.get(3..)) {
            (Some(code), Some(tail)) if code.is_ascii() => {
                out.push(char::from(code));
                rest = tail;
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_known_by_their_source_whatever_snapd_calls_them() {
        let fstab = "\
/var/snap/ledger/common/var/log /snap/otelcol/80/shared-logs/log none bind,ro 0 0
/var/snap/etcd/41/log /snap/otelcol/80/shared-logs/log-2 none bind,ro 0 0
/snap/web/7/my\\040logs /snap/otelcol/80/shared-logs/logs none bind,ro 0 0
/snap/web/7/stars /snap/otelcol/80/shared-logs/** none bind,ro 0 0
/snap/web/7/my\\040logs /snap/otelcol/80/shared-logs/my\\040logs none bind,ro 0 0
/var/snap/one/common /snap/otelcol/80/shared-logs none bind,ro 0 0
/var/snap/other/common /snap/otelcol/80/elsewhere/x none bind,ro 0 0
/var/snap/other/common /snap/otelcol/80/shared-logs/a/b none bind,ro 0 0
/home/x /snap/otelcol/80/shared-logs/x none bind,ro 0 0
/var/snap/other/common /snap/another/80/shared-logs/x none bind,ro 0 0

short
";
        let mounts = parse_mounts(fstab, &"otelcol".parse().unwrap(), "shared-logs");
        let shown: Vec<(&str, &str)> =
            mounts.iter().map(|mount| (mount.snap.as_str(), mount.place.as_str())).collect();
        assert_eq!(shown, [("etcd", "log-2"), ("ledger", "log"), ("one", ""), ("web", "logs")]);
        assert_eq!((unescape("a\\040b").as_str(), unescape("a\\04\\").as_str()), ("a b", "a\\04\\"));
    }
}
