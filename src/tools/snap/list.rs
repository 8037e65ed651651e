//! `snap list`.

use super::{Reach, Snap, args, text};
use crate::snap::{Installed, Notes, SnapName, Tracking, Trouble};
use std::collections::BTreeMap;

const HEADER: [&str; 6] = ["Name", "Version", "Rev", "Tracking", "Publisher", "Notes"];

impl Snap {
    /// All snaps of this machine. Local, and the same while a change runs.
    pub fn list(&self) -> Result<BTreeMap<SnapName, Installed>, Trouble> {
        Ok(self.read(args(&["list"]), Reach::Local, parse_list)?.0)
    }
}

/// Reads the table of `snap list`. Parallel instances (`name_key`) are left out.
pub fn parse_list(stdout: &str) -> Result<BTreeMap<SnapName, Installed>, String> {
    let mut snaps = BTreeMap::new();
    for ([name, version, revision, tracking, _publisher, notes], _) in text::rows(stdout, &HEADER)? {
        let Ok(name) = name.parse::<SnapName>() else { continue };
        let revision = revision.parse().map_err(|error| format!("{name}: {error}"))?;
        let installed = Installed {
            name: name.clone(),
            version: (version != "-").then(|| version.to_owned()),
            revision,
            tracking: parse_tracking(tracking).map_err(|error| format!("{name}: {error}"))?,
            notes: Notes::parse(notes),
        };
        // With `--all` older revisions follow, marked so.
        if !installed.notes.disabled() || !snaps.contains_key(&name) {
            snaps.insert(name, installed);
        }
    }
    Ok(snaps)
}

fn parse_tracking(text: &str) -> Result<Option<Tracking>, String> {
    if text == "-" {
        return Ok(None);
    }
    let (channel, on_branch) = match text.strip_suffix("/…") {
        Some(channel) => (channel, true),
        None => (text, false),
    };
    let channel = channel.parse().map_err(|error| format!("{error}"))?;
    Ok(Some(Tracking { channel, on_branch }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_list_is_refused() {
        let head = "Name  Version  Rev  Tracking  Publisher  Notes\n";
        let row = |row: &str| parse_list(&format!("{head}{row}\n"));
        assert!(row("x1  1.0  4  latest/stable  acme  -").unwrap().len() == 1);
        assert!(row("x1_blue  1.0  4  latest/stable  acme  -").unwrap().is_empty());
        assert!(row("x1  1.0  four  latest/stable  acme  -").unwrap_err().starts_with("x1: \"four\""));
        assert!(row("x1  1.0  4  latest/stabl  acme  -").unwrap_err().starts_with("x1: \"latest/stabl\""));
        assert!(row("x1  1.0  4  latest/stable  acme").unwrap_err().contains("has not 6 cells"));
        assert!(parse_list("Name  Version\n").is_err());
        assert!(parse_list("").unwrap().is_empty());
    }
}
