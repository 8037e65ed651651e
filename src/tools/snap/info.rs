//! `snap info --verbose`: the heads of the channels, and the stored cohort key.

use super::{Reach, SILENCE, Snap, args};
use crate::snap::{Channel, Head, Heads, Hold, Info, KeyDigest, Local, Revision, SnapName, Trouble};
use std::collections::BTreeMap;

impl Snap {
    /// What the store offers and snapd knows of one snap. The client swallows the store's errors:
    /// without an answer of the store `heads` is none for an installed snap, and for another the
    /// trouble is `StoreUnreachable` if that took its time, else `NotFound`.
    pub fn info(&self, name: &SnapName) -> Result<Info, Trouble> {
        let parse = |text: &str| parse_info(name, text);
        let args = args(&["info", "--verbose", "--abs-time", name.as_str()]);
        let (info, took) = self.read(args, Reach::Store, parse)?;
        if info.heads.is_none() && took >= SILENCE {
            self.spend(took, true);
        }
        Ok(info)
    }

    /// The same of several snaps, one after the other, in order. Once the store is silent the rest
    /// is not asked: their trouble is `OutOfTime`.
    pub fn infos<'a>(
        &self,
        names: impl IntoIterator<Item = &'a SnapName>,
    ) -> BTreeMap<SnapName, Result<Info, Trouble>> {
        names.into_iter().map(|name| (name.clone(), self.info(name))).collect()
    }
}

/// Reads the first document of `snap info`, which must be about that snap.
pub fn parse_info(name: &SnapName, stdout: &str) -> Result<Info, String> {
    let mut sections: BTreeMap<&str, (&str, Vec<&str>)> = BTreeMap::new();
    let mut current = None;
    for line in stdout.lines().take_while(|line| *line != "---") {
        if line.starts_with([' ', '\t']) {
            if let Some((_, lines)) = current.and_then(|key| sections.get_mut(key)) {
                lines.push(line.trim());
            }
        } else if let Some((key, value)) = line.split_once(':') {
            sections.entry(key).or_insert((value.trim(), Vec::new()));
            current = Some(key);
        }
    }
    let value = |key: &str| sections.get(key).map(|(value, _)| *value).filter(|value| !value.is_empty());
    match value("name") {
        Some(found) if found == name.as_str() => {}
        Some(found) => return Err(format!("it is about {found:?}")),
        None => return Err("it names no snap".to_owned()),
    }
    let local = match value("installed") {
        None => None,
        Some(row) => Some(Local {
            revision: revision(row).ok_or_else(|| format!("installed: {row:?} has no revision"))?,
            tracking: match value("tracking").filter(|text| !text.starts_with('-')) {
                None => None,
                Some(text) => Some(text.parse().map_err(|error| format!("tracking: {error}"))?),
            },
            cohort: value("cohort").map(KeyDigest::of),
            hold: value("hold").map(|text| match text {
                "forever" => Hold::Forever,
                time => Hold::Until(time.to_owned()),
            }),
        }),
    };
    let heads = sections.get("channels").map(|(_, lines)| channels(lines));
    Ok(Info { name: name.clone(), heads, local })
}

/// The rows below `channels:`. A row in an unknown form is left out, and so are those that forward
/// to it: unknown, never wrong.
fn channels(lines: &[&str]) -> Heads {
    let mut heads = BTreeMap::new();
    // The nearest open row above, and its track.
    let mut open: Option<(String, Head)> = None;
    for line in lines {
        let row =
            line.split_once(':').and_then(|(channel, row)| Some((channel.parse::<Channel>().ok()?, row)));
        let Some((channel, row)) = row else {
            open = None;
            continue;
        };
        let head = match row.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["^" | "↑"] => match &open {
                Some((track, head)) if track == channel.track() => Some(head.clone()),
                Some(_) | None => continue,
            },
            ["--" | "–"] => None,
            [version, ..] => match revision(row) {
                Some(revision) => Some(Head { revision, version: (*version).to_owned() }),
                None => {
                    open = None;
                    continue;
                }
            },
            [] => {
                open = None;
                continue;
            }
        };
        if let Some(head) = &head {
            open = Some((channel.track().to_owned(), head.clone()));
        }
        heads.insert(channel, head);
    }
    Heads(heads)
}

/// The revision in a row: the word in parentheses, wherever it stands.
fn revision(row: &str) -> Option<Revision> {
    let inside = |word: &str| word.strip_prefix('(')?.strip_suffix(')')?.parse().ok();
    row.split_whitespace().find_map(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name: x1\nchannels:\n";

    fn heads(rows: &str) -> Heads {
        parse_info(&"x1".parse().unwrap(), &format!("{HEAD}{rows}")).unwrap().heads.unwrap()
    }

    fn of(heads: &Heads, channel: &str) -> Option<Option<String>> {
        let head = heads.of(&channel.parse().unwrap());
        head.map(|head| head.map(|head| head.revision.to_string()))
    }

    #[test]
    fn closed_channels_have_the_head_of_the_nearest_open_one_above_in_their_track() {
        let heads = heads(
            "  1.31/stable:    --                        \n  1.31/candidate: 1.31.1 2026-10-01 (60) 31MB -\n  \
             1.31/beta:      ^\n  1.31/edge:      1.31.2 2026-10-01 (61) 31MB -\n  1.30/stable:    ^\n  \
             1.30/candidate: new form\n  1.30/beta:      ^\n",
        );
        assert_eq!(of(&heads, "1.31"), Some(None));
        assert_eq!(of(&heads, "1.31/candidate"), Some(Some("60".to_owned())));
        assert_eq!(of(&heads, "1.31/beta"), Some(Some("60".to_owned())));
        assert_eq!(of(&heads, "1.31/edge"), Some(Some("61".to_owned())));
        // Not the head of another track, and nothing that was not understood.
        for unknown in ["1.30/stable", "1.30/candidate", "1.30/beta", "1.30/edge", "latest/stable"] {
            assert_eq!(of(&heads, unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_description_cannot_pass_for_facts() {
        let text = "name: x1\nsummary: channels\ndescription: |\n  channels:\n    latest/stable: 9 2026-10-01 (9) 1MB -\n  \
                    installed: 1 (9) 1MB -\nsnap-id: abc\n";
        let info = parse_info(&"x1".parse().unwrap(), text).unwrap();
        assert_eq!((info.heads, info.local), (None, None));
    }

    #[test]
    fn another_snap_and_no_snap_are_refused() {
        let name = "x1".parse().unwrap();
        assert!(parse_info(&name, "name: x2\n").is_err());
        assert!(parse_info(&name, "warning: no snap found for \"x1\"\n").is_err());
        assert!(parse_info(&name, "").is_err());
        assert!(parse_info(&name, "name: x1\ninstalled: 1.0 12MB -\n").is_err());
        assert!(parse_info(&name, "name: x1\ntracking: a/b\ninstalled: 1.0 (1) 12MB -\n").is_err());
    }

    #[test]
    fn a_branch_and_a_timed_hold_are_told() {
        let text =
            "name: x1\ntracking: 1.30/edge/fix\nhold: 2026-12-01T18:41:06Z\ninstalled: 1.0 (1) 12MB held\n";
        let local = parse_info(&"x1".parse().unwrap(), text).unwrap().local.unwrap();
        assert_eq!(local.tracking.unwrap().to_string(), "1.30/edge/fix");
        assert_eq!(local.hold, Some(Hold::Until("2026-12-01T18:41:06Z".to_owned())));
    }
}
