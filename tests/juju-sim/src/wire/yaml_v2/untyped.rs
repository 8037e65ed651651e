//! The tree as values of any type, and as the strings that typed Go structs take.

use serde_json::{Map, Value};

use super::resolve;
use super::tree::{Content, Node};

impl Node {
    /// The value where Go takes an `interface{}`: plain scalars by their type, so `no` is false. Keys must be strings.
    pub(crate) fn value(&self) -> Result<Value, String> {
        match &self.content {
            Content::Scalar { plain: true, text } => resolve::value(text)
                .ok_or_else(|| format!("juju-sim: YAML form not supported: the number {text}")),
            Content::Scalar { text, .. } => Ok(text.as_str().into()),
            Content::Sequence(items) => items.iter().map(Self::value).collect(),
            Content::Mapping(_) => self.object().map(Value::Object),
        }
    }

    /// The mapping as values of any type; of equal keys the last counts.
    pub(crate) fn object(&self) -> Result<Map<String, Value>, String> {
        let mut map = Map::new();
        for (key, value) in self.entries() {
            match key.value()? {
                Value::String(_) if key.is_merge() => map.append(&mut value.object()?),
                Value::String(key) => {
                    map.insert(key, value.value()?);
                }
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                    return Err("map keyed with non-string value".to_owned());
                }
            }
        }
        Ok(map)
    }

    /// The pairs of a mapping; nothing for anything else.
    pub(crate) fn entries(&self) -> &[(Node, Node)] {
        match &self.content {
            Content::Mapping(pairs) => pairs,
            Content::Scalar { .. } | Content::Sequence(_) => &[],
        }
    }

    /// The pairs where Go has this type, a map or a struct; null is empty.
    pub(crate) fn entries_as(&self, wanted: &str) -> Result<&[(Node, Node)], String> {
        match &self.content {
            Content::Mapping(pairs) => Ok(pairs),
            Content::Scalar { .. } if self.is_null() => Ok(&[]),
            Content::Scalar { .. } | Content::Sequence(_) => Err(self.unmarshal_error(wanted)),
        }
    }

    /// The text where Go has a string.
    pub(crate) fn required_text(&self) -> Result<&str, String> {
        self.text().ok_or_else(|| self.unmarshal_error("string"))
    }

    fn unmarshal_error(&self, wanted: &str) -> String {
        format!("yaml: unmarshal errors:\n  {}", self.mismatch(wanted))
    }

    /// The text where Go takes a `string`: any scalar as it is written, null as the empty string.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar { .. } if self.is_null() => Some(""),
            Content::Scalar { text, .. } => Some(text),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    /// One line of `unmarshal errors`: this node where Go has the wanted type.
    pub(crate) fn mismatch(&self, wanted: &str) -> String {
        let what = match &self.content {
            Content::Mapping(_) => "!!map".to_owned(),
            Content::Sequence(_) => "!!seq".to_owned(),
            Content::Scalar { plain, text } => {
                let tag = if *plain { resolve::tag(text) } else { "!!str" };
                // Cut at a byte, even within a character.
                let shown = match text.as_bytes().get(..7) {
                    Some(start) if text.len() > 10 => {
                        format!("{}...", String::from_utf8_lossy(start))
                    }
                    Some(_) | None => text.clone(),
                };
                format!("{tag} `{shown}`")
            }
        };
        format!("line {}: cannot unmarshal {what} into {wanted}", self.line + 1)
    }
}
