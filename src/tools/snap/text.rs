//! Texts of the `snap` command: messages on standard error, tables on standard output.

use crate::snap::CohortKey;
use crate::tools::line::line;

/// The longest text of a trouble, in characters.
const TEXT_LIMIT: usize = 500;
/// A word of the characters of base64 that is as long as this may be a cohort key. Real ones have
/// more than 80 characters; the longest other thing met is a digest.
const KEY_LENGTH: usize = 60;

/// What is on standard error, warnings left out and white space collapsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Messages {
    /// The text after `error: `.
    pub error: Option<String>,
    /// Anything else.
    pub remarks: Vec<String>,
}

impl Messages {
    /// Takes standard error apart. A message begins at the left edge; its other lines are indented.
    /// An error goes on to the end of the text, since it may quote the output of a snap's hook.
    pub fn parse(stderr: &str) -> Self {
        let mut messages = Self::default();
        let (mut error, mut warning) = (None::<String>, false);
        for line in stderr.lines() {
            if line.starts_with("WARNING: ") || (error.is_none() && line.starts_with("Warning: ")) {
                warning = true;
            } else if let Some(text) = line.strip_prefix("error: ").filter(|_| error.is_none()) {
                (error, warning) = (Some(text.to_owned()), false);
            } else if let Some(error) = error.as_mut().filter(|_| !warning) {
                error.push(' ');
                error.push_str(line);
            } else if line.starts_with([' ', '\t']) || line.is_empty() {
                if let Some(last) = messages.remarks.last_mut().filter(|_| !warning) {
                    last.push_str(line);
                }
            } else {
                warning = false;
                messages.remarks.push(line.to_owned());
            }
        }
        messages.error = error.map(|text| collapse(&text));
        messages.remarks = messages.remarks.iter().map(|text| collapse(text)).collect();
        messages
    }
}

/// The text with single blanks between its words: long messages come wrapped, and quote what was printed.
pub fn collapse(text: &str) -> String {
    line(text, usize::MAX)
}

/// The text on one line, what may be a cohort key shortened, and not longer than the limit.
pub fn shorten(text: &str) -> String {
    let mut shortened = String::with_capacity(text.len().min(4 * TEXT_LIMIT));
    let in_key = |c: char| c.is_ascii_alphanumeric() || "+/=_-".contains(c);
    let collapsed = collapse(text);
    let mut rest = collapsed.as_str();
    while !rest.is_empty() {
        let length = rest.find(|c| !in_key(c)).unwrap_or(rest.len());
        let (word, tail) = rest.split_at_checked(length).unwrap_or((rest, ""));
        shortened.push_str(&if word.len() < KEY_LENGTH { word.to_owned() } else { CohortKey::tail(word) });
        let next = tail.find(in_key).unwrap_or(tail.len());
        let (between, after) = tail.split_at_checked(next).unwrap_or((tail, ""));
        shortened.push_str(between);
        rest = after;
    }
    match shortened.char_indices().nth(TEXT_LIMIT) {
        Some((at, _)) => format!("{}…", shortened.get(..at).unwrap_or_default()),
        None => shortened,
    }
}

/// The text with that key shortened wherever it stands, even where wrapping put white space into it.
pub fn hide(text: &str, key: &str) -> String {
    let key: Vec<char> = key.chars().collect();
    let mut left: Vec<char> = Vec::with_capacity(text.len());
    for c in text.chars() {
        left.push(c);
        // The characters of the key, backwards, white space between them passed over.
        let (mut wanted, mut at) = (key.len(), left.len());
        while wanted > 0 && at > 0 {
            let found = left.get(at - 1).copied().unwrap_or_default();
            if Some(&found) == key.get(wanted - 1) {
                wanted -= 1;
            } else if !found.is_whitespace() || wanted == key.len() {
                break;
            }
            at -= 1;
        }
        // One of a few characters says nothing, and may be anywhere.
        if wanted == 0 && key.len() > 3 {
            left.truncate(at);
            let shown = key.len().min(18) / 2;
            left.push('…');
            left.extend(key.iter().skip(key.len() - shown));
        }
    }
    left.into_iter().collect()
}

