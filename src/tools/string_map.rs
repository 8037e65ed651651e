//! A map of texts in the form that `relation-set --file -` and `state-set --file -` read.
//!
//! They parse YAML (yaml.v2) into a map of strings. JSON is accepted if non-ASCII characters stay
//! raw (a surrogate pair is refused) while control characters, DEL, C1, U+FFFE and U+FFFF are
//! escaped (raw ones are refused, or folded to a blank). Measured with yaml.v2 2.4.0.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The map as one JSON object. `None` stands for deletion, which the tools spell as an empty value.
pub fn render(changes: &BTreeMap<String, Option<String>>) -> String {
    let size: usize = changes.iter().map(|(k, v)| k.len() + v.as_ref().map_or(0, String::len) + 8).sum();
    let mut text = String::with_capacity(size + size / 8 + 2);
    text.push('{');
    for (position, (key, value)) in changes.iter().enumerate() {
        if position > 0 {
            text.push_str(", ");
        }
        quote(&mut text, key);
        text.push_str(": ");
        quote(&mut text, value.as_deref().unwrap_or_default());
    }
    text.push_str("}\n");
    text
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    let mut plain = 0;
    for (at, c) in value.char_indices() {
        if !must_escape(c) {
            continue;
        }
        text.push_str(value.get(plain..at).unwrap_or_default());
        plain = at + c.len_utf8();
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            other => {
                // Writing to a String cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(other));
            }
        }
    }
    text.push_str(value.get(plain..).unwrap_or_default());
    text.push('"');
}

fn must_escape(c: char) -> bool {
    matches!(c, '"' | '\\' | '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(value: &str) -> String {
        render(&BTreeMap::from([("k".to_owned(), Some(value.to_owned()))]))
    }

    #[test]
    fn what_the_parser_refuses_or_folds_is_escaped_and_the_rest_stays_raw() {
        let table = [
            ("plain", r#"{"k": "plain"}"#),
            ("say \"hi\" \\ there", r#"{"k": "say \"hi\" \\ there"}"#),
            ("a\nb\r\tc", r#"{"k": "a\nb\r\tc"}"#),
            ("\u{7f}\u{80}\u{85}\u{9f}", r#"{"k": "\u007f\u0080\u0085\u009f"}"#),
            ("\u{fffe}\u{ffff}\u{feff}", r#"{"k": "\ufffe\uffff\ufeff"}"#),
            ("\u{2028}\u{2029}", r#"{"k": "\u2028\u2029"}"#),
            ("grüße 😀 a/b", r#"{"k": "grüße 😀 a/b"}"#),
            ("\0\x1b", r#"{"k": "\u0000\u001b"}"#),
        ];
        for (value, expected) in table {
            assert_eq!(rendered(value).trim_end(), expected);
            // It is JSON as well, and says the same.
            let back: BTreeMap<String, String> = serde_json::from_str(&rendered(value)).unwrap();
            assert_eq!(back["k"], value);
        }
    }

    #[test]
    fn deletion_is_an_empty_value_and_keys_are_in_order() {
        let changes = BTreeMap::from([("b".to_owned(), None), ("a".to_owned(), Some("1".to_owned()))]);
        assert_eq!(render(&changes), "{\"a\": \"1\", \"b\": \"\"}\n");
        assert_eq!(render(&BTreeMap::new()), "{}\n");
    }

    #[test]
    fn three_mebibytes_keep_their_length() {
        let value = "x\"".repeat(3 << 19);
        assert_eq!(rendered(&value).len(), 3 * (3 << 19) + "{\"k\": \"\"}\n".len());
    }
}
