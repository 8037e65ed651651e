//! YAML input of relation-set and state-set (`--file`), read as gopkg.in/yaml.v2 2.4.0 reads it into a map of
//! strings: the same values from the same bytes, and the same error texts.
//!
//! The tree also serves the files of a charm, which Juju reads with the same library.
//!
//! Bytes become characters in `reader`, characters become tokens in `scanner` and `scalars`, tokens become a tree in
//! `tree`, and [`string_map`] takes the strings out. Anchors, aliases, tags, directives and UTF-16 are
//! not implemented; they end in an error of the simulator's own, so that no test passes by accident.

pub(crate) mod resolve;

mod block_scalar;
mod reader;
mod scalars;
mod scanner;
pub(crate) mod tree;
mod untyped;

use std::collections::BTreeMap;

use tree::{Content, Node};

/// The map of strings in this YAML text, in the order in which its keys first appear; no document is an empty map.
/// The error text is complete, as the tool prints it after `ERROR `.
pub fn string_map(input: &[u8]) -> Result<Vec<(String, String)>, String> {
    let Some(root) = document(input)? else {
        return Ok(Vec::new());
    };
    let mut decoder = Decoder::default();
    decoder.root(&root)?;
    if decoder.complaints.is_empty() {
        Ok(decoder.entries)
    } else {
        Err(format!("yaml: unmarshal errors:\n  {}", decoder.complaints.join("\n  ")))
    }
}

/// The first document of this YAML text, if there is one.
pub(crate) fn document(input: &[u8]) -> Result<Option<Node>, String> {
    tree::parse(input).map_err(|fault| fault.to_string())
}

#[derive(Default)]
struct Decoder {
    entries: Vec<(String, String)>,
    positions: BTreeMap<String, usize>,
    complaints: Vec<String>,
}

impl Decoder {
    fn root(&mut self, node: &Node) -> Result<(), String> {
        match &node.content {
            Content::Mapping(pairs) => self.mapping(pairs),
            Content::Scalar { plain: true, text } if resolve::tag(text) == "!!null" => Ok(()),
            Content::Scalar { .. } | Content::Sequence(_) => {
                self.complain(node, "map[string]string");
                Ok(())
            }
        }
    }

    fn mapping(&mut self, pairs: &[(Node, Node)]) -> Result<(), String> {
        for (key, value) in pairs {
            if key.is_merge() {
                self.merge(value)?;
            } else if let Some(key) = self.string(key)
                && let Some(value) = self.string(value)
            {
                self.set(key, value);
            }
        }
        Ok(())
    }

    /// The last of several equal keys wins.
    fn set(&mut self, key: String, value: String) {
        let next = self.entries.len();
        let position = *self.positions.entry(key.clone()).or_insert(next);
        match self.entries.get_mut(position) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value)),
        }
    }

    /// The value of `<<`: its entries count as written here.
    fn merge(&mut self, value: &Node) -> Result<(), String> {
        let refused = || Err("yaml: map merge requires map or sequence of maps as the value".to_owned());
        match &value.content {
            Content::Mapping(pairs) => self.mapping(pairs),
            Content::Sequence(items) => {
                for item in items.iter().rev() {
                    match &item.content {
                        Content::Mapping(pairs) => self.mapping(pairs)?,
                        Content::Scalar { .. } | Content::Sequence(_) => return refused(),
                    }
                }
                Ok(())
            }
            Content::Scalar { .. } => refused(),
        }
    }

    /// A scalar of any type is its source text, and null is the empty string.
    fn string(&mut self, node: &Node) -> Option<String> {
        match &node.content {
            Content::Scalar { plain: true, text } if resolve::tag(text) == "!!null" => Some(String::new()),
            Content::Scalar { text, .. } => Some(text.clone()),
            Content::Mapping(_) | Content::Sequence(_) => {
                self.complain(node, "string");
                None
            }
        }
    }

    fn complain(&mut self, node: &Node, wanted: &str) {
        self.complaints.push(node.mismatch(wanted));
    }
}

#[cfg(test)]
mod tests;
