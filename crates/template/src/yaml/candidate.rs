//! Candidates: what may turn out to be a key.
//!
//! Whether a scalar or a collection is a key is known only at the colon after it. If that comes
//! next, key and colon are one token. Otherwise it is noted as a candidate, with an undecided token
//! in front of it that the colon turns into a key token. A candidate lives for one line and 1024
//! characters, which bounds how far the scanner runs ahead.

use super::cursor::Mark;
use super::error::{YamlError, YamlResult, hints};
use super::scanner::{Scalar, Scanner};
use super::token::{Token, TokenKind};

/// How many characters a key without `?` may have.
const MAX_KEY: u32 = 1024;

/// Something that will be a key if a colon follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyCandidate {
    /// The number of flow collections around it.
    flow: u32,
    /// Whether nothing but a key can appear there.
    required: bool,
    /// Number of its undecided token, counted from the start of the text.
    pub(super) token: usize,
    pub(super) start: Mark,
}

impl Scanner<'_> {
    /// Whether the scalar that begins here may be a key.
    pub(super) fn begin_scalar(&mut self) -> YamlResult<bool> {
        let may_be_key = self.key_allowed;
        if may_be_key {
            self.drop_candidate()?;
        }
        self.key_allowed = false;
        Ok(may_be_key)
    }

    /// Adds a scalar, together with the colon that makes it a key if that comes next.
    pub(super) fn push_scalar(&mut self, scalar: Scalar, may_be_key: bool) {
        let Scalar { style, built, start, end } = scalar;
        if may_be_key {
            let blanks = self.cursor.count_blanks();
            if self.is_colon_of(start, blanks) {
                self.cursor.skip(blanks);
                let gap = (self.cursor.at() - end.at()) as u16;
                self.cursor.skip(1);
                self.key_allowed = false;
                self.open_block(start, TokenKind::BlockMappingStart);
                self.queue.push(Token {
                    kind: TokenKind::ScalarKey { style, gap, built },
                    start,
                    end,
                });
                return;
            }
            if self.may_become_key(start, blanks) {
                self.push_candidate(start);
            }
        }
        self.queue.push(Token { kind: TokenKind::Scalar { style, built }, start, end });
    }

    /// Whether the colon of a key that began at a position is too far ahead, and it is certain
    /// that no other error comes first.
    fn is_colon_of(&self, start: Mark, ahead: usize) -> bool {
        self.cursor.byte(ahead) == b':'
            && (self.flow > 0 || self.cursor.is_gap(ahead + 1))
            && start.line == self.cursor.line()
            && self.cursor.column() as usize + ahead <= (start.column + MAX_KEY) as usize
            && !self.candidates.front().is_some_and(|outer| outer.required)
    }

    /// Whether the text from a position to here may become a key later on. In doubt it may.
    fn may_become_key(&self, start: Mark, blanks: usize) -> bool {
        if self.flow > 0 {
            start.line == self.cursor.line()
                && !matches!(self.cursor.byte(blanks), b',' | b']' | b'}')
        } else {
            start.line == self.cursor.line() || self.indent == i64::from(start.column)
        }
    }

    /// Whether the token at the front could still turn out to be a key.
    pub(super) fn front_may_be_key(&mut self) -> YamlResult<bool> {
        self.drop_lapsed()?;
        Ok(self
            .candidates
            .front()
            .is_some_and(|candidate| candidate.token == self.queue.front_number()))
    }

    /// Gives up the candidates that are too far behind.
    pub(super) fn drop_lapsed(&mut self) -> YamlResult<()> {
        while let Some(candidate) = self.candidates.front()
            && self.has_lapsed(candidate)
        {
            if candidate.required {
                return Err(self.no_colon(candidate.start));
            }
            self.candidates.pop_front();
        }
        Ok(())
    }

    fn has_lapsed(&self, candidate: &KeyCandidate) -> bool {
        let start = candidate.start;
        start.line < self.cursor.line() || start.column + MAX_KEY < self.cursor.column()
    }

    pub(super) fn note_candidate(&mut self) -> YamlResult<()> {
        if !self.key_allowed {
            return Ok(());
        }
        self.drop_candidate()?;
        self.push_candidate(self.cursor.mark());
        Ok(())
    }

    fn push_candidate(&mut self, start: Mark) {
        let required = self.flow == 0 && self.indent == i64::from(start.column);
        let token = self.queue.next_number();
        self.candidates.push_back(KeyCandidate { flow: self.flow, token, start, required });
        self.queue.push(Token { kind: TokenKind::Undecided, start, end: start });
    }

    /// Gives up the candidate of this level; a problem if it had to become a key.
    pub(super) fn drop_candidate(&mut self) -> YamlResult<()> {
        match self.candidates.pop_back_if(|candidate| candidate.flow == self.flow) {
            Some(candidate) if candidate.required => Err(self.no_colon(candidate.start)),
            _ => Ok(()),
        }
    }

    /// The candidate of this level, unless it has lapsed.
    pub(super) fn take_candidate(&mut self) -> YamlResult<Option<KeyCandidate>> {
        let candidate = self.candidates.pop_back_if(|candidate| candidate.flow == self.flow);
        match candidate {
            Some(candidate) if self.has_lapsed(&candidate) => {
                if candidate.required {
                    Err(self.no_colon(candidate.start))
                } else {
                    Ok(None)
                }
            }
            candidate => Ok(candidate),
        }
    }

    /// Text over two lines in front of a colon: the first line lacks a space after its own colon.
    pub(super) fn colon_hint(&self) -> &'static str {
        let before = self.cursor.slice(0, self.cursor.at());
        let mut lines = before.rsplit('\n');
        let is_second = lines.next().is_some_and(|line| !line.contains(": "));
        let first = lines.next().unwrap_or_default().trim_end();
        let lacks_space = first.contains(':') && !first.contains(": ") && !first.ends_with(':');
        if is_second && lacks_space { hints::SPACE_AFTER_COLON } else { hints::COLON_IN_TEXT }
    }

    #[inline(never)]
    fn no_colon(&self, start: Mark) -> Box<YamlError> {
        let line = self.cursor.slice(start.at(), self.cursor.at());
        let line = line.lines().next().unwrap_or_default();
        let help = if line.contains(':') { hints::SPACE_AFTER_COLON } else { hints::INDENTATION };
        self.error("expected `:` after a key").within(start, "the key").help(Some(help))
    }
}
