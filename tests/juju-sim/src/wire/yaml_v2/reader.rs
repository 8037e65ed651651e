//! Bytes to characters, with the place in the text.
//!
//! Like libyaml's reader it decodes 512 bytes ahead: a bad byte is an error as soon as its block is reached, and
//! none at all when reading stops before.

use std::fmt;

const BLOCK: usize = 512;

/// What stops the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// Counted from one; the first line is not named.
    line: Option<usize>,
    text: String,
}

impl Fault {
    /// A bad byte or character: yaml.v2 gives no line for these.
    fn of_reader(text: &str) -> Self {
        Self { line: None, text: format!("yaml: {text}") }
    }

    /// At the present place. The line shown is one more than for the parser, on the first line it is left out.
    pub(super) fn of_scanner(mark: Mark, text: &str) -> Self {
        Self { line: (mark.line > 0).then_some(mark.line + 1), text: format!("yaml: {text}") }
    }

    /// At the token that does not fit, or else at the start of what is not complete.
    pub(super) fn of_parser(line: usize, context: usize, text: &str) -> Self {
        let line = if line > 0 { line } else { context };
        Self { line: (line > 0).then_some(line), text: format!("yaml: {text}") }
    }

    /// YAML that the real parser takes and this one does not.
    pub(super) fn unsupported(what: &str) -> Self {
        Self { line: None, text: format!("juju-sim: YAML form not supported: {what}") }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.text.strip_prefix("yaml: ")) {
            (Some(line), Some(text)) => write!(f, "yaml: line {line}: {text}"),
            _ => f.write_str(&self.text),
        }
    }
}

/// A place in the text, counted from zero in characters.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mark {
    pub(super) index: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

#[derive(Debug)]
pub(super) struct Reader<'a> {
    raw: &'a [u8],
    /// Of the first byte not decoded yet.
    offset: usize,
    /// Decoded and not consumed before the last refill.
    chars: Vec<char>,
    next: usize,
    pub(super) mark: Mark,
}

impl<'a> Reader<'a> {
    pub(super) fn new(raw: &'a [u8]) -> Result<Self, Fault> {
        if raw.starts_with(&[0xff, 0xfe]) || raw.starts_with(&[0xfe, 0xff]) {
            return Err(Fault::unsupported("UTF-16"));
        }
        let offset = if raw.starts_with("\u{feff}".as_bytes()) { 3 } else { 0 };
        Ok(Self { raw, offset, chars: Vec::new(), next: 0, mark: Mark::default() })
    }

    /// The character this far ahead. A NUL, which cannot occur in the text, stands for its end.
    pub(super) fn peek(&mut self, ahead: usize) -> Result<char, Fault> {
        loop {
            if let Some(c) = self.chars.get(self.next + ahead) {
                return Ok(*c);
            }
            if self.offset >= self.raw.len() {
                return Ok('\0');
            }
            self.refill()?;
        }
    }

    /// Pass one character on the same line.
    pub(super) fn skip(&mut self) {
        self.next += 1;
        self.mark.index += 1;
        self.mark.column += 1;
    }

    /// Take one character on the same line.
    pub(super) fn take(&mut self, into: &mut String) -> Result<(), Fault> {
        into.push(self.peek(0)?);
        self.skip();
        Ok(())
    }

    /// Pass a line break, and say how it reads: CR LF, CR, LF and U+0085 all as LF.
    pub(super) fn take_break(&mut self) -> Result<char, Fault> {
        let first = self.peek(0)?;
        if first == '\r' && self.peek(1)? == '\n' {
            self.skip();
        }
        self.skip();
        self.mark.column = 0;
        self.mark.line += 1;
        Ok(if matches!(first, '\u{2028}' | '\u{2029}') { first } else { '\n' })
    }

    /// `---` or `...` at the start of a line, followed by white space or nothing.
    pub(super) fn at_document_mark(&mut self, c: char) -> Result<bool, Fault> {
        // libyaml reads four characters ahead here, and so meets bad ones that early, at any column.
        self.peek(3)?;
        Ok(self.mark.column == 0
            && self.peek(0)? == c
            && self.peek(1)? == c
            && self.peek(2)? == c
            && is_blank_or_end(self.peek(3)?))
    }

    fn refill(&mut self) -> Result<(), Fault> {
        self.chars.drain(..self.next);
        self.next = 0;
        let start = self.offset;
        let end = self.raw.len().min(start + BLOCK);
        while self.offset < end {
            let window = self.raw.get(self.offset..end).unwrap_or_default();
            let Some((c, width)) = decode(window)? else {
                // The rest of the character is in the next block. That there is none shows on the next refill.
                if self.offset == start {
                    return Err(Fault::of_reader("incomplete UTF-8 octet sequence"));
                }
                break;
            };
            if !is_allowed(c) {
                return Err(Fault::of_reader("control characters are not allowed"));
            }
            self.chars.push(c);
            self.offset += width;
        }
        Ok(())
    }
}

/// The first character and its width; none if the bytes end within it.
fn decode(bytes: &[u8]) -> Result<Option<(char, usize)>, Fault> {
    let Some(first) = bytes.first().copied() else {
        return Ok(None);
    };
    let (width, least, lead) = match first {
        0x00..=0x7f => return Ok(Some((char::from(first), 1))),
        0xc0..=0xdf => (2, 0x80, first & 0x1f),
        0xe0..=0xef => (3, 0x800, first & 0x0f),
        0xf0..=0xf7 => (4, 0x1_0000, first & 0x07),
        _ => return Err(Fault::of_reader("invalid leading UTF-8 octet")),
    };
    let Some(trail) = bytes.get(1..width) else {
        return Ok(None);
    };
    if trail.iter().any(|octet| octet & 0xc0 != 0x80) {
        return Err(Fault::of_reader("invalid trailing UTF-8 octet"));
    }
    let value = trail.iter().fold(u32::from(lead), |value, octet| (value << 6) + u32::from(octet & 0x3f));
    if value < least {
        return Err(Fault::of_reader("invalid length of a UTF-8 sequence"));
    }
    char::from_u32(value)
        .map(|c| Some((c, width)))
        .ok_or_else(|| Fault::of_reader("invalid Unicode character"))
}

fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

pub(super) fn is_break_or_end(c: char) -> bool {
    c == '\0' || is_break(c)
}

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

pub(super) fn is_blank_or_end(c: char) -> bool {
    is_blank(c) || is_break_or_end(c)
}
