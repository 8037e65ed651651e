//! `snap version`.

use super::{Reach, Snap, args};
use crate::snap::{SnapdVersion, Trouble};

impl Snap {
    /// The version of the running snapd; none where it does not answer.
    pub fn version(&self) -> Result<Option<SnapdVersion>, Trouble> {
        Ok(self.read(args(&["version"]), Reach::Local, |text| Ok(parse_version(text)))?.0)
    }
}

/// Reads the `snapd` line of `snap version`.
pub fn parse_version(stdout: &str) -> Option<SnapdVersion> {
    let value = |line: &str| {
        let mut words = line.split_whitespace();
        if words.next() == Some("snapd") { words.next().and_then(SnapdVersion::parse) } else { None }
    };
    stdout.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absent_daemon_has_no_version() {
        let text = "snap    2.68.3-3+deb13u1+b7\nsnapd   unavailable\nseries  -\n";
        assert_eq!(parse_version(text), None);
        assert_eq!(parse_version(""), None);
    }
}
