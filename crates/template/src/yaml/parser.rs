//! The parser: tokens into steps, by the grammar of libyaml. Here are documents and nodes; block
//! and flow collections have files of their own.
//!
//! It keeps the states to come back to on a stack of its own, and opens no more collections
//! than it is allowed.

use super::cursor::Mark;
use super::error::{YamlError, YamlResult, hints};
use super::event::{Properties, Style};
use super::scanner::Scanner;
use super::token::{Built, Directive, Token, TokenKind, WrittenTag};
use crate::codes;
use crate::read::excerpt;
use std::borrow::Cow;
use std::collections::HashMap;

/// The state of the parser: what it expects next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParserState {
    FirstDocument,
    NextDocument,
    DocumentContent,
    DocumentEnd,
    Node(NodeContext),
    BlockSequenceEntry,
    IndentlessEntry,
    BlockMappingKey,
    BlockMappingValue,
    /// A value whose colon has been read with the key.
    BlockMappingBehindColon,
    FlowSequenceEntry {
        first: bool,
    },
    PairKey,
    PairValue,
    PairAfterColon,
    PairEnd,
    FlowMappingKey {
        first: bool,
    },
    FlowMappingValue {
        empty: bool,
    },
    FlowMappingAfterColon,
}

/// The context of a node, which decides what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeContext {
    Block,
    /// In a block mapping, whose lists need no indentation of their own.
    BlockMember,
    Flow,
}

/// One step through the structure of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParserStep {
    pub(super) kind: StepKind,
    /// Whether the node has an anchor or a tag; if so, [`Parser::properties`] holds them.
    pub(super) is_decorated: bool,
    pub(super) start: Mark,
    pub(super) end: Mark,
    /// Offset of a node's content, after its anchor and tag.
    pub(super) content: u32,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    DocumentStart,
    DocumentEnd,
    Alias,
    Scalar {
        style: Style,
        built: Built,
    },
    SequenceStart,
    SequenceEnd,
    MappingStart,
    MappingEnd,
    /// There are no more documents.
    End,
}

#[derive(Debug)]
pub(super) struct Parser<'a> {
    pub(super) scanner: Scanner<'a>,
    pub(super) state: ParserState,
    /// States to come back to.
    later: Vec<ParserState>,
    /// Where the open collections begin.
    pub(super) open: Vec<Mark>,
    /// The position after the last colon that was read with its key.
    pub(super) after_colon: Mark,
    max_depth: usize,
    handles: HashMap<&'a str, Cow<'a, str>>,
    /// Anchor and tag of the last node that had any.
    pub(super) properties: Properties<'a>,
}

impl<'a> Parser<'a> {
    /// The text must have been checked for characters that are not allowed.
    pub(super) fn new(text: &'a str, max_depth: usize) -> Parser<'a> {
        Parser {
            scanner: Scanner::new(text),
            state: ParserState::FirstDocument,
            later: Vec::new(),
            open: Vec::new(),
            after_colon: Mark::default(),
            max_depth,
            handles: HashMap::new(),
            properties: Properties::default(),
        }
    }

    /// The next step. Must not be called after an error or the end.
    pub(super) fn step(&mut self) -> YamlResult<ParserStep> {
        match self.state {
            ParserState::FirstDocument => self.document_start(true),
            ParserState::NextDocument => self.document_start(false),
            ParserState::DocumentContent => self.document_content(),
            ParserState::DocumentEnd => self.document_end(),
            ParserState::Node(position) => self.node(position),
            ParserState::BlockSequenceEntry => self.block_sequence_entry(),
            ParserState::IndentlessEntry => self.indentless_entry(),
            ParserState::BlockMappingKey => self.block_mapping_key(),
            ParserState::BlockMappingValue => self.block_mapping_value(),
            ParserState::BlockMappingBehindColon => {
                self.block_member(self.after_colon, ParserState::BlockMappingKey)
            }
            ParserState::FlowSequenceEntry { first } => self.flow_sequence_entry(first),
            ParserState::PairKey => self.pair_key(),
            ParserState::PairValue => self.pair_value(),
            ParserState::PairAfterColon => self.pair_after_colon(),
            ParserState::PairEnd => self.pair_end(),
            ParserState::FlowMappingKey { first } => self.flow_mapping_key(first),
            ParserState::FlowMappingValue { empty } => self.flow_mapping_value(empty),
            ParserState::FlowMappingAfterColon => self.flow_mapping_after_colon(),
        }
    }

    /// The name of an anchor or alias.
    pub(super) fn name(&self, start: Mark, end: Mark) -> &'a str {
        self.scanner.cursor.slice(start.at() + 1, end.at())
    }

