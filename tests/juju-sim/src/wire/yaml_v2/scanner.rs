//! Characters to tokens.
//!
//! A key without `?` is known as a key only when its `:` comes. Until then the scanner keeps its place, under
//! libyaml's two limits: the `:` must be on the same line and at most 1024 characters on.

use std::collections::VecDeque;

use super::reader::{Fault, Mark, Reader, is_blank, is_blank_or_end, is_break, is_break_or_end};

const KEY_LIMIT: usize = 1024;
/// libyaml allows 10000; the tree is built by recursion, so this is less.
const MOST_LEVELS: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    StreamEnd,
    DocumentStart,
    DocumentEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    FlowEntry,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEntry,
    BlockEnd,
    Key,
    Value,
    Scalar { text: String, plain: bool },
}

/// A place where a key may have started.
#[derive(Debug, Clone, Copy)]
struct SimpleKey {
    /// Nothing but a key can stand here.
    required: bool,
    /// Of the token that starts the key, counted over the whole text.
    token: usize,
    mark: Mark,
    /// The token is held back until it is known whether it starts a key.
    held: bool,
}

/// The block context, or one flow collection.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    key: Option<SimpleKey>,
    /// Of the last possible key, and before the first one that of the collection itself.
    token: usize,
}

#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) reader: Reader<'a>,
    /// Tokens not parsed yet, each with the line it starts on.
    queue: VecDeque<(Token, usize)>,
    parsed: usize,
    ended: bool,
    /// Column of the present block collection, and those of the outer ones.
    pub(super) indent: Option<usize>,
    outer: Vec<Option<usize>>,
    levels: Vec<Level>,
    pub(super) key_allowed: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(input: &'a [u8]) -> Result<Self, Fault> {
        Ok(Self {
            reader: Reader::new(input)?,
            queue: VecDeque::new(),
            parsed: 0,
            ended: false,
            indent: None,
            outer: Vec::new(),
            levels: vec![Level::default()],
            key_allowed: true,
        })
    }

    /// The next token and its line. After the end of the stream there is nothing more to ask for.
    pub(super) fn peek(&mut self) -> Result<(&Token, usize), Fault> {
        while self.needs_more()? {
            self.fetch()?;
        }
        match self.queue.front() {
            Some((token, line)) => Ok((token, *line)),
            None => Ok((&Token::StreamEnd, self.reader.mark.line)),
        }
    }

    /// Pass the token that was peeked at.
    pub(super) fn advance(&mut self) {
        self.parsed += 1;
        self.queue.pop_front();
    }

    pub(super) fn in_flow(&self) -> bool {
        self.levels.len() > 1
    }

    /// No token yet, or the first one may still turn out to be the start of a key.
    fn needs_more(&mut self) -> Result<bool, Fault> {
        if self.queue.is_empty() {
            return Ok(!self.ended);
        }
        let at_head = |level: &Level| level.key.is_some_and(|key| key.held && key.token == self.parsed);
        match self.levels.iter().position(at_head) {
            Some(level) => Ok(self.valid_key(level)?.is_some()),
            None => Ok(false),
        }
    }

    /// The possible key of this level, unless it is by now too far back.
    fn valid_key(&mut self, level: usize) -> Result<Option<SimpleKey>, Fault> {
        let Some(level) = self.levels.get_mut(level) else {
            return Ok(None);
        };
        let Some(key) = level.key else {
            return Ok(None);
        };
        let now = self.reader.mark;
        if key.mark.line == now.line && key.mark.index + KEY_LIMIT >= now.index {
            return Ok(Some(key));
        }
        if key.required {
            return Err(Fault::of_scanner(now, "could not find expected ':'"));
        }
        level.key = None;
        Ok(None)
    }

    fn save_key(&mut self) -> Result<(), Fault> {
        if !self.key_allowed {
            return Ok(());
        }
        let mark = self.reader.mark;
        let required = !self.in_flow() && self.indent == Some(mark.column);
        self.drop_key()?;
        let token = self.parsed + self.queue.len();
        if let Some(level) = self.levels.last_mut() {
            *level = Level { key: Some(SimpleKey { required, token, mark, held: true }), token };
        }
        Ok(())
    }

    fn drop_key(&mut self) -> Result<(), Fault> {
        match self.levels.last_mut().and_then(|level| level.key.take()) {
            Some(key) if key.required => {
                Err(Fault::of_scanner(self.reader.mark, "could not find expected ':'"))
            }
            Some(_) | None => Ok(()),
        }
    }

    fn push(&mut self, token: Token, line: usize) {
        self.queue.push_back((token, line));
    }

    /// Insert before the token of this number, or at the end if that is parsed already.
    fn insert(&mut self, before: Option<usize>, token: Token, line: usize) {
        let end = self.queue.len();
        let at = before.and_then(|number| number.checked_sub(self.parsed)).unwrap_or(end);
        self.queue.insert(at.min(end), (token, line));
    }

    /// One-character indicator.
    fn indicator(&mut self, token: Token) {
        let line = self.reader.mark.line;
        self.reader.skip();
        self.push(token, line);
    }

    /// Open a block collection if this column is further in. `before` is the token that it starts with.
    fn roll(&mut self, column: usize, before: Option<usize>, token: Token, line: usize) -> Result<(), Fault> {
        if self.in_flow() || self.indent.is_some_and(|indent| indent >= column) {
            return Ok(());
        }
        if self.outer.len() > MOST_LEVELS {
            return Err(Fault::unsupported("nesting this deep"));
        }
        self.outer.push(self.indent);
        self.indent = Some(column);
        self.insert(before, token, line);
        Ok(())
    }

    /// Close the block collections that are further in than this column; without a column, all.
    fn unroll(&mut self, column: Option<usize>) {
        while !self.in_flow() && self.indent > column {
            self.push(Token::BlockEnd, self.reader.mark.line);
            self.indent = self.outer.pop().flatten();
        }
    }

    fn fetch(&mut self) -> Result<(), Fault> {
        self.skip_to_token()?;
        let mark = self.reader.mark;
        self.unroll(Some(mark.column));
        let document_start = self.reader.at_document_mark('-')?;
        let document_end = self.reader.at_document_mark('.')?;
        let c = self.reader.peek(0)?;
        let next = self.reader.peek(1)?;
        let flow = self.in_flow();
        if c == '\0' {
            return self.end();
        }
        if mark.column == 0 && c == '%' {
            return Err(Fault::unsupported("a directive"));
        }
        if document_start || document_end {
            self.unroll(None);
            self.drop_key()?;
            self.key_allowed = false;
            (0..3).for_each(|_| self.reader.skip());
            self.push(if document_start { Token::DocumentStart } else { Token::DocumentEnd }, mark.line);
            return Ok(());
        }
        match c {
            '[' => self.open(Token::FlowSequenceStart),
            '{' => self.open(Token::FlowMappingStart),
            ']' => self.close(Token::FlowSequenceEnd),
            '}' => self.close(Token::FlowMappingEnd),
            ',' => {
                self.drop_key()?;
                self.key_allowed = true;
                self.indicator(Token::FlowEntry);
                Ok(())
            }
            '-' if is_blank_or_end(next) => self.block_entry(),
            '?' if flow || is_blank_or_end(next) => self.key(),
            ':' if flow || is_blank_or_end(next) => self.value(),
            '*' => Err(Fault::unsupported("an alias")),
            '&' => Err(Fault::unsupported("an anchor")),
            '!' => Err(Fault::unsupported("a tag")),
            '|' | '>' if !flow => {
                self.drop_key()?;
                self.key_allowed = true;
                let text = self.block_scalar(c == '|')?;
                self.push(Token::Scalar { text, plain: false }, mark.line);
                Ok(())
            }
            '\'' | '"' => {
                self.save_key()?;
                self.key_allowed = false;
                let text = self.quoted_scalar(c)?;
                self.push(Token::Scalar { text, plain: false }, mark.line);
                Ok(())
            }
            '#' | '|' | '>' | '%' | '@' | '`' | '\t' => self.no_token(),
            '-' if is_blank(next) => self.no_token(),
            '?' | ':' if flow => self.no_token(),
            _ => {
                self.save_key()?;
                self.key_allowed = false;
                let text = self.plain_scalar()?;
                self.push(Token::Scalar { text, plain: true }, mark.line);
                Ok(())
            }
        }
    }

    fn no_token(&self) -> Result<(), Fault> {
        Err(Fault::of_scanner(self.reader.mark, "found character that cannot start any token"))
    }

    fn end(&mut self) -> Result<(), Fault> {
        if self.reader.mark.column != 0 {
            self.reader.mark.column = 0;
            self.reader.mark.line += 1;
        }
        self.unroll(None);
        self.drop_key()?;
        self.key_allowed = false;
        self.ended = true;
        self.push(Token::StreamEnd, self.reader.mark.line);
        Ok(())
    }

    fn open(&mut self, token: Token) -> Result<(), Fault> {
        self.save_key()?;
        if self.levels.len() > MOST_LEVELS {
            return Err(Fault::unsupported("nesting this deep"));
        }
        // The collection's own token: saved under the same number just before.
        self.levels.push(Level { key: None, token: self.parsed + self.queue.len() });
        self.key_allowed = true;
        self.indicator(token);
        Ok(())
    }

    fn close(&mut self, token: Token) -> Result<(), Fault> {
        self.drop_key()?;
        if self.in_flow()
            && let Some(closed) = self.levels.pop()
        {
            // A collection without possible keys is released as a token although it may yet be a key itself.
            for key in self.levels.iter_mut().filter_map(|level| level.key.as_mut()) {
                key.held &= key.token != closed.token;
            }
        }
        self.key_allowed = false;
        self.indicator(token);
        Ok(())
    }

    fn block_entry(&mut self) -> Result<(), Fault> {
        let mark = self.reader.mark;
        if !self.in_flow() {
            self.require_allowed("block sequence entries are not allowed in this context")?;
            self.roll(mark.column, None, Token::BlockSequenceStart, mark.line)?;
        }
        self.drop_key()?;
        self.key_allowed = true;
        self.indicator(Token::BlockEntry);
        Ok(())
    }

    fn key(&mut self) -> Result<(), Fault> {
        let mark = self.reader.mark;
        if !self.in_flow() {
            self.require_allowed("mapping keys are not allowed in this context")?;
            self.roll(mark.column, None, Token::BlockMappingStart, mark.line)?;
        }
        self.drop_key()?;
        self.key_allowed = !self.in_flow();
        self.indicator(Token::Key);
        Ok(())
    }

    fn value(&mut self) -> Result<(), Fault> {
        let mark = self.reader.mark;
        if let Some(key) = self.valid_key(self.levels.len() - 1)? {
            self.insert(Some(key.token), Token::Key, key.mark.line);
            self.roll(key.mark.column, Some(key.token), Token::BlockMappingStart, key.mark.line)?;
            if let Some(level) = self.levels.last_mut() {
                level.key = None;
            }
            self.key_allowed = false;
        } else {
            if !self.in_flow() {
                self.require_allowed("mapping values are not allowed in this context")?;
                self.roll(mark.column, None, Token::BlockMappingStart, mark.line)?;
            }
            self.key_allowed = !self.in_flow();
        }
        self.indicator(Token::Value);
        Ok(())
    }

    fn require_allowed(&self, otherwise: &str) -> Result<(), Fault> {
        if self.key_allowed { Ok(()) } else { Err(Fault::of_scanner(self.reader.mark, otherwise)) }
    }

    /// Pass white space and comments. Tabs count as such only where no key may start.
    fn skip_to_token(&mut self) -> Result<(), Fault> {
        loop {
            let tabs = self.in_flow() || !self.key_allowed;
            while matches!(self.reader.peek(0)?, ' ') || (tabs && self.reader.peek(0)? == '\t') {
                self.reader.skip();
            }
            if self.reader.peek(0)? == '#' {
                while !is_break_or_end(self.reader.peek(0)?) {
                    self.reader.skip();
                }
            }
            if !is_break(self.reader.peek(0)?) {
                return Ok(());
            }
            self.reader.take_break()?;
            if !self.in_flow() {
                self.key_allowed = true;
            }
        }
    }
}