/// The rows of a table with that header, each as its first cells and the rest of the line. An empty
/// text has none; the table ends at the first empty line.
pub fn rows<'a, const N: usize>(
    stdout: &'a str,
    header: &[&str; N],
) -> Result<Vec<([&'a str; N], &'a str)>, String> {
    let mut lines = stdout.lines();
    match lines.next() {
        None => return Ok(Vec::new()),
        Some(line) if line.split_whitespace().eq(header.iter().copied()) => {}
        Some(line) => return Err(format!("{line:?} is not the header {}", header.join(" "))),
    }
    lines.take_while(|line| !line.trim().is_empty()).map(cells).collect()
}

/// A line's first cells, and what begins with the last of them.
fn cells<const N: usize>(line: &str) -> Result<([&str; N], &str), String> {
    let mut found = [""; N];
    let (mut rest, mut last) = (line.trim(), "");
    for cell in &mut found {
        if rest.is_empty() {
            return Err(format!("{line:?} has not {N} cells"));
        }
        last = rest;
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (text, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        (*cell, rest) = (text, after.trim_start());
    }
    Ok((found, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "MSB0ZXN0LXNuYXAta2V5IDE3MDAwMDAwMDAgZGVhZGJlZWZkZWFkYmVlZg==";

    #[test]
    fn warnings_are_left_out_wherever_they_stand() {
        let wrapped = "Warning: /snap/bin was not found in your $PATH. If you've not\n         restarted your \
                       session.\n\nerror: local snap \"x\" is unknown to the store, use --amend to proceed\n       \
                       anyway\nWARNING: There is 1 new warning. See 'snap warnings'.\n";
        let messages = Messages::parse(wrapped);
        let expected = "local snap \"x\" is unknown to the store, use --amend to proceed anyway";
        assert_eq!(messages.error.as_deref(), Some(expected));
        assert_eq!(messages.remarks, Vec::<String>::new());
        let remark = Messages::parse("All snaps up to date.\nWARNING: There are 2 new warnings.\n");
        assert_eq!((remark.error, remark.remarks), (None, vec!["All snaps up to date.".to_owned()]));
    }

    #[test]
    fn an_error_keeps_what_it_quotes() {
        let text =
            "error: cannot perform the following tasks:\n- Run hook (run hook: \n-----\nError: no\n-----)\n";
        let expected = "cannot perform the following tasks: - Run hook (run hook: ----- Error: no -----)";
        assert_eq!(Messages::parse(text).error.as_deref(), Some(expected));
    }

    #[test]
    fn keys_are_shortened_even_where_they_were_wrapped() {
        let (head, tail) = KEY.split_at(31);
        for text in [format!("key {KEY} bad"), format!("key {head}\n       {tail} bad")] {
            assert_eq!(shorten(&hide(&text, KEY)), "key …kYmVlZg== bad");
        }
        assert_eq!(shorten(&format!("key {KEY} bad")), "key …kYmVlZg== bad");
        let twice = format!("{KEY}{KEY}, {KEY}");
        assert!(!hide(&twice, KEY).contains("MSB0"));
        assert_eq!(hide("a KEY1 b KEY", "KEY1"), "a …Y1 b KEY");
        assert_eq!(hide("1 + 1", "+"), "1 + 1");
    }

    #[test]
    fn a_long_text_is_cut_and_an_address_is_not() {
        assert_eq!(shorten(&"ab ".repeat(1000)).chars().count(), TEXT_LIMIT + 1);
        let address = "Post \"https://api.snapcraft.example/v2/snaps/refresh\": dial tcp";
        assert_eq!(shorten(address), address);
    }

    #[test]
    fn tables_have_their_header_and_the_last_cell_has_the_rest() {
        let table = rows("A  B   C\n1  2   three words\n4  5   6  \n\nmore\n", &["A", "B", "C"]).unwrap();
        assert_eq!(table, [(["1", "2", "three"], "three words"), (["4", "5", "6"], "6")]);
        assert_eq!(rows("", &["A"]), Ok(Vec::new()));
        assert!(rows("A B\n1\n", &["A", "B"]).is_err());
        assert!(rows("A C\n", &["A", "B"]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_apart(text in "(?s).*", key in "[A-Za-z+/=]{4,90}") {
            Messages::parse(&text);
            shorten(&text);
            let _ = rows::<3>(&text, &["A", "B", "C"]);
            let _ = cells::<2>(&text);
            let whole = hide(&format!("{text}{key}{text}"), &key);
            proptest::prop_assert!(!whole.contains(&key));
        }
    }
}