    /// The value of a scalar, by the offsets of its content. A built value can be taken once.
    pub(super) fn value(
        &mut self,
        style: Style,
        built: Built,
        start: u32,
        end: u32,
    ) -> Cow<'a, str> {
        let Some(number) = built else {
            let (start, end) = (start + style.quotes(), end.saturating_sub(style.quotes()));
            return Cow::Borrowed(self.scanner.cursor.slice(start as usize, end as usize));
        };
        let value = self.scanner.built.get_mut(number.get() as usize - 1);
        Cow::Owned(value.map(std::mem::take).unwrap_or_default())
    }

    fn document_start(&mut self, first: bool) -> YamlResult<ParserStep> {
        let mut token = *self.peek()?;
        while !first && token.kind == TokenKind::DocumentEnd {
            self.consume();
            token = *self.peek()?;
        }
        if token.kind == TokenKind::StreamEnd {
            return Ok(step(StepKind::End, token.start, token.start));
        }
        let start = token.start;
        let bare = !matches!(token.kind, TokenKind::Directive(_) | TokenKind::DocumentStart);
        self.handles = HashMap::new();
        self.later.push(ParserState::DocumentEnd);
        if first && bare {
            self.state = ParserState::Node(NodeContext::Block);
            return Ok(step(StepKind::DocumentStart, start, start));
        }
        self.directives()?;
        let token = *self.peek()?;
        if token.kind != TokenKind::DocumentStart {
            let message =
                format!("expected `---` or the end of the text, found {}", name(token.kind));
            return Err(YamlError::syntax(message, token.start).help(Some(hints::INDENTATION)));
        }
        self.consume();
        self.state = ParserState::DocumentContent;
        Ok(step(StepKind::DocumentStart, start, token.end))
    }

    fn directives(&mut self) -> YamlResult<()> {
        let mut versions = 0;
        loop {
            let token = *self.peek()?;
            let TokenKind::Directive(index) = token.kind else { return Ok(()) };
            self.consume();
            match self.scanner.directives.get(index as usize) {
                Some(Directive::Version { .. }) if versions > 0 => {
                    return Err(YamlError::syntax("a second `%YAML` directive", token.start));
                }
                Some(Directive::Version { major: 1, minor: 1 | 2 }) => versions += 1,
                Some(Directive::Version { major, minor }) => {
                    let message =
                        format!("expected YAML 1.1 or 1.2, found version {major}.{minor}");
                    return Err(YamlError::syntax(message, token.start));
                }
                Some(Directive::Tag { handle, prefix }) => {
                    let prefix = prefix.clone();
                    self.declare(handle, prefix, token.start)?;
                }
                None => {}
            }
        }
    }

    fn declare(&mut self, handle: &'a str, prefix: Cow<'a, str>, at: Mark) -> YamlResult<()> {
        match self.handles.insert(handle, prefix) {
            None => Ok(()),
            Some(_) => {
                let message = format!("a second `%TAG` directive for `{}`", excerpt(handle));
                Err(YamlError::syntax(message, at))
            }
        }
    }

    fn document_content(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        match token.kind {
            TokenKind::Directive(_)
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                self.pop_state();
                Ok(empty_scalar(token.start))
            }
            _ => self.node(NodeContext::Block),
        }
    }

    fn document_end(&mut self) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        let mut end = token.start;
        if token.kind == TokenKind::DocumentEnd {
            self.consume();
            end = token.end;
        }
        self.state = ParserState::NextDocument;
        Ok(step(StepKind::DocumentEnd, token.start, end))
    }

    pub(super) fn node(&mut self, position: NodeContext) -> YamlResult<ParserStep> {
        let token = *self.peek()?;
        match token.kind {
            TokenKind::Scalar { style, built } => {
                self.consume();
                self.pop_state();
                Ok(step(StepKind::Scalar { style, built }, token.start, token.end))
            }
            TokenKind::Alias => {
                self.consume();
                self.pop_state();
                Ok(step(StepKind::Alias, token.start, token.end))
            }
            TokenKind::Anchor | TokenKind::Tag(_) => self.decorated_node(position, token.start),
            _ => self.collection(position, token, token.start),
        }
    }

    fn decorated_node(&mut self, position: NodeContext, start: Mark) -> YamlResult<ParserStep> {
        let mut end = start;
        self.properties = self.properties(start, &mut end)?;
        let token = *self.peek()?;
        let mut step = match token.kind {
            TokenKind::Scalar { style, built } => {
                self.consume();
                self.pop_state();
                step(StepKind::Scalar { style, built }, token.start, token.end)
            }
            _ if opens(position, token.kind).is_some() => {
                self.collection(position, token, start)?
            }
            _ => {
                self.pop_state();
                empty_scalar(end)
            }
        };
        step.start = start;
        step.is_decorated = true;
        Ok(step)
    }

    fn collection(
        &mut self,
        position: NodeContext,
        token: Token,
        start: Mark,
    ) -> YamlResult<ParserStep> {
        let content = token.start;
        let Some((kind, state)) = opens(position, token.kind) else {
            return Err(no_content(token, start, position));
        };
        self.open_collection(content)?;
        self.state = state;
        if state == ParserState::IndentlessEntry {
            // A list at the column of its key: its first dash opens it and is its first member's.
            return Ok(step(kind, content, content));
        }
        self.consume();
        Ok(step(kind, content, token.end))
    }

    /// An anchor and a tag, in any order.
    fn properties(&mut self, start: Mark, end: &mut Mark) -> YamlResult<Properties<'a>> {
        let mut anchor = None;
        let mut tag = None;
        loop {
            let token = *self.peek()?;
            match token.kind {
                TokenKind::Anchor if anchor.is_none() => {
                    anchor = Some(self.name(token.start, token.end));
                }
                TokenKind::Tag(index) if tag.is_none() => tag = Some((index, token.start)),
                _ => break,
            }
            self.consume();
            *end = token.end;
        }
        let tag = tag.map(|(index, at)| self.full_tag(index, start, at));
        Ok(Properties { anchor, tag: tag.transpose()? })
    }

    fn full_tag(&self, index: u32, start: Mark, at: Mark) -> YamlResult<Cow<'a, str>> {
        let Some(WrittenTag { handle, suffix }) = self.scanner.tags.get(index as usize).cloned()
        else {
            return Ok(Cow::Borrowed("!"));
        };
        let prefix = match (self.handles.get(handle), handle) {
            (Some(prefix), _) => prefix,
            (None, "") => return Ok(suffix),
            (None, "!") => "!",
            (None, "!!") => "tag:yaml.org,2002:",
            (None, handle) => {
                let message = format!("the tag's handle `{}` is not declared", excerpt(handle));
                return Err(YamlError::syntax(message, at).within(start, "the value"));
            }
        };
        Ok(Cow::Owned(format!("{}{}", until_nul(prefix), until_nul(&suffix))))
    }

    pub(super) fn node_then(
        &mut self,
        position: NodeContext,
        next: ParserState,
    ) -> YamlResult<ParserStep> {
        self.later.push(next);
        self.node(position)
    }

    /// A key that was read with its colon.
    pub(super) fn scalar_key(
        &mut self,
        token: Token,
        style: Style,
        built: Built,
        next: ParserState,
    ) -> ParserStep {
        self.consume();
        self.state = next;
        step(StepKind::Scalar { style, built }, token.start, token.end)
    }

    pub(super) fn open_collection(&mut self, start: Mark) -> YamlResult<()> {
        if self.open.len() >= self.max_depth {
            let message = crate::read::too_deep(self.max_depth);
            return Err(YamlError::new(&codes::TOO_DEEP, message, start));
        }
        self.open.push(start);
        Ok(())
    }

    /// How many more collections may be opened.
    pub(super) fn room(&self) -> usize {
        self.max_depth.saturating_sub(self.open.len())
    }

    /// Enters a block mapping, in which nothing has been read yet, and sets the state that
    /// comes after it.
    pub(super) fn enter_block_mapping(&mut self, start: Mark, behind: ParserState) {
        self.open.push(start);
        self.later.push(behind);
        self.scanner.enter_block(start.column);
    }

    /// Leaves the current block mapping.
    pub(super) fn leave_block_mapping(&mut self) {
        self.open.pop();
        self.pop_state();
        self.scanner.leave_block();
    }

    /// Closes a collection at the token that was peeked.
    pub(super) fn close(&mut self, kind: StepKind, token: Token) -> ParserStep {
        self.consume();
        self.open.pop();
        self.pop_state();
        step(kind, token.start, token.end)
    }

    pub(super) fn pop_state(&mut self) {
        self.state = self.later.pop().unwrap_or(ParserState::NextDocument);
    }

    /// Where the innermost open collection begins.
    pub(super) fn opened(&self) -> Mark {
        self.open.last().copied().unwrap_or_default()
    }

    #[inline]
    pub(super) fn peek(&mut self) -> YamlResult<&Token> {
        self.scanner.peek()
    }

    #[inline]
    pub(super) fn consume(&mut self) {
        self.scanner.consume();
    }
}

