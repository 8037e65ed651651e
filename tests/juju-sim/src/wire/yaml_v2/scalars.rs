//! The text of quoted and plain scalars.

use super::reader::{Fault, is_blank, is_blank_or_end, is_break};
use super::scanner::Scanner;

/// White space between two words of a scalar.
#[derive(Default)]
struct Gap {
    blanks: String,
    first_break: Option<char>,
    further_breaks: String,
}

impl Gap {
    /// One line break folds to a blank, more of them to all but the first. An unfoldable one stays.
    fn join(&mut self, text: &mut String) {
        match self.first_break.take() {
            Some('\n') if self.further_breaks.is_empty() => text.push(' '),
            Some('\n') => text.push_str(&self.further_breaks),
            Some(other) => {
                text.push(other);
                text.push_str(&self.further_breaks);
            }
            None => text.push_str(&self.blanks),
        }
        self.further_breaks.clear();
        self.blanks.clear();
    }
}

impl Scanner<'_> {
    pub(super) fn quoted_scalar(&mut self, quote: char) -> Result<String, Fault> {
        let mut text = String::new();
        let mut gap = Gap::default();
        self.reader.skip();
        loop {
            if self.reader.at_document_mark('-')? || self.reader.at_document_mark('.')? {
                return self.fault("found unexpected document indicator");
            }
            if self.reader.peek(0)? == '\0' {
                return self.fault("found unexpected end of stream");
            }
            let escaped_break = self.quoted_word(quote, &mut text)?;
            if self.reader.peek(0)? == quote {
                self.reader.skip();
                return Ok(text);
            }
            self.gap(&mut gap, escaped_break)?;
            if escaped_break && gap.first_break.is_none() {
                text.push_str(&gap.further_breaks);
                gap = Gap::default();
            } else {
                gap.join(&mut text);
            }
        }
    }

    /// Up to white space or the closing quote; true if it ends in an escaped line break.
    fn quoted_word(&mut self, quote: char, text: &mut String) -> Result<bool, Fault> {
        loop {
            let c = self.reader.peek(0)?;
            if is_blank_or_end(c) {
                return Ok(false);
            }
            if quote == '\'' && c == quote && self.reader.peek(1)? == quote {
                text.push(quote);
                self.reader.skip();
                self.reader.skip();
            } else if c == quote {
                return Ok(false);
            } else if quote == '"' && c == '\\' {
                if is_break(self.reader.peek(1)?) {
                    self.reader.skip();
                    self.reader.take_break()?;
                    return Ok(true);
                }
                self.escape(text)?;
            } else {
                self.reader.take(text)?;
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), Fault> {
        let digits = match self.reader.peek(1)? {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            code => {
                let Some(c) = simple_escape(code) else {
                    return self.fault("found unknown escape character");
                };
                text.push(c);
                0
            }
        };
        self.reader.skip();
        self.reader.skip();
        if digits == 0 {
            return Ok(());
        }
        let mut value = 0;
        for ahead in 0..digits {
            let Some(digit) = self.reader.peek(ahead)?.to_digit(16) else {
                return self.fault("did not find expected hexdecimal number");
            };
            value = (value << 4) + digit;
        }
        let Some(c) = char::from_u32(value) else {
            return self.fault("found invalid Unicode character escape code");
        };
        text.push(c);
        (0..digits).for_each(|_| self.reader.skip());
        Ok(())
    }

    /// White space within a scalar; blanks at the start of a line do not count.
    fn gap(&mut self, gap: &mut Gap, mut at_line_start: bool) -> Result<(), Fault> {
        loop {
            let c = self.reader.peek(0)?;
            if is_blank(c) {
                if at_line_start {
                    self.reader.skip();
                } else {
                    self.reader.take(&mut gap.blanks)?;
                }
            } else if is_break(c) {
                let line_break = self.reader.take_break()?;
                if at_line_start {
                    gap.further_breaks.push(line_break);
                } else {
                    gap.blanks.clear();
                    gap.first_break = Some(line_break);
                    at_line_start = true;
                }
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn plain_scalar(&mut self) -> Result<String, Fault> {
        let mut text = String::new();
        let mut gap = Gap::default();
        let mut broken = false;
        let least = self.indent.map_or(0, |indent| indent + 1);
        loop {
            if self.reader.at_document_mark('-')? || self.reader.at_document_mark('.')? {
                break;
            }
            if self.reader.peek(0)? == '#' {
                break;
            }
            while !self.plain_ends()? {
                gap.join(&mut text);
                broken = false;
                self.reader.take(&mut text)?;
            }
            let c = self.reader.peek(0)?;
            if !(is_blank(c) || is_break(c)) {
                break;
            }
            broken = self.plain_gap(&mut gap, least)?;
            if !self.in_flow() && self.reader.mark.column < least {
                break;
            }
        }
        if broken {
            self.key_allowed = true;
        }
        Ok(text)
    }

    fn plain_ends(&mut self) -> Result<bool, Fault> {
        let c = self.reader.peek(0)?;
        Ok(is_blank_or_end(c)
            || (c == ':' && is_blank_or_end(self.reader.peek(1)?))
            || (self.in_flow() && matches!(c, ',' | '?' | '[' | ']' | '{' | '}')))
    }

    /// As in quotes, but a tab may not stand where the indentation is. True if a line ended.
    fn plain_gap(&mut self, gap: &mut Gap, least: usize) -> Result<bool, Fault> {
        let mut broken = false;
        loop {
            let c = self.reader.peek(0)?;
            if is_blank(c) {
                if broken && c == '\t' && self.reader.mark.column < least {
                    return self.fault("found a tab character that violates indentation");
                }
                if broken {
                    self.reader.skip();
                } else {
                    self.reader.take(&mut gap.blanks)?;
                }
            } else if is_break(c) {
                let line_break = self.reader.take_break()?;
                if broken {
                    gap.further_breaks.push(line_break);
                } else {
                    gap.blanks.clear();
                    gap.first_break = Some(line_break);
                    broken = true;
                }
            } else {
                return Ok(broken);
            }
        }
    }

    pub(super) fn fault<T>(&self, text: &str) -> Result<T, Fault> {
        Err(Fault::of_scanner(self.reader.mark, text))
    }
}

fn simple_escape(code: char) -> Option<char> {
    Some(match code {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '\'' | '\\' => code,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}
