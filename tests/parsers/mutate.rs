//! Damage to texts that were good: as bytes, and as JSON, also within a text that is itself JSON.

use proptest::prelude::*;
use serde_json::{Map, Value};

/// One change: which kind, and numbers from which its place and content follow.
pub type Change = (u8, u16, u16);

/// What somebody may put in.
const WORDS: [&str; 24] = [
    "\0",
    "\u{1b}[31m",
    "\\ud800",
    "\\udc00\\ud800",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e999",
    "0.30000000000000004",
    "8.41e21",
    "-0",
    "--all",
    "\u{feff}",
    "\u{2028}",
    "é́",
    "\u{10ffff}",
    "\"",
    "\\",
    "{\"format\":2}",
    "null",
    "\n",
    "\r\n",
    "/",
    "..",
];

/// What stands in the place of a JSON value.
fn word(number: u16) -> Value {
    let values = [
        "null",
        "true",
        "-1",
        "0",
        "18446744073709551615",
        "9223372036854775808",
        "1e308",
        "8.41e21",
        "0.30000000000000004",
        "\"\"",
        "\"\\u0000\"",
        "\"--all\"",
        "\"1\"",
        "[]",
        "{}",
        "[[]]",
        "{\"\":{}}",
        "\"kubelet\"",
        "\"lockstep/0\"",
        "\"18446744073709551615-00000000\"",
    ];
    match usize::from(number) % (values.len() + 3) {
        0 => deep(200),
        1 => Value::from("x".repeat(3000)),
        2 => Value::from("é\u{7}\n".repeat(300)),
        other => serde_json::from_str(values[other - 3]).unwrap(),
    }
}

/// A list in a list in a list.
fn deep(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
}

/// Some changes, often few.
pub fn changes() -> impl Strategy<Value = Vec<Change>> {
    proptest::collection::vec(any::<Change>(), 0..4)
}

/// The text after these changes.
pub fn apply(text: &str, changes: &[Change]) -> String {
    changes.iter().fold(text.to_owned(), |text, change| one(&text, *change))
}

fn one(text: &str, (kind, from, to): Change) -> String {
    // Three of five changes leave JSON as JSON, where it is that.
    if kind % 5 < 3
        && let Ok(mut value) = serde_json::from_str::<Value>(text)
    {
        json(&mut value, (kind / 5, from, to));
        return value.to_string();
    }
    let chars: Vec<char> = text.chars().collect();
    let place = |number: u16| usize::from(number) * (chars.len() + 1) / (usize::from(u16::MAX) + 1);
    let (from, to) = (place(from.min(to)), place(from.max(to)));
    let part = |chars: &[char]| chars.iter().collect::<String>();
    let (before, middle, after) = (part(&chars[..from]), part(&chars[from..to]), part(&chars[to..]));
    match kind / 5 % 8 {
        0 => before,
        1 => format!("{before}{after}"),
        2 => format!("{before}{middle}{middle}{after}"),
        3 => format!("{before}{}{middle}{after}", WORDS[usize::from(kind) % WORDS.len()]),
        4 => format!("{before}{}{after}", WORDS[to % WORDS.len()]),
        5 => format!("{before}{}{middle}{after}", "[".repeat(200)),
        6 => format!("{before}{}", middle.to_uppercase()),
        _ => match chars.get(from) {
            // One bit of one character.
            Some(c) => {
                let flipped = char::from_u32(u32::from(*c) ^ (1 << (to % 7))).unwrap_or('?');
                format!("{before}{flipped}{}", part(&chars[from + 1..]))
            }
            None => text.repeat(2),
        },
    }
}

/// One change at a place of a JSON value; of a text that is JSON, within it.
fn json(value: &mut Value, (kind, from, to): Change) {
    let count = places(value);
    let mut left = usize::from(from) % count;
    at(value, &mut left, &mut |found| {
        if kind % 4 == 3
            && let Value::String(text) = found
            && let Ok(mut inner) = serde_json::from_str::<Value>(text)
        {
            json(&mut inner, (kind / 4, to, from));
            *text = inner.to_string();
            return;
        }
        match (kind % 4, found) {
            (0, Value::Object(fields)) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                if let Some(name) = names.get(usize::from(to) % names.len().max(1)) {
                    fields.remove(name);
                }
            }
            (1, Value::Object(fields)) => rename(fields, to),
            (0, Value::Array(items)) if !items.is_empty() => {
                items.remove(usize::from(to) % items.len());
            }
            (1, Value::Array(items)) if !items.is_empty() => {
                let item = items[usize::from(to) % items.len()].clone();
                items.push(item);
            }
            (_, found) => *found = word(to),
        }
    });
}

/// A field gets another name, or comes once more under one.
fn rename(fields: &mut Map<String, Value>, number: u16) {
    let names: Vec<String> = fields.keys().cloned().collect();
    let Some(name) = names.get(usize::from(number) % names.len().max(1)) else { return };
    let value = if number.is_multiple_of(2) { fields.remove(name).unwrap() } else { fields[name].clone() };
    let new = format!("{name}{}", WORDS[usize::from(number) % WORDS.len()]);
    fields.insert(new, value);
}

fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(fields) => fields.values().map(places).sum(),
        Value::Array(items) => items.iter().map(places).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn at(value: &mut Value, left: &mut usize, found: &mut impl FnMut(&mut Value)) -> bool {
    if *left == 0 {
        found(value);
        return true;
    }
    *left -= 1;
    match value {
        Value::Object(fields) => fields.values_mut().any(|value| at(value, left, found)),
        Value::Array(items) => items.iter_mut().any(|value| at(value, left, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
