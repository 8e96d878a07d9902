//! Tokens: what the scanner cuts the text into. They are small and copied freely; what does not fit
//! is kept by the scanner, under a number.

use super::cursor::Mark;
use super::event::Style;
use std::borrow::Cow;
use std::num::NonZeroU32;

#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) start: Mark,
    pub(super) end: Mark,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    StreamEnd,
    /// Its index in [`super::scanner::Scanner::directives`].
    Directive(u32),
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    /// The name is the text after the `*`.
    Alias,
    /// The name is the text after the `&`.
    Anchor,
    /// Its index in [`super::scanner::Scanner::tags`].
    Tag(u32),
    Scalar {
        style: Style,
        built: Built,
    },
    /// A key token, a scalar and the value token after it; with the number of blanks in front of
    /// its colon.
    ScalarKey {
        style: Style,
        gap: u16,
        built: Built,
    },
    /// Undecided: this becomes a key token if the following text turns out to be a key.
    Undecided,
    /// The start of a block mapping and a key token.
    MappingAndKey,
}

/// The number, from 1, of a scalar's value among those that were built. The value of a scalar
/// without one is the piece of the text, between the quotes if there are any.
pub(super) type Built = Option<NonZeroU32>;

#[derive(Debug)]
pub(super) enum Directive<'a> {
    Version { major: u32, minor: u32 },
    Tag { handle: &'a str, prefix: Cow<'a, str> },
}

/// A tag as it is written.
#[derive(Clone, Debug)]
pub(super) struct WrittenTag<'a> {
    pub(super) handle: &'a str,
    pub(super) suffix: Cow<'a, str>,
}

/// The tokens that are scanned and not consumed yet.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// The tokens, after some that have been taken.
    tokens: Vec<Token>,
    head: usize,
    /// How many tokens were taken and are no longer kept.
    forgotten: usize,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.head == self.tokens.len()
    }

    /// Number of the token at the front, counted from the start of the text.
    pub(super) fn front_number(&self) -> usize {
        self.forgotten + self.head
    }

    /// Number of the token that will be added next.
    pub(super) fn next_number(&self) -> usize {
        self.forgotten + self.tokens.len()
    }

    #[inline]
    pub(super) fn push(&mut self, token: Token) {
        self.tokens.push(token);
    }

    pub(super) fn front_mut(&mut self) -> Option<&mut Token> {
        self.tokens.get_mut(self.head)
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut Token> {
        self.tokens.get_mut(number.checked_sub(self.forgotten)?)
    }

    /// Steps over the token at the front.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.head += 1;
        if self.head >= self.tokens.len() {
            self.forgotten += self.head;
            self.head = 0;
            self.tokens.clear();
        } else if self.head == MAX_TAKEN {
            self.forgotten += self.head;
            self.head = 0;
            self.tokens.drain(..MAX_TAKEN);
        }
    }
}

/// The number of consumed tokens that are kept, so that the others are moved rarely.
const MAX_TAKEN: usize = 4096;
