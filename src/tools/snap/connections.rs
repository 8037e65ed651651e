//! `snap connections`, `connect` and `disconnect`.

use super::{NOTE_LIMIT, Reach, Snap, args, text};
use crate::snap::{Connection, SnapName, Trouble};
use std::collections::BTreeSet;

const HEADER: [&str; 4] = ["Interface", "Plug", "Slot", "Notes"];

impl Snap {
    /// The connections of the plugs of a snap that is installed.
    pub fn connections(&self, name: &SnapName) -> Result<BTreeSet<Connection>, Trouble> {
        let parse = |stdout: &str| parse_connections(stdout, name);
        Ok(self.read(args(&["connections", name.as_str()]), Reach::Local, parse)?.0)
    }

    /// Connects a plug. One that is connected already is no fault.
    pub fn connect(&self, plug: &str, slot: &str) -> Result<(), Trouble> {
        self.run(args(&["connect", plug, slot]), Reach::Change(NOTE_LIMIT)).map(|_| ())
    }

    /// Takes a connection off.
    pub fn disconnect(&self, plug: &str, slot: &str) -> Result<(), Trouble> {
        self.run(args(&["disconnect", plug, slot]), Reach::Change(NOTE_LIMIT)).map(|_| ())
    }
}

/// Reads the table of `snap connections NAME`: plugs of that snap that are connected.
pub fn parse_connections(stdout: &str, name: &SnapName) -> Result<BTreeSet<Connection>, String> {
    let mut found = BTreeSet::new();
    for ([_, plug, slot, _], _) in text::rows(stdout, &HEADER)? {
        let Some(plug) = plug.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix(':')) else {
            continue;
        };
        if slot != "-" {
            found.insert(Connection { plug: plug.to_owned(), slot: slot.to_owned() });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_plugs_of_the_snap_are_read_and_others_are_not() {
        // Written by hand after snapcore/snapd `cmd/snap/cmd_connections.go`.
        let table = "\
Interface     Plug                                        Slot           Notes
content       opentelemetry-collector:logs                ledger:logs    manual
home          opentelemetry-collector:home                -              -
system-files  opentelemetry-collector:etc-otelcol-config  :system-files  -
content       other:logs                                  opentelemetry-collector:x  -
";
        let found = parse_connections(table, &"opentelemetry-collector".parse().unwrap()).unwrap();
        let shown: Vec<(&str, &str)> = found.iter().map(|c| (c.plug.as_str(), c.slot.as_str())).collect();
        assert_eq!(shown, [("etc-otelcol-config", ":system-files"), ("logs", "ledger:logs")]);
        assert!(parse_connections("something else\n", &"ledger".parse().unwrap()).is_err());
    }
}
