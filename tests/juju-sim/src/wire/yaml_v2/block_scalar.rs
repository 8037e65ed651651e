//! The text of `|` and `>` scalars.

use super::reader::{Fault, is_blank, is_break, is_break_or_end};
use super::scanner::Scanner;

/// What becomes of the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    Strip,
    Clip,
    Keep,
}

impl Scanner<'_> {
    pub(super) fn block_scalar(&mut self, literal: bool) -> Result<String, Fault> {
        self.reader.skip();
        let (chomping, increment) = self.header()?;
        self.rest_of_header()?;
        let mut indent = increment.map(|increment| self.indent.unwrap_or(0) + increment);
        let mut text = String::new();
        let mut line_break: Option<char> = None;
        let mut leading_blank = false;
        let mut further_breaks = self.breaks(&mut indent)?;
        while Some(self.reader.mark.column) == indent && self.reader.peek(0)? != '\0' {
            let starts_blank = is_blank(self.reader.peek(0)?);
            if !literal && line_break == Some('\n') && !leading_blank && !starts_blank {
                if further_breaks.is_empty() {
                    text.push(' ');
                }
            } else {
                text.extend(line_break);
            }
            text.push_str(&further_breaks);
            leading_blank = starts_blank;
            while !is_break_or_end(self.reader.peek(0)?) {
                self.reader.take(&mut text)?;
            }
            line_break = if is_break(self.reader.peek(0)?) { Some(self.reader.take_break()?) } else { None };
            further_breaks = self.breaks(&mut indent)?;
        }
        if chomping != Chomping::Strip {
            text.extend(line_break);
        }
        if chomping == Chomping::Keep {
            text.push_str(&further_breaks);
        }
        Ok(text)
    }

    /// Chomping and indentation indicators, in either order.
    fn header(&mut self) -> Result<(Chomping, Option<usize>), Fault> {
        let mut chomping = None;
        let mut increment = None;
        for _ in 0..2 {
            match self.reader.peek(0)? {
                '+' if chomping.is_none() => chomping = Some(Chomping::Keep),
                '-' if chomping.is_none() => chomping = Some(Chomping::Strip),
                '0' if increment.is_none() => {
                    return self.fault("found an indentation indicator equal to 0");
                }
                c if increment.is_none() && c.is_ascii_digit() => {
                    increment = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
                }
                _ => break,
            }
            self.reader.skip();
        }
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn rest_of_header(&mut self) -> Result<(), Fault> {
        while is_blank(self.reader.peek(0)?) {
            self.reader.skip();
        }
        if self.reader.peek(0)? == '#' {
            while !is_break_or_end(self.reader.peek(0)?) {
                self.reader.skip();
            }
        }
        match self.reader.peek(0)? {
            '\0' => Ok(()),
            c if is_break(c) => self.reader.take_break().map(|_| ()),
            _ => self.fault("did not find expected comment or line break"),
        }
    }

    /// Pass indentation and empty lines; the first content line sets an indentation that is not given.
    fn breaks(&mut self, indent: &mut Option<usize>) -> Result<String, Fault> {
        let mut breaks = String::new();
        let mut deepest = 0;
        loop {
            let inside = |column: usize, indent: Option<usize>| indent.is_none_or(|indent| column < indent);
            while inside(self.reader.mark.column, *indent) && self.reader.peek(0)? == ' ' {
                self.reader.skip();
            }
            let column = self.reader.mark.column;
            deepest = deepest.max(column);
            if inside(column, *indent) && self.reader.peek(0)? == '\t' {
                return self.fault("found a tab character where an indentation space is expected");
            }
            if !is_break(self.reader.peek(0)?) {
                break;
            }
            breaks.push(self.reader.take_break()?);
        }
        if indent.is_none() {
            *indent = Some(deepest.max(self.indent.map_or(0, |indent| indent + 1)).max(1));
        }
        Ok(breaks)
    }
}