pub(super) fn step(kind: StepKind, start: Mark, end: Mark) -> ParserStep {
    ParserStep { kind, is_decorated: false, start, end, content: start.offset }
}

/// The scalar that is not there.
pub(super) fn empty_scalar(at: Mark) -> ParserStep {
    step(StepKind::Scalar { style: Style::Plain, built: None }, at, at)
}

/// What collection a token opens, and what comes next in it.
fn opens(position: NodeContext, token: TokenKind) -> Option<(StepKind, ParserState)> {
    Some(match token {
        TokenKind::BlockMappingStart if position != NodeContext::Flow => {
            (StepKind::MappingStart, ParserState::BlockMappingKey)
        }
        TokenKind::BlockSequenceStart if position != NodeContext::Flow => {
            (StepKind::SequenceStart, ParserState::BlockSequenceEntry)
        }
        TokenKind::BlockEntry if position == NodeContext::BlockMember => {
            (StepKind::SequenceStart, ParserState::IndentlessEntry)
        }
        TokenKind::FlowMappingStart => {
            (StepKind::MappingStart, ParserState::FlowMappingKey { first: true })
        }
        TokenKind::FlowSequenceStart => {
            (StepKind::SequenceStart, ParserState::FlowSequenceEntry { first: true })
        }
        _ => return None,
    })
}

