//! JSON that came from outside: split without decoding it, checked in depth where that is needed.
//!
//! Messages name places and kinds, never values: a value may be a secret.

use super::Fault;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::fmt;

/// The fields of an object as they stand in the text, their values not decoded.
#[derive(Debug)]
pub(super) struct Object<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'a> Object<'a> {
    /// Splits a text that must be a JSON object; the fault is at `$`.
    pub(super) fn read(text: &'a str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(|error| {
            let reason = match serde_json::from_str::<&RawValue>(text).map(kind) {
                Ok(kind) if kind != Kind::Object => format!("is {kind}, not an object"),
                Ok(_) | Err(_) => format!("is not JSON: {error}"),
            };
            Fault::new("$", reason)
        })
    }

    /// A field's value. Of a repeated field the last one counts, as in Python's `json`.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        let found = self.0.iter().rev().find(|(field, _)| field == name);
        found.map(|(_, value)| *value)
    }

    /// A field's value, where `null` and an absent field mean the same.
    pub(super) fn present(&self, name: &str) -> Option<&'a RawValue> {
        self.get(name).filter(|value| kind(value) != Kind::Null)
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// What a JSON value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    List,
    Text,
    Boolean,
    Null,
    Number,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "an object",
            Self::List => "a list",
            Self::Text => "a text",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Number => "a number",
        })
    }
}

/// The kind of a value that is not decoded.
pub(super) fn kind(value: &RawValue) -> Kind {
    match value.get().bytes().next() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::List,
        Some(b'"') => Kind::Text,
        Some(b't' | b'f') => Kind::Boolean,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

/// The kind of a decoded value.
pub(super) fn kind_of(value: &serde_json::Value) -> Kind {
    match value {
        serde_json::Value::Object(_) => Kind::Object,
        serde_json::Value::Array(_) => Kind::List,
        serde_json::Value::String(_) => Kind::Text,
        serde_json::Value::Bool(_) => Kind::Boolean,
        serde_json::Value::Null => Kind::Null,
        serde_json::Value::Number(_) => Kind::Number,
    }
}

/// The path of a field below `path`: `$.a.b`, or `$.a['b c']` where the name is no plain word.
pub(super) fn child(path: &str, field: &str) -> String {
    let plain = field.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !field.starts_with(|c: char| c.is_ascii_digit())
        && !field.is_empty();
    if plain {
        format!("{path}.{field}")
    } else {
        let mut name = String::with_capacity(field.len());
        for c in field.chars() {
            match c {
                // A path is shown on one line, and on terminals.
                '\\' | '\'' => name.extend(['\\', c]),
                _ if c.is_control() => name.extend(c.escape_default()),
                _ => name.push(c),
            }
        }
        format!("{path}['{name}']")
    }
}

/// The same JSON without white space between its parts, so that equal data of two writers (Python's
/// `json` puts a blank after `:` and `,`, pydantic does not) have one digest. The text must be JSON.
pub(super) fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_text, mut escaped) = (false, false);
    let mut from = 0;
    for (at, byte) in json.bytes().enumerate() {
        if in_text {
            in_text = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
        } else if byte == b'"' {
            in_text = true;
        } else if byte.is_ascii_whitespace() {
            out.push_str(json.get(from..at).unwrap_or_default());
            from = at + 1;
        }
    }
    out.push_str(json.get(from..).unwrap_or_default());
    out
}

/// Reads all of a JSON text: syntax, numbers, surrogate pairs, and at most 128 levels.
pub(super) fn check_depth_and_text(json: &str) -> Result<(), serde_json::Error> {
    serde_json::from_str::<Sound>(json).map(|Sound| ())
}

/// Any JSON value, decoded and forgotten. (`IgnoredAny` skips without a depth limit and takes a lone
/// surrogate; serde_json `de.rs`, `ignore_value`.)
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Sound)
    }
}

impl<'de> Visitor<'de> for Sound {
    type Value = Self;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_leaves_texts_alone() {
        let json = "{ \"a b\" : [ 1 ,\n\t\"x \\\" , y\\\\\" , { } ] }";
        assert_eq!(compact(json), r#"{"a b":[1,"x \" , y\\",{}]}"#);
        assert_eq!(compact(r#"{"ü ":1}"#), r#"{"ü ":1}"#);
    }

    #[test]
    fn the_last_of_a_repeated_field_counts_and_null_is_absent() {
        let object = Object::read(r#"{"a":1,"a":2,"b":null}"#).unwrap();
        assert_eq!(object.get("a").unwrap().get(), "2");
        assert!(object.present("b").is_none());
    }

    #[test]
    fn whole_value_faults_name_the_kind_or_the_place() {
        for (text, reason) in [
            ("null", "is null, not an object"),
            ("[1]", "is a list, not an object"),
            ("\"x\"", "is a text, not an object"),
            ("{\"a\": ", "is not JSON: EOF while parsing a value at line 1 column 6"),
            ("", "is not JSON: EOF while parsing a value at line 1 column 0"),
        ] {
            assert_eq!(Object::read(text).unwrap_err(), Fault::new("$", reason), "{text}");
        }
    }

    #[test]
    fn depth_numbers_and_surrogates_are_checked() {
        assert!(check_depth_and_text(r#"{"a":[1,-2,0.5,"\ud83d\udea2",null,true]}"#).is_ok());
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for bad in ["NaN", "[Infinity]", r#"["\ud800"]"#, r#"{"\ud800":1}"#, "1e999", &deep] {
            assert!(check_depth_and_text(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn odd_field_names_are_quoted_in_paths() {
        assert_eq!(child("$", "for"), "$.for");
        assert_eq!(child("$.labels", "a-b"), "$.labels['a-b']");
        assert_eq!(child("$", "it's"), "$['it\\'s']");
        assert_eq!(child("$", ""), "$['']");
        assert_eq!(child("$", "a\n\u{1b}[31m\\"), "$['a\\n\\u{1b}[31m\\\\']");
    }
}
