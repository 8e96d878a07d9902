//! The scanner: text into tokens, by the rules of libyaml for YAML 1.1.
//!
//! Here is what decides which token comes next; candidates for keys and the scanning of longer
//! tokens have files of their own.

use super::candidate::KeyCandidate;
use super::cursor::{Cursor, Mark};
use super::error::{YamlError, YamlResult, hints};
use super::event::Style;
use super::shortcut::Line;
use super::token::{Built, Directive, Queue, Token, TokenKind, WrittenTag};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// A scalar that was scanned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) style: Style,
    pub(super) built: Built,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

#[derive(Debug)]
pub(super) struct Scanner<'a> {
    pub(super) cursor: Cursor<'a>,
    /// The next token, if it is known.
    next: Token,
    is_known: bool,
    pub(super) queue: Queue,
    /// How many flow collections are open.
    pub(super) flow: u32,
    /// The columns of the current block collection and of those around it.
    pub(super) indent: i64,
    outer_indents: Vec<i64>,
    /// At most one for each level of flow collections, outer levels first. Outer ones began
    /// earlier, so they are the first to lapse.
    pub(super) candidates: VecDeque<KeyCandidate>,
    /// Whether a candidate may begin here.
    pub(super) key_allowed: bool,
    /// Values of scalars that are not a piece of the text.
    pub(super) built: Vec<String>,
    pub(super) directives: Vec<Directive<'a>>,
    pub(super) tags: Vec<WrittenTag<'a>>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        let (start, end) = (Mark::default(), Mark::default());
        Scanner {
            cursor: Cursor::new(text),
            next: Token { kind: TokenKind::StreamEnd, start, end },
            is_known: false,
            queue: Queue::default(),
            flow: 0,
            indent: -1,
            outer_indents: Vec::new(),
            candidates: VecDeque::new(),
            key_allowed: true,
            built: Vec::new(),
            directives: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// The next token, which is not consumed; at the end there is always another end token.
    #[inline]
    pub(super) fn peek(&mut self) -> YamlResult<&Token> {
        if !self.is_known {
            self.find_next()?;
        }
        Ok(&self.next)
    }

    /// Consumes the token that was peeked.
    #[inline]
    pub(super) fn consume(&mut self) {
        self.is_known = false;
    }

    /// Whether every scanned token has been consumed and nothing depends on the next one.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        !self.is_known && self.queue.is_empty() && self.candidates.is_empty() && self.flow == 0
    }

    /// The position of a line's first token.
    pub(super) fn mark_of(&self, line: Line) -> Mark {
        let Line { at, column, breaks } = line;
        Mark { offset: at as u32, line: self.cursor.line() + breaks, column }
    }

    /// Moves to a line's first token.
    pub(super) fn go_to_line(&mut self, line: Line) {
        self.cursor.go_to(line.at, self.mark_of(line));
        self.key_allowed = true;
    }

    /// Moves past something on the cursor's line that is all ASCII and no key.
    pub(super) fn move_past(&mut self, end: usize) {
        self.cursor.skip(end - self.cursor.at());
        self.key_allowed = false;
    }

    /// Enters a block collection.
    pub(super) fn enter_block(&mut self, column: u32) {
        self.outer_indents.push(self.indent);
        self.indent = i64::from(column);
    }

    /// Leaves the current block collection.
    pub(super) fn leave_block(&mut self) {
        self.indent = self.outer_indents.pop().unwrap_or(-1);
    }

    /// An error at the current position.
    pub(super) fn error(&self, message: impl Into<String>) -> Box<YamlError> {
        YamlError::syntax(message, self.cursor.mark())
    }

    /// Keeps a value that is not a piece of the text.
    pub(super) fn keep(&mut self, value: String) -> Built {
        self.built.push(value);
        NonZeroU32::new(self.built.len() as u32)
    }

    /// Adds a token that ends at the current position.
    #[inline]
    pub(super) fn push(&mut self, kind: TokenKind, start: Mark) {
        self.queue.push(Token { kind, start, end: self.cursor.mark() });
    }

    /// Scans until it is certain what the token at the front is.
    fn find_next(&mut self) -> YamlResult<()> {
        loop {
            while self.queue.is_empty() || self.front_may_be_key()? {
                self.fetch()?;
            }
            let Some(front) = self.queue.front_mut() else { continue };
            self.next = *front;
            if front.kind == TokenKind::MappingAndKey {
                self.next.kind = TokenKind::BlockMappingStart;
                front.kind = TokenKind::Key;
                break;
            }
            self.queue.pop();
            if self.next.kind != TokenKind::Undecided {
                break;
            }
        }
        self.is_known = true;
        Ok(())
    }

    fn fetch(&mut self) -> YamlResult<()> {
        self.skip_to_token();
        self.drop_lapsed()?;
        if self.indent > i64::from(self.cursor.column()) {
            self.close_blocks(i64::from(self.cursor.column()));
        }
        if self.cursor.is_document_indicator() {
            return self.fetch_document_indicator();
        }
        match self.cursor.byte(0) {
            0 => self.fetch_end(),
            b'%' if self.cursor.column() == 0 => self.fetch_directive(),
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => self.fetch_flow_entry(),
            b'-' if self.cursor.is_gap(1) => self.fetch_block_entry(),
            b'?' if self.flow > 0 || self.cursor.is_gap(1) => self.fetch_key(),
            b':' if self.flow > 0 || self.cursor.is_gap(1) => self.fetch_value(),
            b'*' | b'&' => self.fetch_name(),
            b'!' => self.fetch_tag(),
            b'|' if self.flow == 0 => self.fetch_block_scalar(Style::Literal),
            b'>' if self.flow == 0 => self.fetch_block_scalar(Style::Folded),
            b'\'' => self.fetch_quoted(Style::SingleQuoted),
            b'"' => self.fetch_quoted(Style::DoubleQuoted),
            byte @ (b'\t' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`') => Err(self.no_token(byte)),
            _ => self.fetch_plain(),
        }
    }

    /// Steps over spaces, comments and line breaks.
    #[inline]
    pub(super) fn skip_to_token(&mut self) {
        if matches!(self.cursor.byte(0), b' ' | b'\n' | b'#' | b'\t' | b'\r' | 0x80..) {
            self.skip_gap();
        }
    }

    #[inline(never)]
    fn skip_gap(&mut self) {
        loop {
            // A byte order mark may begin any line.
            if self.cursor.byte(0) == 0xEF
                && self.cursor.column() == 0
                && self.cursor.rest().starts_with('\u{feff}')
            {
                self.cursor.skip_char();
            }
            if self.tabs_pass() {
                self.cursor.skip_blanks();
            } else {
                self.cursor.skip_spaces();
            }
            match self.cursor.byte(0) {
                b'\n' => {}
                b'#' => self.cursor.skip_to_line_end(),
                b'\r' | 0xC2 | 0xE2 => {}
                _ => return,
            }
            if self.cursor.byte(0) == b'\n' {
                self.cursor.take_line_feed();
            } else if self.cursor.take_break().is_empty() {
                return;
            }
            if self.flow == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// Tabs may separate tokens, but not where they could be taken for indentation.
    fn tabs_pass(&self) -> bool {
        self.flow > 0 || !self.key_allowed
    }

    #[inline(never)]
    fn no_token(&self, byte: u8) -> Box<YamlError> {
        let help = if byte == b'\t' { hints::TABS } else { hints::QUOTE_INDICATOR };
        let name = if byte == b'\t' { "a tab".into() } else { format!("`{}`", byte as char) };
        self.error(format!("expected a value or a key, found {name}, which cannot begin one"))
            .help(Some(help))
    }

    #[inline(never)]
    fn fetch_end(&mut self) -> YamlResult<()> {
        self.cursor.finish_line();
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        self.push(TokenKind::StreamEnd, self.cursor.mark());
        Ok(())
    }

    #[inline(never)]
    fn fetch_directive(&mut self) -> YamlResult<()> {
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        self.scan_directive()
    }

    #[inline(never)]
    fn fetch_document_indicator(&mut self) -> YamlResult<()> {
        self.close_blocks(-1);
        self.drop_candidate()?;
        self.key_allowed = false;
        let starts = self.cursor.byte(0) == b'-';
        self.push_indicator(
            3,
            if starts { TokenKind::DocumentStart } else { TokenKind::DocumentEnd },
        );
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind) -> YamlResult<()> {
        self.note_candidate()?;
        self.flow += 1;
        self.key_allowed = true;
        self.push_indicator(1, kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind) -> YamlResult<()> {
        self.drop_candidate()?;
        self.flow = self.flow.saturating_sub(1);
        self.key_allowed = false;
        self.push_indicator(1, kind);
        Ok(())
    }

    fn fetch_flow_entry(&mut self) -> YamlResult<()> {
        self.drop_candidate()?;
        self.key_allowed = true;
        self.push_indicator(1, TokenKind::FlowEntry);
        Ok(())
    }

    #[inline(never)]
    fn fetch_block_entry(&mut self) -> YamlResult<()> {
        if self.flow == 0 {
            if !self.key_allowed {
                let message = "a list item (`- `) cannot begin here";
                return Err(self.error(message).help(Some(hints::INDENTATION)));
            }
            let mark = self.cursor.mark();
            self.open_block(mark, TokenKind::BlockSequenceStart);
        }
        self.drop_candidate()?;
        self.key_allowed = true;
        self.push_indicator(1, TokenKind::BlockEntry);
        Ok(())
    }

    #[inline(never)]
    fn fetch_key(&mut self) -> YamlResult<()> {
        if self.flow == 0 {
            if !self.key_allowed {
                let message = "a key (`? `) cannot begin here";
                return Err(self.error(message).help(Some(hints::INDENTATION)));
            }
            let mark = self.cursor.mark();
            self.open_block(mark, TokenKind::BlockMappingStart);
        }
        self.drop_candidate()?;
        self.key_allowed = self.flow == 0;
        self.push_indicator(1, TokenKind::Key);
        Ok(())
    }

    /// A colon: the candidate in front of it becomes a key.
    #[inline(never)]
    fn fetch_value(&mut self) -> YamlResult<()> {
        if let Some(key) = self.take_candidate()? {
            let opens = self.indents(key.start);
            let kind = if opens { TokenKind::MappingAndKey } else { TokenKind::Key };
            if let Some(token) = self.queue.get_mut(key.token) {
                token.kind = kind;
            }
            self.key_allowed = false;
        } else {
            if self.flow == 0 {
                if !self.key_allowed {
                    let message =
                        "a value (`: `) cannot begin here: there is no key in front of it";
                    return Err(self.error(message).help(Some(self.colon_hint())));
                }
                let mark = self.cursor.mark();
                self.open_block(mark, TokenKind::BlockMappingStart);
            }
            self.key_allowed = self.flow == 0;
        }
        self.push_indicator(1, TokenKind::Value);
        Ok(())
    }

    #[inline(never)]
    fn fetch_name(&mut self) -> YamlResult<()> {
        self.note_candidate()?;
        self.key_allowed = false;
        self.scan_name()
    }

    #[inline(never)]
    fn fetch_tag(&mut self) -> YamlResult<()> {
        self.note_candidate()?;
        self.key_allowed = false;
        self.scan_tag()
    }

    #[inline(never)]
    fn fetch_block_scalar(&mut self, style: Style) -> YamlResult<()> {
        self.drop_candidate()?;
        self.key_allowed = true;
        let Scalar { style, built, start, end } = self.scan_block_scalar(style)?;
        self.queue.push(Token { kind: TokenKind::Scalar { style, built }, start, end });
        Ok(())
    }

    #[inline(never)]
    fn fetch_quoted(&mut self, style: Style) -> YamlResult<()> {
        let may_be_key = self.begin_scalar()?;
        let scalar = self.scan_quoted(style)?;
        self.push_scalar(scalar, may_be_key);
        Ok(())
    }

    #[inline(never)]
    fn fetch_plain(&mut self) -> YamlResult<()> {
        let may_be_key = self.begin_scalar()?;
        let scalar = self.scan_plain()?;
        self.push_scalar(scalar, may_be_key);
        Ok(())
    }

    fn push_indicator(&mut self, length: usize, kind: TokenKind) {
        let start = self.cursor.mark();
        self.cursor.skip(length);
        self.push(kind, start);
    }

    /// Opens a block collection if this is further right than the current one.
    pub(super) fn open_block(&mut self, start: Mark, kind: TokenKind) {
        if self.indents(start) {
            self.queue.push(Token { kind, start, end: start });
        }
    }

    /// Increases the indentation to a column if that is further right; returns whether it did.
    fn indents(&mut self, start: Mark) -> bool {
        let opens = self.flow == 0 && self.indent < i64::from(start.column);
        if opens {
            self.enter_block(start.column);
        }
        opens
    }

    /// Closes the block collections that are further right than a column.
    #[inline(never)]
    fn close_blocks(&mut self, column: i64) {
        if self.flow > 0 {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark());
            self.leave_block();
        }
    }
}
