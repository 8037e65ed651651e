//! Texts as Go's `fmt` and `strconv` write them, for error messages.

use std::fmt::Write as _;

use serde_json::Value;

/// A string as `%q` writes it.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            _ if is_printable(c) => out.push(c),
            '\0'..='\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => {
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}

/// A list of strings as `%q` writes it: `["a" "b"]`.
pub fn quote_list<T: AsRef<str>>(items: &[T]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| quote(item.as_ref())).collect();
    format!("[{}]", quoted.join(" "))
}

/// A 64-bit float as Go's encoding/json writes it: no `.0` on whole numbers, an exponent only far out.
pub fn json_float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{number:e}");
        return match text.split_once('e') {
            Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
            Some(_) | None => text,
        };
    }
    format!("{number}")
}

/// A 64-bit float as `strconv.FormatFloat(f, 'g', -1, 64)` writes it.
pub fn general_float(number: f64) -> String {
    let text = format!("{number:e}");
    let Some((digits, power)) = text.split_once('e') else {
        return text;
    };
    match power.parse::<i32>() {
        Ok(exponent) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.abs())
        }
        Ok(_) | Err(_) => format!("{number}"),
    }
}

/// A value as `%#v` writes it.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_f64() => general_float(number.as_f64().unwrap_or_default()),
        // Beyond the signed numbers it is an unsigned one, which Go shows in hexadecimal.
        Value::Number(number) if !number.is_i64() => {
            format!("{:#x}", number.as_u64().unwrap_or_default())
        }
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote(text),
        Value::Array(items) => format!("[]interface {{}}{{{}}}", joined(items.iter().map(literal))),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{}:{}", quote(key), literal(value)));
            format!("map[interface {{}}]interface {{}}{{{}}}", joined(entries))
        }
    }
}

/// A value as juju/schema writes what it did not expect: `%T(%#v)`.
pub fn typed_literal(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "nothing".to_owned(),
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(number) if !number.is_i64() => "uint64",
        Value::Number(_) => "int",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[interface {}]interface {}",
    };
    format!("{kind}({})", literal(value))
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// Rust escapes for debug output what Go regards as not printable. The leading letter keeps combining
/// characters, which both print, from being escaped as the first of the string.
fn is_printable(c: char) -> bool {
    !format!("a{c}").escape_debug().to_string().contains("\\u{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_quoted_like_percent_q() {
        for (text, expected) in [
            ("x", r#""x""#),
            ("a\"b\\c", r#""a\"b\\c""#),
            ("é🙂\u{301}", "\"é🙂\u{301}\""),
            ("\0\n\t\u{7f}", r#""\x00\n\t\x7f""#),
            ("\u{85}\u{a0}\u{200b}", r#""\u0085\u00a0\u200b""#),
            ("\u{e0001}", r#""\U000e0001""#),
        ] {
            assert_eq!(quote(text), expected);
        }
        assert_eq!(quote_list(&["x", "y z"]), r#"["x" "y z"]"#);
    }

    #[test]
    fn floats_are_written_like_go() {
        for (number, json, general) in [
            (45.0, "45", "45"),
            (0.5, "0.5", "0.5"),
            (-0.25, "-0.25", "-0.25"),
            (1e21, "1e+21", "1e+21"),
            (1e20, "100000000000000000000", "1e+20"),
            (1e-7, "1e-7", "1e-07"),
            (1_234_567.0, "1234567", "1.234567e+06"),
            (0.0, "0", "0"),
        ] {
            assert_eq!((json_float(number).as_str(), general_float(number).as_str()), (json, general));
        }
    }
}
