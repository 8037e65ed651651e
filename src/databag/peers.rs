//! The peers application databag: keys that the leader alone writes.

use super::{Fault, wire};
use crate::juju::UnitName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The key that names the unit that wrote last.
const LEADER: &str = "leader";
/// The format of values in this databag.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Leader {
    format: u32,
    unit: UnitName,
}

/// The unit that wrote the application databag last, if any did.
pub fn read_leader(bag: &BTreeMap<String, String>) -> Result<Option<UnitName>, Fault> {
    let Some(text) = bag.get(LEADER) else {
        return Ok(None);
    };
    match wire::parse::<Leader>(text) {
        Ok(leader) if leader.format == FORMAT => Ok(Some(leader.unit)),
        Ok(leader) => Err(Fault::new("$.format", format!("format {} is not known here", leader.format))),
        Err(fault) => Err(fault),
    }
}

/// The key and value by which a leader signs.
pub fn write_leader(unit: &UnitName) -> (String, String) {
    (LEADER.to_owned(), format!("{{\"format\":{FORMAT},\"unit\":\"{unit}\"}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leader_reads_back_and_a_newer_format_is_a_fault() {
        let unit: UnitName = "lockstep/12".parse().unwrap();
        let bag = BTreeMap::from([write_leader(&unit)]);
        assert_eq!(read_leader(&bag), Ok(Some(unit)));
        assert_eq!(read_leader(&BTreeMap::new()), Ok(None));
        for bad in [r#"{"format":2,"unit":"lockstep/1"}"#, "{", r#"{"format":1}"#] {
            assert!(read_leader(&BTreeMap::from([("leader".to_owned(), bad.to_owned())])).is_err());
        }
    }
}
