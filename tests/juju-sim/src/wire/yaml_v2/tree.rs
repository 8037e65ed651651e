//! Tokens to a tree: the first document of the text. What follows it is not looked at beyond the next token.

use super::reader::Fault;
use super::resolve::{self, Plain};
use super::scanner::{Scanner, Token};

#[derive(Debug)]
pub(crate) struct Node {
    /// Counted from zero.
    pub(crate) line: usize,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    Scalar { text: String, plain: bool },
    Sequence(Vec<Node>),
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    fn empty(line: usize) -> Self {
        Self { line, content: Content::Scalar { text: String::new(), plain: true } }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.content, Content::Scalar { plain: true, text } if resolve::resolve(text) == Plain::Null)
    }

    pub(super) fn is_merge(&self) -> bool {
        matches!(&self.content, Content::Scalar { plain: true, text } if text == "<<")
    }
}

/// The root of the first document, if there is one.
pub(super) fn parse(input: &[u8]) -> Result<Option<Node>, Fault> {
    let mut tree = Tree { scanner: Scanner::new(input)? };
    if tree.next_is(&[Token::StreamEnd])? {
        return Ok(None);
    }
    let explicit = tree.pass(&Token::DocumentStart)?;
    let ends = [Token::DocumentStart, Token::DocumentEnd, Token::StreamEnd];
    let root =
        if explicit && tree.next_is(&ends)? { Node::empty(tree.line()?) } else { tree.node(true, false)? };
    tree.scanner.peek()?;
    Ok(Some(root))
}

struct Tree<'a> {
    scanner: Scanner<'a>,
}

