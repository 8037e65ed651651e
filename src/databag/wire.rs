//! JSON values with a `format` number, of which lockstep is the only reader.
//!
//! What a newer charm wrote is told apart from what is broken: the first is waited out until this
//! unit's own charm refresh, the second is named. Fields that are not known here are kept by the
//! types themselves (`more`), so that they survive a rewrite.

use super::{Fault, json};
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use std::fmt;

/// Fields that this version does not know.
pub type More = Map<String, Value>;

/// The format that this version writes and reads.
const FORMAT: u64 = 1;
/// Characters of a text for people that are kept.
const LINE: usize = 200;

/// Why a value of a databag cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A newer charm wrote it: this unit waits for its charm refresh.
    Newer(Fault),
    /// It is not what it should be.
    Broken(Fault),
}

impl Unread {
    /// Where, and what is wrong there.
    pub fn fault(&self) -> &Fault {
        match self {
            Self::Newer(fault) | Self::Broken(fault) => fault,
        }
    }
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault().fmt(f)
    }
}

/// The field `format` of a value that could be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Format;

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(FORMAT)
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            FORMAT => Ok(Self),
            other => Err(D::Error::custom(format!("format {other} is not known here"))),
        }
    }
}

/// One line of text for people that somebody else wrote: no control characters, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String")]
pub struct Line(String);

impl Line {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self(text.chars().take(LINE).map(|c| if c.is_control() { ' ' } else { c }).collect())
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is looked at before the value itself.
#[derive(Deserialize)]
struct Probe {
    format: Option<u64>,
    #[serde(default)]
    kind: Value,
}

/// Reads a value. `kinds` are the kinds that are known; empty where it has none.
pub(super) fn read<T: DeserializeOwned>(text: &str, kinds: &[&str]) -> Result<T, Unread> {
    let probe: Probe = parse(text).map_err(Unread::Broken)?;
    match probe.format {
        Some(FORMAT) => {}
        Some(newer) if newer > FORMAT => {
            return Err(Unread::Newer(Fault::new("$.format", format!("format {newer} is of a newer charm"))));
        }
        Some(other) => return Err(Unread::Broken(Fault::new("$.format", format!("{other} is no format")))),
        None => return Err(Unread::Broken(Fault::new("$", "has no field format"))),
    }
    if let Value::String(kind) = &probe.kind
        && !kinds.is_empty()
        && !kinds.contains(&kind.as_str())
    {
        let kind = Line::from(kind.as_str());
        return Err(Unread::Newer(Fault::new("$.kind", format!("kind {kind} is of a newer charm"))));
    }
    parse(text).map_err(Unread::Broken)
}

/// Reads JSON; the fault has the path and no more of the value than its kind.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = place(error.path());
        Fault::new(path, Line::from(error.into_inner().to_string()).to_string())
    })?;
    deserializer.end().map_err(|error| Fault::new("$", error.to_string()))?;
    Ok(value)
}

/// The JSON path as far as it is known by name.
fn place(path: &Path) -> String {
    let mut place = "$".to_owned();
    for segment in path {
        match segment {
            Segment::Seq { index } => place.push_str(&format!("[{index}]")),
            Segment::Map { key } => place = json::child(&place, key),
            Segment::Enum { variant } => place = json::child(&place, variant),
            Segment::Unknown => return place,
        }
    }
    place
}

/// The text of a value. Maps with text keys and plain values always serialise.
pub(super) fn write<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample {
        format: Format,
        list: Vec<u8>,
        #[serde(flatten)]
        more: More,
    }

    #[test]
    fn unknown_fields_survive_and_faults_have_a_path() {
        let text = r#"{"format":1,"list":[1,2],"later":{"x":[null]}}"#;
        let sample: Sample = read(text, &[]).unwrap();
        assert_eq!(write(&sample), text);
        let table = [
            ("{", "$: EOF while parsing an object at line 1 column 1"),
            ("{\"list\":[]}", "$: has no field format"),
            ("{\"format\":0,\"list\":[]}", "$.format: 0 is no format"),
            (
                "{\"format\":1,\"list\":[1,300]}",
                "$.list[1]: invalid value: integer `300`, expected u8 at line 1 column 25",
            ),
            ("{\"format\":1,\"list\":[]} x", "$: trailing characters at line 1 column 24"),
        ];
        for (text, fault) in table {
            let unread = read::<Sample>(text, &[]).unwrap_err();
            assert_eq!((unread.to_string().as_str(), matches!(unread, Unread::Broken(_))), (fault, true));
        }
    }

    #[test]
    fn a_newer_format_or_kind_is_told_apart_from_damage() {
        for text in [r#"{"format":2,"anything":true}"#, r#"{"format":1,"kind":"dance","list":7}"#] {
            assert!(matches!(read::<Sample>(text, &["cohort"]), Err(Unread::Newer(_))), "{text}");
        }
    }

    #[test]
    fn lines_for_people_are_bounded() {
        let line: Line = serde_json::from_str(&format!("\"a\\n{}\"", "x".repeat(1000))).unwrap();
        assert!(line.as_str().starts_with("a x") && line.as_str().len() == LINE);
    }
}