/// An escaped NUL ends a name, as it does in libyaml.
fn until_nul(name: &str) -> &str {
    name.split('\0').next().unwrap_or_default()
}

fn no_content(token: Token, start: Mark, position: NodeContext) -> Box<YamlError> {
    let message = format!("expected a value, found {}", name(token.kind));
    let help =
        if position == NodeContext::Flow { hints::UNCLOSED_BRACKET } else { hints::INDENTATION };
    YamlError::syntax(message, token.start).within(start, "the value").help(Some(help))
}

/// A token in words.
pub(super) fn name(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::StreamEnd => "the end of the text",
        TokenKind::Directive(_) => "a directive",
        TokenKind::DocumentStart => "`---`",
        TokenKind::DocumentEnd => "`...`",
        TokenKind::BlockSequenceStart => "a list",
        TokenKind::BlockMappingStart => "a map",
        TokenKind::BlockEnd => "less indentation",
        TokenKind::FlowSequenceStart => "`[`",
        TokenKind::FlowSequenceEnd => "`]`",
        TokenKind::FlowMappingStart => "`{`",
        TokenKind::FlowMappingEnd => "`}`",
        TokenKind::BlockEntry => "`- `",
        TokenKind::FlowEntry => "`,`",
        TokenKind::Key
        | TokenKind::ScalarKey { .. }
        | TokenKind::Undecided
        | TokenKind::MappingAndKey => "a key",
        TokenKind::Value => "`:`",
        TokenKind::Alias => "an alias",
        TokenKind::Anchor => "an anchor",
        TokenKind::Tag(_) => "a tag",
        TokenKind::Scalar { .. } => "text",
    }
}