impl Tree<'_> {
    fn next_is(&mut self, tokens: &[Token]) -> Result<bool, Fault> {
        Ok(tokens.contains(self.scanner.peek()?.0))
    }

    /// Whether this token is next; then it is passed.
    fn pass(&mut self, token: &Token) -> Result<bool, Fault> {
        let found = self.scanner.peek()?.0 == token;
        if found {
            self.scanner.advance();
        }
        Ok(found)
    }

    fn line(&mut self) -> Result<usize, Fault> {
        Ok(self.scanner.peek()?.1)
    }

    /// Neither of the tokens that may come now. `start` is the line of the collection.
    fn unexpected<T>(&mut self, start: usize, text: &str) -> Result<T, Fault> {
        Err(Fault::of_parser(self.line()?, start, text))
    }

    /// Any node. `indentless` is for the value of a key, where a list may stand at the column of the key.
    fn node(&mut self, block: bool, indentless: bool) -> Result<Node, Fault> {
        let (token, line) = self.scanner.peek()?;
        let content = if let Token::Scalar { text, plain } = token {
            let content = Content::Scalar { text: text.clone(), plain: *plain };
            self.scanner.advance();
            content
        } else if self.pass(&Token::FlowSequenceStart)? {
            self.flow_sequence(line)?
        } else if self.pass(&Token::FlowMappingStart)? {
            self.flow_mapping(line)?
        } else if block && self.pass(&Token::BlockSequenceStart)? {
            self.block_sequence(line)?
        } else if block && self.pass(&Token::BlockMappingStart)? {
            self.block_mapping(line)?
        } else if indentless && self.next_is(&[Token::BlockEntry])? {
            self.indentless_sequence()?
        } else {
            return self.unexpected(line, "did not find expected node content");
        };
        Ok(Node { line, content })
    }

    /// A block node, or the empty scalar if one of these tokens comes.
    fn block_or_empty(&mut self, indentless: bool, ends: &[Token], line: usize) -> Result<Node, Fault> {
        if self.next_is(ends)? { Ok(Node::empty(line)) } else { self.node(true, indentless) }
    }

    fn flow_or_empty(&mut self, ends: &[Token]) -> Result<Node, Fault> {
        if self.next_is(ends)? { Ok(Node::empty(self.line()?)) } else { self.node(false, false) }
    }

    fn block_sequence(&mut self, start: usize) -> Result<Content, Fault> {
        let mut items = Vec::new();
        while !self.pass(&Token::BlockEnd)? {
            let line = self.line()?;
            if !self.pass(&Token::BlockEntry)? {
                return self.unexpected(start, "did not find expected '-' indicator");
            }
            items.push(self.block_or_empty(false, &[Token::BlockEntry, Token::BlockEnd], line)?);
        }
        Ok(Content::Sequence(items))
    }

    fn indentless_sequence(&mut self) -> Result<Content, Fault> {
        let ends = [Token::BlockEntry, Token::Key, Token::Value, Token::BlockEnd];
        let mut items = Vec::new();
        loop {
            let line = self.line()?;
            if !self.pass(&Token::BlockEntry)? {
                return Ok(Content::Sequence(items));
            }
            items.push(self.block_or_empty(false, &ends, line)?);
        }
    }

    fn block_mapping(&mut self, start: usize) -> Result<Content, Fault> {
        let ends = [Token::Key, Token::Value, Token::BlockEnd];
        let mut pairs = Vec::new();
        while !self.pass(&Token::BlockEnd)? {
            let line = self.line()?;
            if !self.pass(&Token::Key)? {
                return self.unexpected(start, "did not find expected key");
            }
            let key = self.block_or_empty(true, &ends, line)?;
            let line = self.line()?;
            let value = match self.pass(&Token::Value)? {
                true => self.block_or_empty(true, &ends, line)?,
                false => Node::empty(line),
            };
            pairs.push((key, value));
        }
        Ok(Content::Mapping(pairs))
    }

    fn flow_sequence(&mut self, start: usize) -> Result<Content, Fault> {
        let mut items = Vec::new();
        while !self.pass(&Token::FlowSequenceEnd)? {
            if !items.is_empty() && !self.pass(&Token::FlowEntry)? {
                return self.unexpected(start, "did not find expected ',' or ']'");
            }
            let line = self.line()?;
            if self.pass(&Token::Key)? {
                let pair = self.pair(&[Token::Value, Token::FlowEntry, Token::FlowSequenceEnd], true)?;
                items.push(Node { line, content: Content::Mapping(vec![pair]) });
            } else if !self.next_is(&[Token::FlowSequenceEnd])? {
                items.push(self.node(false, false)?);
            }
        }
        Ok(Content::Sequence(items))
    }

    fn flow_mapping(&mut self, start: usize) -> Result<Content, Fault> {
        let mut pairs = Vec::new();
        while !self.pass(&Token::FlowMappingEnd)? {
            if !pairs.is_empty() && !self.pass(&Token::FlowEntry)? {
                return self.unexpected(start, "did not find expected ',' or '}'");
            }
            if self.pass(&Token::Key)? {
                pairs.push(self.pair(&[Token::Value, Token::FlowEntry, Token::FlowMappingEnd], false)?);
            } else if !self.next_is(&[Token::FlowMappingEnd])? {
                let key = self.node(false, false)?;
                pairs.push((key, Node::empty(self.line()?)));
            }
        }
        Ok(Content::Mapping(pairs))
    }

    /// Key and value after the key indicator; `ends` start with the value indicator.
    ///
    /// In a list an empty key swallows the token that shows it to be empty, as libyaml has it.
    fn pair(&mut self, ends: &[Token], in_list: bool) -> Result<(Node, Node), Fault> {
        let key = if in_list && self.next_is(ends)? {
            let line = self.line()?;
            self.scanner.advance();
            Node::empty(line)
        } else {
            self.flow_or_empty(ends)?
        };
        let line = self.line()?;
        if !self.pass(&Token::Value)? {
            return Ok((key, Node::empty(line)));
        }
        Ok((key, self.flow_or_empty(ends.get(1..).unwrap_or_default())?))
    }
}
