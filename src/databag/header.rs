//! The first lines of a lockstep unit's file in the collector's directory: by them the other units on
//! the machine know whose it is, and what of the machine it collects.
//!
//! `# lockstep lockstep/3 logs host`, then `# slots ledger:logs`. Words that are not known here are a
//! newer charm's.

use super::scrape::Slot;
use crate::juju::UnitName;
use std::collections::BTreeSet;

const FIRST: &str = "# lockstep ";
const SECOND: &str = "# slots";

/// What a unit's file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The unit.
    pub unit: UnitName,
    /// Whether it ships the lines of the machine's own logs.
    pub host: bool,
    /// The log slots that it wants to have connected.
    pub slots: BTreeSet<Slot>,
}

impl Header {
    /// Reads the begin of a file; none where it is no lockstep unit's.
    pub fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let mut words = lines.next()?.strip_prefix(FIRST)?.split_ascii_whitespace();
        let unit = words.next()?.parse().ok()?;
        let host = words.any(|word| word == "host");
        let slots = lines.next().and_then(|line| line.strip_prefix(SECOND)).unwrap_or_default();
        Some(Self {
            unit,
            host,
            slots: slots.split_ascii_whitespace().filter_map(|s| s.parse().ok()).collect(),
        })
    }

    /// The lines, each with its end.
    pub fn write(&self) -> String {
        let host = if self.host { " host" } else { "" };
        let slots: String = self.slots.iter().map(|slot| format!(" {slot}")).collect();
        format!("{FIRST}{}{host}\n{SECOND}{slots}\n", self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_and_other_files_have_none() {
        let text = "# lockstep lockstep/3 host\n# slots aa:logs bb:logs\n";
        let header = Header::read(&format!("{text}{{}}\n")).unwrap();
        assert_eq!((header.write().as_str(), header.slots.len(), header.host), (text, 2, true));
        let newer = Header::read("# lockstep lockstep/3 later\n").unwrap();
        assert_eq!((newer.host, newer.slots.len()), (false, 0));
        for other in ["", "extensions:\n", "# lockstep\n", "# lockstep x\n", "#lockstep lockstep/3\n"] {
            assert_eq!(Header::read(other), None, "{other}");
        }
    }
}
