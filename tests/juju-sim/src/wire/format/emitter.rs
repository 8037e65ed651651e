//! Layout of a YAML text: columns, indentation, and where long scalars are folded.

use super::scalar::{self, Style};

/// Lines are folded at the first space after this column.
const WIDTH: usize = 80;
const STEP: usize = 2;

#[derive(Debug)]
pub(super) struct Emitter {
    out: String,
    column: usize,
    /// Of the collection being written; none at the root.
    level: Option<usize>,
    outer: Vec<Option<usize>>,
    /// The last thing written was white space.
    whitespace: bool,
    /// Nothing but indentation and `-`, `?`, `:` stands on this line.
    indention: bool,
}

impl Default for Emitter {
    fn default() -> Self {
        Self {
            out: String::new(),
            column: 0,
            level: None,
            outer: Vec::new(),
            whitespace: true,
            indention: true,
        }
    }
}

impl Emitter {
    pub(super) fn finish(mut self) -> String {
        self.level = None;
        self.indent();
        self.out
    }

    /// Enter a collection. A list that is the value of a key stands at the column of the key.
    pub(super) fn nest(&mut self, list_in_mapping: bool) {
        self.outer.push(self.level);
        self.level = match self.level {
            None => Some(0),
            Some(level) if list_in_mapping && !self.indention => Some(level),
            Some(level) => Some(level + STEP),
        };
    }

    pub(super) fn leave(&mut self) {
        self.level = self.outer.pop().flatten();
    }

    /// Go to the indentation of the present level, on a new line unless this one has nothing else yet.
    pub(super) fn indent(&mut self) {
        let level = self.level.unwrap_or(0);
        if !self.indention || self.column > level || (self.column == level && !self.whitespace) {
            self.line_break('\n');
        }
        while self.column < level {
            self.put(' ');
        }
        self.whitespace = true;
        self.indention = true;
    }

    pub(super) fn indicator(&mut self, text: &str, needs_space: bool, is_space: bool, is_indention: bool) {
        if needs_space && !self.whitespace {
            self.put(' ');
        }
        text.chars().for_each(|c| self.put(c));
        self.whitespace = is_space;
        self.indention &= is_indention;
    }

    pub(super) fn empty(&mut self, open: &str, close: &str) {
        self.indicator(open, true, true, false);
        self.indicator(close, false, false, false);
    }

    pub(super) fn scalar(&mut self, text: &str, wanted: Style, simple_key: bool) {
        // Folded and literal lines stand one step in, also where the scalar is the document.
        self.outer.push(self.level);
        self.level = Some(self.level.map_or(STEP, |level| level + STEP));
        match scalar::choose(text, wanted, simple_key) {
            Style::Plain => {
                if !self.whitespace {
                    self.put(' ');
                }
                self.folded(text, simple_key, false);
            }
            Style::Single => {
                self.indicator("'", true, false, false);
                self.folded(text, simple_key, true);
                self.indicator("'", false, false, false);
            }
            Style::Double => self.double_quoted(text, simple_key),
            Style::Literal => self.literal(text),
        }
        self.leave();
    }

    /// The content of a plain or single-quoted scalar.
    fn folded(&mut self, text: &str, simple_key: bool, quoted: bool) {
        let (mut spaces, mut breaks) = (false, false);
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next_is_space = chars.peek().is_some_and(|(_, next)| *next == ' ');
            let inside = !quoted || (at > 0 && at + 1 < text.len());
            if c == ' ' {
                if !simple_key && !spaces && self.column > WIDTH && inside && !next_is_space {
                    self.indent();
                } else {
                    self.put(c);
                }
                spaces = true;
            } else if scalar::is_break(c) {
                if !breaks && c == '\n' {
                    self.line_break('\n');
                }
                self.line_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.indent();
                }
                if quoted && c == '\'' {
                    self.put(c);
                }
                self.put(c);
                self.indention = false;
                (spaces, breaks) = (false, false);
            }
        }
        self.whitespace = false;
        self.indention = false;
    }

    fn double_quoted(&mut self, text: &str, simple_key: bool) {
        self.indicator("\"", true, false, false);
        let mut spaces = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let inside = at > 0 && at + 1 < text.len();
            if let Some(escaped) = scalar::escape(c) {
                escaped.chars().for_each(|c| self.put(c));
                spaces = false;
            } else if c == ' ' {
                if !simple_key && !spaces && self.column > WIDTH && inside {
                    self.indent();
                    if chars.peek().is_some_and(|(_, next)| *next == ' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(c);
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn literal(&mut self, text: &str) {
        self.indicator("|", true, false, false);
        if text.starts_with(|c| c == ' ' || scalar::is_break(c)) {
            self.indicator("2", false, false, false);
        }
        let tail: Vec<char> = text.chars().rev().take(2).collect();
        match tail.as_slice() {
            [last, ..] if !scalar::is_break(*last) => self.indicator("-", false, false, false),
            [_, before] if !scalar::is_break(*before) => {}
            _ => self.indicator("+", false, false, false),
        }
        self.line_break('\n');
        self.indention = true;
        self.whitespace = true;
        let mut breaks = true;
        for c in text.chars() {
            if scalar::is_break(c) {
                self.line_break(c);
                self.indention = true;
                breaks = true;
            } else {
                if breaks {
                    self.indent();
                }
                self.put(c);
                self.indention = false;
                breaks = false;
            }
        }
    }

    fn put(&mut self, c: char) {
        self.out.push(c);
        self.column += 1;
    }

    fn line_break(&mut self, c: char) {
        self.out.push(c);
        self.column = 0;
    }
}
