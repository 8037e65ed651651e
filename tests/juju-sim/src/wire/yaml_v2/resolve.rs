//! Which type yaml.v2 gives a plain scalar.

use serde_json::{Number, Value};

/// A plain scalar, by type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plain {
    Null,
    Bool(bool),
    Int(Number),
    /// Infinities and NaN included.
    Float(f64),
    Timestamp,
    Text,
}

pub(crate) fn resolve(text: &str) -> Plain {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Plain::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Plain::Bool(false);
        }
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        ".nan" | ".NaN" | ".NAN" => return Plain::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Plain::Float(f64::INFINITY);
        }
        "-.inf" | "-.Inf" | "-.INF" => return Plain::Float(f64::NEG_INFINITY),
        _ => {}
    }
    match text.chars().next() {
        Some('.') => float(text).map_or(Plain::Text, Plain::Float),
        Some('+' | '-' | '0'..='9') if is_timestamp(text) => Plain::Timestamp,
        Some('+' | '-' | '0'..='9') => {
            let plain = text.replace('_', "");
            let number = int(&plain).map(Plain::Int);
            number.or_else(|| float(&plain).map(Plain::Float)).unwrap_or(Plain::Text)
        }
        Some(_) | None => Plain::Text,
    }
}

/// The type of a plain scalar, by the name that error texts use.
pub(crate) fn tag(text: &str) -> &'static str {
    match resolve(text) {
        Plain::Null => "!!null",
        Plain::Bool(_) => "!!bool",
        Plain::Int(_) => "!!int",
        Plain::Float(_) => "!!float",
        Plain::Timestamp => "!!timestamp",
        Plain::Text => "!!str",
    }
}

/// Whether the scalar stays a string when it stands without quotes.
pub(crate) fn is_text(text: &str) -> bool {
    resolve(text) == Plain::Text
}

/// The value where any type is taken. Dates stay strings; what JSON cannot hold is none.
pub(crate) fn value(text: &str) -> Option<Value> {
    Some(match resolve(text) {
        Plain::Null => Value::Null,
        Plain::Bool(flag) => flag.into(),
        Plain::Int(number) => number.into(),
        Plain::Float(number) => Number::from_f64(number)?.into(),
        Plain::Timestamp | Plain::Text => text.into(),
    })
}

/// As `strconv.ParseInt` and `ParseUint` with base 0: decimal, or with a prefix binary, octal, hexadecimal; a bare
/// leading zero is octal.
pub(crate) fn int(plain: &str) -> Option<Number> {
    let (sign, unsigned) = match plain.strip_prefix(['-', '+']) {
        Some(rest) => (plain.chars().next(), rest),
        None => (None, plain),
    };
    let lower = unsigned.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (lower.get(2..)?, 16),
        Some("0o") => (lower.get(2..)?, 8),
        Some("0b") => (lower.get(2..)?, 2),
        Some(_) if lower.starts_with('0') => (lower.get(1..)?, 8),
        Some(_) | None => (lower.as_str(), 10),
    };
    if !digits.chars().all(|c| c.is_digit(base)) {
        return None;
    }
    let size = u64::from_str_radix(digits, base).ok()?;
    match sign {
        Some('-') => 0i64.checked_sub_unsigned(size).map(Number::from),
        Some(_) => i64::try_from(size).ok().map(Number::from),
        None => Some(size.into()),
    }
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, within the range of 64 bits.
fn float(plain: &str) -> Option<f64> {
    let shape = plain.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-'));
    plain.parse().ok().filter(|number: &f64| shape && number.is_finite())
}

/// `2006-1-2`, optionally with a time: after `T` or `t` with a zone, after a blank without one.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (text.get(..at), text.get(at..)),
        None => (Some(text), None),
    };
    date.is_some_and(is_date) && time.is_none_or(is_time)
}

fn is_date(date: &str) -> bool {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year_number), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year_number % 4 == 0 && (year_number % 100 != 0 || year_number % 400 == 0);
    let last = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    year.len() == 4 && (1..=last).contains(&day)
}

fn is_time(text: &str) -> bool {
    let (clock, zone) = if let Some(clock) = text.strip_prefix(' ') {
        (clock, None)
    } else {
        let rest = text.get(1..).unwrap_or_default();
        let Some(at) = rest.find(['Z', '+', '-']) else {
            return false;
        };
        (rest.get(..at).unwrap_or_default(), rest.get(at..))
    };
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts.as_slice() else {
        return false;
    };
    let (second, fraction) = second.split_once(['.', ',']).unwrap_or((second, "0"));
    digits(hour, 2).is_some_and(|hour| hour < 24)
        && [*minute, second].iter().all(|part| digits(part, 2).is_some_and(|n| n < 60))
        && digits(fraction, usize::MAX).is_some()
        && zone.is_none_or(is_zone)
}

fn is_zone(zone: &str) -> bool {
    let offset = |text: &str| {
        text.split_once(':').is_some_and(|(hours, minutes)| {
            (hours.len(), minutes.len()) == (2, 2)
                && digits(hours, 2).is_some_and(|n| n <= 24)
                && digits(minutes, 2).is_some_and(|n| n < 60)
        })
    };
    zone == "Z" || zone.strip_prefix(['+', '-']).is_some_and(offset)
}

fn digits(text: &str, most: usize) -> Option<u64> {
    let fits = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| {
        text.bytes().fold(0, |sum: u64, b| sum.saturating_mul(10).saturating_add(u64::from(b - b'0')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_scalars_have_the_types_of_yaml_v2() {
        for (expected, texts) in [
            ("!!str", "<< foo=bar 08x 1.2.3 0x -- + - . .x 1e 12:30 2025-13-01 2025-1 25-1-1 09 1__x é"),
            ("!!int", "1 -1 +1 0x1F 0o17 017 0b11 1_000 18446744073709551615 -0"),
            ("!!float", "1.5 1. .5 1e3 -1.5E-2 .inf 99999999999999999999 08"),
            ("!!bool", "y No on"),
            ("!!null", "~ NULL"),
            ("!!timestamp", "2025-11-05 2025-1-2T3:4:5Z 2025-01-02t03:04:05.25+01:00 2024-02-29"),
        ] {
            for text in texts.split(' ') {
                let expected = if text == "09" { "!!float" } else { expected };
                assert_eq!(tag(text), expected, "{text}");
            }
        }
        assert_eq!((tag("2025-11-05 15:29:12"), tag("2025-11-05 15:29:12Z")), ("!!timestamp", "!!str"));
    }
}
