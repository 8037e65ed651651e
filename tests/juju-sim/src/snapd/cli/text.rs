//! Tables, wrapped messages and times, as snapd's client writes them.

use crate::world::Time;

/// Rows with cells that are padded to one width a column; the last cell of a row is not.
pub(super) fn table(rows: &[Vec<String>], least: usize, gap: usize) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        let padded = row.split_last().map_or(&[][..], |(_, padded)| padded);
        for (column, cell) in padded.iter().enumerate() {
            let width = (cell.chars().count() + gap).max(least);
            match widths.get_mut(column) {
                Some(old) => *old = width.max(*old),
                None => widths.push(width),
            }
        }
    }
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let width = if column + 1 == row.len() { 0 } else { widths.get(column).copied().unwrap_or(0) };
            out.push_str(&format!("{cell:<width$}"));
        }
        out.push('\n');
    }
    out
}

/// A table of `list`, `changes` and their like.
pub(super) fn wide(rows: &[Vec<String>]) -> String {
    table(rows, 5, 2)
}

pub(super) fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Wraps at the terminal's width; lines after the first are indented. Lines that begin with a blank stay as they are.
pub(super) fn fill(text: &str, columns: usize, indent: usize) -> String {
    let columns = match columns {
        0..40 => 80,
        41..=100 => columns,
        40 => 40,
        _ => 100,
    };
    let width = columns.saturating_sub(1 + indent);
    let margin = " ".repeat(indent);
    let mut blocks: Vec<String> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    let flush = |words: &mut Vec<&str>, blocks: &mut Vec<String>| {
        if !words.is_empty() {
            blocks.push(paragraph(&std::mem::take(words), width, &margin));
        }
    };
    let mut before_was_table = false;
    for line in text.lines() {
        if line.trim().is_empty() {
            flush(&mut words, &mut blocks);
            before_was_table = false;
        } else if line.starts_with(' ') {
            flush(&mut words, &mut blocks);
            let line = format!("{margin}{}", line.trim());
            match blocks.last_mut().filter(|_| before_was_table) {
                Some(last) => *last = format!("{last}\n{line}"),
                None => blocks.push(line),
            }
            before_was_table = true;
        } else {
            words.extend(line.split_whitespace());
            before_was_table = false;
        }
    }
    flush(&mut words, &mut blocks);
    blocks.join("\n\n").trim().to_owned()
}

fn paragraph(words: &[&str], width: usize, margin: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push((*word).to_owned()),
        }
    }
    lines.iter().map(|line| format!("{margin}{line}")).collect::<Vec<_>>().join("\n")
}

const DAY: u64 = 86_400_000;

/// `29 days ago, at 10:00 UTC`
pub(in crate::snapd) fn human(then: Time, now: Time) -> String {
    let clock = then.rfc3339().get(11..16).unwrap_or("").to_owned();
    let days = (then.0 / DAY) as i64 - (now.0 / DAY) as i64;
    match days {
        -60..=-2 => format!("{} days ago, at {clock} UTC", -days),
        -1 => format!("yesterday at {clock} UTC"),
        0 => format!("today at {clock} UTC"),
        1 => format!("tomorrow at {clock} UTC"),
        2..=60 => format!("in {days} days, at {clock} UTC"),
        _ => then.date(),
    }
}

/// In either form.
pub(super) fn moment(then: Time, now: Time, absolute: bool) -> String {
    if absolute { then.rfc3339() } else { human(then, now) }
}

/// The same minute, without its seconds.
pub(super) fn minute(time: Time) -> Time {
    Time(time.0 / 60_000 * 60_000)
}

/// `31MB`, `9kB`, `512B`
pub(super) fn size(bytes: u64) -> String {
    for (unit, divisor) in [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)] {
        if bytes >= divisor {
            return format!("{}{unit}", bytes / divisor);
        }
    }
    format!("{bytes}B")
}

/// As Go quotes texts without odd characters.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// `"a", "b"`
pub(super) fn all_quoted(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}
