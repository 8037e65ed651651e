//! What must hold of every answer.

use lockstep::databag::{Fault, Unread};
use std::fmt::Debug;

/// A part of every cohort key in the good texts.
const KEYS: [&str; 3] = ["MSBrdWJlYXBp", "MSBrdWJlbGV0", "MSB0ZXN0LXNu"];
/// Characters of a message. Texts of snapd may have 500, and a place comes before.
const LONGEST: usize = 700;

/// A message: something, one line, bounded, and no key in it.
pub fn message(text: &str) -> Result<(), String> {
    let fault = |what: &str| Err(format!("a message that {what}: {text:?}"));
    if text.trim().is_empty() {
        return fault("says nothing");
    }
    if text.chars().count() > LONGEST {
        return fault("is too long");
    }
    if text.chars().any(char::is_control) {
        return fault("has control characters");
    }
    if KEYS.iter().any(|key| text.contains(key)) {
        return fault("tells a cohort key");
    }
    Ok(())
}

/// A status or a line of the log: every status is put on one line and cut before it is kept, and every line
/// of the log before it is handed over.
pub fn shown(line: &str) -> Result<(), String> {
    message(&line.chars().take(500).map(|c| if c.is_control() { ' ' } else { c }).collect::<String>())
}

/// A fault: a JSON path, and a reason.
pub fn fault(fault: &Fault) -> Result<(), String> {
    if !fault.path.starts_with('$') {
        return Err(format!("{:?} is no path", fault.path));
    }
    if fault.path.chars().any(char::is_control) {
        return Err(format!("{:?} has control characters", fault.path));
    }
    // Its length is not bounded: it is made of the names of the input's own fields.
    message(&fault.reason)
}

/// A value with a format: read, written, read as the same, written as the same.
pub fn kept<T: PartialEq + Debug>(
    text: &str,
    read: impl Fn(&str) -> Result<T, Unread>,
    write: impl Fn(&T) -> String,
) -> Result<(), String> {
    match read(text) {
        Err(unread) => fault(unread.fault()),
        Ok(value) => again(&value, |text| read(text).map_err(|unread| unread.to_string()), write),
    }
}

/// What was read, written and read and written again.
pub fn again<T: PartialEq + Debug>(
    value: &T,
    read: impl Fn(&str) -> Result<T, String>,
    write: impl Fn(&T) -> String,
) -> Result<(), String> {
    let written = write(value);
    let read_again = read(&written).map_err(|why| format!("what was written is not read: {why}"))?;
    same(&read_again, value)?;
    same(&write(&read_again), &written)
}

/// Whether two are the same.
pub fn same<T: PartialEq + Debug>(one: &T, two: &T) -> Result<(), String> {
    if one == two { Ok(()) } else { Err(format!("{one:?} is not {two:?}")) }
}
