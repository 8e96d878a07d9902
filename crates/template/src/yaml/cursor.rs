//! A position in the text that moves forward by whole characters and counts lines and columns.
//!
//! The text has been checked beforehand to hold no NUL, so a zero byte stands for its end.

/// A position in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Offset in bytes.
    pub offset: u32,
    /// Line, from 0.
    pub line: u32,
    /// Column in characters, from 0.
    pub column: u32,
}

impl Mark {
    /// The offset, for indexing.
    pub fn at(self) -> usize {
        self.offset as usize
    }
}

#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    column: u32,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Cursor<'a> {
        // A byte order mark in front is no part of the text.
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Cursor { text, at, line: 0, column: 0 }
    }

    #[inline]
    pub(super) fn mark(&self) -> Mark {
        Mark { offset: self.at as u32, line: self.line, column: self.column }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn line(&self) -> u32 {
        self.line
    }

    pub(super) fn column(&self) -> u32 {
        self.column
    }

    /// The text between two offsets.
    pub(super) fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// The rest of the text.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The byte at a distance ahead, zero at the end.
    #[inline]
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Length in bytes of the line break at a distance ahead; zero if there is none.
    pub(super) fn line_break(&self, ahead: usize) -> usize {
        match self.byte(ahead) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.byte(ahead + 1) == b'\n'),
            0xC2 if self.byte(ahead + 1) == 0x85 => 2,
            0xE2 if self.byte(ahead + 1) == 0x80 => {
                if matches!(self.byte(ahead + 2), 0xA8 | 0xA9) {
                    3
                } else {
                    0
                }
            }
            _ => 0,
        }
    }

    /// Whether a space or tab is next.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.byte(0), b' ' | b'\t')
    }

    /// Whether a line break or the end is at a distance ahead.
    pub(super) fn is_line_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.line_break(ahead) > 0
    }

    /// Whether a space, tab, line break or the end is at a distance ahead.
    #[inline]
    pub(super) fn is_gap(&self, ahead: usize) -> bool {
        match self.byte(ahead) {
            b' ' | b'\n' | b'\t' | b'\r' | 0 => true,
            0xC2 | 0xE2 => self.line_break(ahead) > 0,
            _ => false,
        }
    }

    /// Whether `---` or `...` starts the line here.
    #[inline]
    pub(super) fn is_document_indicator(&self) -> bool {
        let byte = self.byte(0);
        self.column == 0
            && matches!(byte, b'-' | b'.')
            && self.byte(1) == byte
            && self.byte(2) == byte
            && self.is_gap(3)
    }

    /// Moves to a position, whose full offset is passed, too.
    pub(super) fn go_to(&mut self, at: usize, mark: Mark) {
        (self.at, self.line, self.column) = (at, mark.line, mark.column);
    }

    /// Steps over ASCII characters that are no line breaks.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
        self.column += count as u32;
    }

    /// Steps over one character that is no line break.
    pub(super) fn skip_char(&mut self) {
        if let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            self.column += 1;
        }
    }

    /// Steps over everything up to a byte of the given classes, which must include line breaks.
    #[inline]
    pub(super) fn skip_until(&mut self, classes: u8) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let stop = |byte: &u8| CLASSES[*byte as usize] & (classes | INNER) != 0;
        let length = rest.iter().position(stop).unwrap_or(rest.len());
        self.skip(length);
        if self.byte(0) >= 0x80 {
            self.skip_until_beyond_ascii(classes);
        }
    }

    /// The same where bytes are not characters.
    #[inline(never)]
    fn skip_until_beyond_ascii(&mut self, classes: u8) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let stop = |byte: &u8| CLASSES[*byte as usize] & classes != 0;
        let length = rest.iter().position(stop).unwrap_or(rest.len());
        let inner = rest.iter().take(length).filter(|byte| CLASSES[**byte as usize] & INNER != 0);
        self.column += (length - inner.count()) as u32;
        self.at += length;
    }

    /// Steps over characters of names.
    pub(super) fn skip_word(&mut self) {
        while is_word(self.byte(0)) {
            self.skip(1);
        }
    }

    /// Steps over spaces.
    #[inline]
    pub(super) fn skip_spaces(&mut self) {
        let mut count = 0;
        while self.byte(count) == b' ' {
            count += 1;
        }
        self.skip(count);
    }

    /// Steps over spaces and tabs.
    #[inline]
    pub(super) fn skip_blanks(&mut self) {
        self.skip(self.count_blanks());
    }

    /// How many spaces and tabs come next.
    #[inline]
    pub(super) fn count_blanks(&self) -> usize {
        let mut count = 0;
        while matches!(self.byte(count), b' ' | b'\t') {
            count += 1;
        }
        count
    }

    /// Steps over the rest of the line, not over its break.
    pub(super) fn skip_to_line_end(&mut self) {
        loop {
            self.skip_until(BREAK);
            if self.is_line_end(0) {
                return;
            }
            self.skip_char();
        }
    }

    /// Steps over a line feed.
    #[inline]
    pub(super) fn take_line_feed(&mut self) {
        self.at += 1;
        self.line += 1;
        self.column = 0;
    }

    /// Steps over a line break and returns what it means in a value; empty if there is none.
    pub(super) fn take_break(&mut self) -> &'a str {
        let len = self.line_break(0);
        if len == 0 {
            return "";
        }
        // The two separators of Unicode stand for themselves, all others for a line feed.
        let meaning = if len == 3 { self.slice(self.at, self.at + len) } else { "\n" };
        self.at += len;
        self.line += 1;
        self.column = 0;
        meaning
    }

    /// Pretends that the text ended in a line break, because positions at its end are counted that
    /// way.
    pub(super) fn finish_line(&mut self) {
        if self.column != 0 {
            self.column = 0;
            self.line += 1;
        }
    }
}

/// Bytes that are, or begin, a line break.
pub(super) const BREAK: u8 = 1;
/// Bytes that can end a word of plain text.
pub(super) const PLAIN_STOP: u8 = 1 << 1;
/// The same between brackets.
pub(super) const FLOW_STOP: u8 = 1 << 2;
/// Bytes that are special inside of quotes.
pub(super) const QUOTED_STOP: u8 = 1 << 3;
/// Bytes that are special inside of single quotes on one line.
pub(super) const SINGLE_STOP: u8 = 1 << 4;
/// Bytes that are special inside of double quotes on one line.
pub(super) const DOUBLE_STOP: u8 = 1 << 5;
/// Bytes that continue a character.
const INNER: u8 = 1 << 7;

/// The classes of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\n' | b'\r' | 0xC2 | 0xE2 => !INNER,
            b' ' | b'\t' => PLAIN_STOP | FLOW_STOP | QUOTED_STOP,
            b':' => PLAIN_STOP | FLOW_STOP,
            b',' | b'[' | b']' | b'{' | b'}' => FLOW_STOP,
            b'"' | b'\\' => QUOTED_STOP | DOUBLE_STOP,
            b'\'' => QUOTED_STOP | SINGLE_STOP,
            0x80..0xC0 => INNER,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Characters of names: of anchors, directives and tag handles.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
