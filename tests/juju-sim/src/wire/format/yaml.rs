//! YAML as gopkg.in/yaml.v2 marshals the values that hook tools return: block style, keys in its natural order.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::emitter::Emitter;
use super::scalar::Style;
use crate::wire::go_text::general_float;
use crate::wire::yaml_v2::resolve::is_text;

/// The whole document, or nothing at all for a missing value.
pub(super) fn document(value: &Value) -> String {
    if value.is_null() {
        return String::new();
    }
    let mut emitter = Emitter::default();
    node(&mut emitter, value, Place::Root);
    let text = emitter.finish();
    text.trim_end_matches('\n').to_owned() + "\n"
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Item,
    SimpleKey,
    /// A key too long for its `:` to follow on the line.
    LongKey,
    MapValue,
}

fn node(emitter: &mut Emitter, value: &Value, place: Place) {
    match value {
        Value::Null => emitter.scalar("null", Style::Plain, place == Place::SimpleKey),
        Value::Bool(flag) => emitter.scalar(if *flag { "true" } else { "false" }, Style::Plain, false),
        Value::Number(number) => emitter.scalar(&super::number(number, general_float), Style::Plain, false),
        Value::String(text) => emitter.scalar(text, wanted(text), place == Place::SimpleKey),
        Value::Array(items) if items.is_empty() => emitter.empty("[", "]"),
        Value::Object(map) if map.is_empty() => emitter.empty("{", "}"),
        Value::Array(items) => list(emitter, items, place),
        Value::Object(map) => mapping(emitter, map),
    }
}

fn list(emitter: &mut Emitter, items: &[Value], place: Place) {
    let in_mapping = matches!(place, Place::MapValue | Place::LongKey);
    emitter.nest(in_mapping);
    for item in items {
        emitter.indent();
        emitter.indicator("-", true, false, true);
        node(emitter, item, Place::Item);
    }
    emitter.leave();
}

fn mapping(emitter: &mut Emitter, map: &Map<String, Value>) {
    let mut entries: Vec<(&String, &Value)> = map.iter().collect();
    entries.sort_by(|(a, _), (b, _)| natural(a, b));
    emitter.nest(false);
    for (key, value) in entries {
        emitter.indent();
        let key_node = Value::String(key.clone());
        if key.len() <= 128 && !key.contains(super::scalar::is_break) {
            node(emitter, &key_node, Place::SimpleKey);
            emitter.indicator(":", false, false, false);
        } else {
            emitter.indicator("?", true, false, true);
            node(emitter, &key_node, Place::LongKey);
            emitter.indent();
            emitter.indicator(":", true, false, true);
        }
        node(emitter, value, Place::MapValue);
    }
    emitter.leave();
}

/// The style that the encoder asks for; the emitter may have to choose a stronger one.
fn wanted(text: &str) -> Style {
    if text.contains('\n') {
        Style::Literal
    } else if is_text(text) && !is_base_60(text) {
        Style::Plain
    } else {
        Style::Double
    }
}

/// `12:30` and the like are numbers of YAML 1.1: `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`.
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = unsigned.split(':');
    let head_fits = parts.next().is_some_and(|head| {
        head.starts_with(|c: char| c.is_ascii_digit()) && head.chars().all(|c| c.is_ascii_digit() || c == '_')
    });
    let mut parts: Vec<&str> = parts.collect();
    if let Some(last) = parts.last_mut()
        && let Some((whole, fraction)) = last.split_once('.')
    {
        if !fraction.chars().all(|c| c.is_ascii_digit() || c == '_') {
            return false;
        }
        *last = whole;
    }
    let sixty =
        |part: &&str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|n| n < 60 && !part.starts_with('+'));
    head_fits && !parts.is_empty() && parts.iter().all(sixty)
}

/// Runs of digits compare by value, letters come after everything else.
fn natural(a: &str, b: &str) -> Ordering {
    let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let Some((at, (x, y))) = left.iter().zip(&right).enumerate().find(|(_, (x, y))| x != y) else {
        return left.len().cmp(&right.len());
    };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // Zeros within a number count as digits of it, leading ones do not.
    let before = left.iter().take(at).rev().take_while(|c| c.is_ascii_digit());
    let within = (*x == '0' || *y == '0') && before.clone().any(|c| *c != '0');
    let number = |chars: &[char]| {
        let digits = chars.iter().skip(at).map_while(|c| c.to_digit(10));
        let start = i64::from(within);
        let value =
            digits.clone().fold(start, |sum, digit| sum.wrapping_mul(10).wrapping_add(i64::from(digit)));
        (value, digits.count())
    };
    number(&left).cmp(&number(&right)).then(x.cmp(y))
}
