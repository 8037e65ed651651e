//! What others have written, as a part of a message.

/// The text on one line, without control characters, and not longer than so many characters.
pub(super) fn line(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_and_bounded() {
        assert_eq!(line(" a\n\0b\u{1b}[31m ü\u{85}", 20), "a b [31m ü");
        assert_eq!(line(&"ü".repeat(5), 3), "üüü…");
        assert_eq!(line(&"ü".repeat(3), 3), "üüü");
    }
}
