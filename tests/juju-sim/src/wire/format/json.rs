//! JSON as Go's encoding/json marshals it: one line, sorted keys, HTML characters escaped.

use std::fmt::Write as _;

use serde_json::Value;

/// The value on one line.
pub(super) fn line(value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, value);
    out.push('\n');
    out
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&super::number(number, super::json_float)),
        Value::String(text) => string(out, text),
        Value::Array(items) => list(out, ['[', ']'], items.iter(), write),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            list(out, ['{', '}'], entries.into_iter(), |out, (key, value)| {
                string(out, key);
                out.push(':');
                write(out, value);
            });
        }
    }
}

fn list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl Iterator<Item = T>,
    each: impl Fn(&mut String, T),
) {
    out.push(open);
    for (position, item) in items.enumerate() {
        if position > 0 {
            out.push(',');
        }
        each(out, item);
    }
    out.push(close);
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
