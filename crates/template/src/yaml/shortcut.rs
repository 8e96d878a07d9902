//! Short cuts: the most common forms of block and flow collections, read straight onto the tape.
//!
//! A short cut does what scanner, parser and composer would do together, for text that leaves no
//! doubt: scalars in ASCII on one line, without anchors, tags, comments and escapes. Wherever there
//! is any, it leaves things as they were and the others go on from there. So it rejects nothing,
//! and without it the tape would be the same.

use super::cursor::Mark;
use super::parser::{Parser, ParserState};
use super::tag::{self, Tag};
use super::tape::{Composer, NodeShape, TapeNode};

/// Keys up to this length are short enough in any context.
const SHORT_KEY: usize = 1000;

impl Composer<'_> {
    /// Reads on from where the parser is, as far as there is no doubt.
    #[inline]
    pub(super) fn read_shortcuts(&mut self, parser: &mut Parser<'_>) {
        while parser.scanner.is_idle() {
            let goes_on = match parser.state {
                ParserState::BlockMappingKey => self.block_key(parser),
                ParserState::BlockMappingBehindColon => self.block_value(parser),
                ParserState::BlockSequenceEntry | ParserState::IndentlessEntry => {
                    self.block_item(parser)
                }
                _ => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// A key of a block mapping, after the ends of mappings that are further right.
    fn block_key(&mut self, parser: &mut Parser<'_>) -> bool {
        parser.scanner.skip_to_token();
        let start = parser.scanner.cursor.mark();
        let column = i64::from(start.column);
        let Some(key) = self.key_at(start) else { return false };
        while parser.scanner.indent > column && parser.state == ParserState::BlockMappingKey {
            parser.leave_block_mapping();
            self.close(None);
        }
        let fits = parser.state == ParserState::BlockMappingKey
            && parser.scanner.indent == column
            && parser.scanner.key_allowed;
        if fits {
            self.push_key(parser, start, key);
        }
        fits
    }

    /// A value of a block mapping, after its colon.
    fn block_value(&mut self, parser: &mut Parser<'_>) -> bool {
        let bytes = Bytes(self.tape.text.as_bytes());
        let after_colon = parser.scanner.cursor.at();
        let start = bytes.skip_spaces(after_colon);
        let indent = parser.scanner.indent;
        match bytes.at(start) {
            b'\n' => {
                let Some(next) = bytes.next_line(start) else { return false };
                if !is(bytes.at(next.at), KEY_FIRST) {
                    return false;
                }
                if i64::from(next.column) > indent {
                    let mark = parser.scanner.mark_of(next);
                    let Some(key) = self.key_at(mark) else { return false };
                    parser.scanner.go_to_line(next);
                    return self.block_mapping(parser, mark, key, ParserState::BlockMappingKey);
                }
                self.push_nothing(after_colon);
                parser.scanner.go_to_line(next);
            }
            b'{' | b'[' => {
                let room = parser.room();
                let Some(end) = self.flow_collection(start, room, false) else { return false };
                parser.scanner.move_past(end);
            }
            b'\'' | b'"' => {
                let Some(end) = bytes.quoted_end(start) else { return false };
                self.push_quoted(start, end);
                parser.scanner.move_past(end);
            }
            byte if is(byte, FIRST) => {
                let Some(end) = self.last_plain(parser, start) else { return false };
                self.push_plain(start, end);
            }
            _ => return false,
        }
        parser.state = ParserState::BlockMappingKey;
        true
    }

    /// A block mapping that begins with a key on the cursor's line.
    fn block_mapping(
        &mut self,
        parser: &mut Parser<'_>,
        start: Mark,
        key: (usize, usize),
        behind: ParserState,
    ) -> bool {
        if parser.room() == 0 {
            return false;
        }
        parser.enter_block_mapping(start, behind);
        self.open(NodeShape::Mapping, Tag::Map, None, start.offset);
        self.push_key(parser, start, key);
        true
    }

    /// An item of a block sequence.
    fn block_item(&mut self, parser: &mut Parser<'_>) -> bool {
        parser.scanner.skip_to_token();
        let bytes = Bytes(self.tape.text.as_bytes());
        let dash = parser.scanner.cursor.mark();
        let is_item = bytes.at(dash.at()) == b'-'
            && bytes.at(dash.at() + 1) == b' '
            && i64::from(dash.column) == parser.scanner.indent
            && parser.scanner.key_allowed;
        if !is_item {
            return false;
        }
        let start = bytes.skip_spaces(dash.at() + 1);
        match bytes.at(start) {
            b'{' | b'[' => {
                let room = parser.room();
                let Some(end) = self.flow_collection(start, room, true) else { return false };
                parser.scanner.move_past(end);
            }
            b'\'' | b'"' => {
                let end = bytes.quoted_end(start).filter(|end| bytes.is_last(*end));
                let Some(end) = end else { return false };
                self.push_quoted(start, end);
                parser.scanner.move_past(end);
            }
            byte if is(byte, FIRST) => {
                let column = dash.column + (start - dash.at()) as u32;
                let mark = Mark { offset: start as u32, column, ..dash };
                if let Some(key) = self.key_at(mark) {
                    return self.block_mapping(parser, mark, key, parser.state);
                }
                let Some(end) = self.last_plain(parser, start) else { return false };
                self.push_plain(start, end);
            }
            _ => return false,
        }
        true
    }

    /// The end of the key that begins at an offset, and of the colon after it.
    fn key_at(&self, start: Mark) -> Option<(usize, usize)> {
        let bytes = Bytes(self.tape.text.as_bytes());
        if !is(bytes.at(start.at()), KEY_FIRST) {
            return None;
        }
        let (end, colon) = bytes.plain_end(start.at(), BLOCK)?;
        (bytes.at(colon) == b':' && colon - start.at() <= SHORT_KEY).then_some((end, colon + 1))
    }

    fn push_key(&mut self, parser: &mut Parser<'_>, start: Mark, (end, behind): (usize, usize)) {
        self.push_plain(start.at(), end);
        let cursor = &mut parser.scanner.cursor;
        cursor.skip(behind - cursor.at());
        parser.after_colon = cursor.mark();
        parser.scanner.key_allowed = false;
        parser.state = ParserState::BlockMappingBehindColon;
    }

    /// The end of a plain scalar that is the last thing on its line, if it does not go on after
    /// that; the cursor moves to the next token.
    fn last_plain(&self, parser: &mut Parser<'_>, start: usize) -> Option<usize> {
        let bytes = Bytes(self.tape.text.as_bytes());
        let (end, line_end) = bytes.plain_end(start, BLOCK)?;
        if bytes.at(line_end) != b'\n' {
            return None;
        }
        let next = bytes.next_line(line_end)?;
        if i64::from(next.column) > parser.scanner.indent {
            return None;
        }
        parser.scanner.go_to_line(next);
        Some(end)
    }

    /// Reads a flow collection on one line and returns its end; on demand only if nothing stands
    /// after it.
    fn flow_collection(&mut self, start: usize, room: usize, last: bool) -> Option<usize> {
        let bytes = Bytes(self.tape.text.as_bytes());
        let (items, open, behind) = (self.tape.items.len(), self.open.len(), self.behind);
        let end = self.flow_members(start, room).filter(|end| !last || bytes.is_last(*end));
        if end.is_none() {
            self.tape.items.truncate(items);
            self.open.truncate(open);
            self.behind = behind;
        }
        end
    }

    fn flow_members(&mut self, start: usize, room: usize) -> Option<usize> {
        let bytes = Bytes(self.tape.text.as_bytes());
        let outer = self.open.len();
        let mut at = start;
        let mut in_mapping = false;
        loop {
            // Here a value begins, in a mapping after its colon.
            match bytes.at(at) {
                bracket @ (b'[' | b'{') => {
                    if self.open.len() - outer >= room {
                        return None;
                    }
                    in_mapping = bracket == b'{';
                    let (shape, tag) = if in_mapping {
                        (NodeShape::Mapping, Tag::Map)
                    } else {
                        (NodeShape::Sequence, Tag::Seq)
                    };
                    self.open(shape, tag, None, at as u32);
                    at = bytes.skip_spaces(at + 1);
                    if !matches!(bytes.at(at), b']' | b'}') {
                        if in_mapping {
                            at = self.flow_key(at)?;
                        }
                        continue;
                    }
                }
                b',' | b'}' if in_mapping => self.push_nothing(at),
                _ => at = self.flow_scalar(at)?,
            }
            // After a value.
            loop {
                at = bytes.skip_spaces(at);
                let closing = if in_mapping { b'}' } else { b']' };
                match bytes.at(at) {
                    b',' => {
                        at = bytes.skip_spaces(at + 1);
                        if bytes.at(at) == closing {
                            continue;
                        }
                        if in_mapping {
                            at = self.flow_key(at)?;
                        }
                        break;
                    }
                    byte if byte == closing => {
                        at += 1;
                        self.close(Some(at as u32));
                        if self.open.len() == outer {
                            return Some(at);
                        }
                        let around = *self.open.last()?;
                        in_mapping =
                            self.tape.items.get(around as usize)?.shape == NodeShape::Mapping;
                    }
                    _ => return None,
                }
            }
        }
    }

    /// A key of a flow mapping; returns the offset at which its value begins, after the colon if
    /// there is one.
    fn flow_key(&mut self, start: usize) -> Option<usize> {
        let bytes = Bytes(self.tape.text.as_bytes());
        let at = bytes.skip_spaces(self.flow_scalar(start)?);
        match bytes.at(at) {
            b':' if at - start <= SHORT_KEY => Some(bytes.skip_spaces(at + 1)),
            b',' | b'}' => Some(at),
            _ => None,
        }
    }

    fn flow_scalar(&mut self, start: usize) -> Option<usize> {
        let bytes = Bytes(self.tape.text.as_bytes());
        match bytes.at(start) {
            b'\'' | b'"' => {
                let end = bytes.quoted_end(start)?;
                self.push_quoted(start, end);
                Some(end)
            }
            byte if is(byte, FIRST) => {
                let (end, next) = bytes.plain_end(start, FLOW)?;
                self.push_plain(start, end);
                Some(next)
            }
            _ => None,
        }
    }

    #[inline]
    fn push_plain(&mut self, start: usize, end: usize) {
        let tag = tag::resolve_plain(self.tape.text.get(start..end).unwrap_or_default());
        let (start, end) = (start as u32, end as u32);
        self.push(TapeNode { start, end, link: 0, shape: NodeShape::Plain, tag });
    }

    fn push_quoted(&mut self, start: usize, end: usize) {
        let (start, end) = (start as u32, end as u32);
        self.push(TapeNode { start, end, link: 0, shape: NodeShape::Quoted, tag: Tag::Str });
    }

    fn push_nothing(&mut self, at: usize) {
        let (start, end) = (at as u32, at as u32);
        self.push(TapeNode { start, end, link: 0, shape: NodeShape::Plain, tag: Tag::Null });
    }
}

/// The first token of a line.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) at: usize,
    pub(super) column: u32,
    /// How many line breaks are in front of it.
    pub(super) breaks: u32,
}

/// The text; zero stands for its end.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    #[inline]
    fn at(self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    #[inline]
    fn skip_spaces(self, from: usize) -> usize {
        let mut at = from;
        while self.at(at) == b' ' {
            at += 1;
        }
        at
    }

    /// Whether only spaces are between an offset and the end of its line.
    fn is_last(self, at: usize) -> bool {
        matches!(self.at(self.skip_spaces(at)), b'\n' | 0)
    }

    /// The first token after a line feed, if it looks like a word.
    #[inline]
    fn next_line(self, line_feed: usize) -> Option<Line> {
        let mut line = Line { at: line_feed, column: 0, breaks: 0 };
        while self.at(line.at) == b'\n' {
            line.breaks += 1;
            let start = line.at + 1;
            line.at = self.skip_spaces(start);
            line.column = (line.at - start) as u32;
        }
        is(self.at(line.at), PRINTABLE).then_some(line)
    }

    /// The end of a plain scalar on one line, and the offset of the line feed or indicator after
    /// it.
    #[inline]
    fn plain_end(self, start: usize, word: u8) -> Option<(usize, usize)> {
        let mut at = start;
        loop {
            while is(self.at(at), word) {
                at += 1;
            }
            match self.at(at) {
                b'\n' => return Some((at, at)),
                b':' => match self.at(at + 1) {
                    b' ' | b'\n' => return Some((at, at)),
                    b',' | b'?' | b'[' | b']' | b'{' | b'}' if word == FLOW => return None,
                    next if is(next, PRINTABLE) => at += 1,
                    _ => return None,
                },
                b' ' => {
                    let end = at;
                    at = self.skip_spaces(at);
                    match self.at(at) {
                        b'#' => return None,
                        b'\n' => return Some((end, at)),
                        b',' | b']' | b'}' if word == FLOW => return Some((end, at)),
                        b':' if matches!(self.at(at + 1), b' ' | b'\n') => return Some((end, at)),
                        byte if is(byte, word) => {}
                        _ => return None,
                    }
                }
                b',' | b']' | b'}' if word == FLOW => return Some((at, at)),
                _ => return None,
            }
        }
    }

    /// The end of a quoted scalar on one line without escapes.
    #[inline]
    fn quoted_end(self, start: usize) -> Option<usize> {
        let quote = self.at(start);
        let inside = if quote == b'"' { DOUBLE } else { SINGLE };
        let mut at = start + 1;
        while is(self.at(at), inside) {
            at += 1;
        }
        let closes = self.at(at) == quote && (quote == b'"' || self.at(at + 1) != b'\'');
        closes.then_some(at + 1)
    }
}

/// Bytes that begin plain scalars, whatever follows.
const FIRST: u8 = 1;
/// The same at the beginning of a line.
const KEY_FIRST: u8 = 1 << 1;
/// Bytes that go on with a word of a plain scalar in a block.
const BLOCK: u8 = 1 << 2;
/// The same between brackets.
const FLOW: u8 = 1 << 3;
/// Bytes that stand for themselves between single quotes.
const SINGLE: u8 = 1 << 4;
/// The same between double quotes.
const DOUBLE: u8 = 1 << 5;
/// All characters of ASCII that can be seen.
const PRINTABLE: u8 = 1 << 6;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        let visible = BLOCK | FLOW | SINGLE | DOUBLE | PRINTABLE;
        classes[byte as usize] = match byte {
            b' ' => SINGLE | DOUBLE,
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' => visible | FIRST | KEY_FIRST,
            b'.' | b'/' | b'$' | b'(' => visible | FIRST,
            b':' => visible & !(BLOCK | FLOW),
            b',' | b'[' | b']' | b'{' | b'}' => visible & !FLOW,
            b'\'' => visible & !SINGLE,
            b'"' | b'\\' => visible & !DOUBLE,
            _ => visible,
        };
        byte += 1;
    }
    classes
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASSES[byte as usize] & class != 0
}

#[cfg(test)]
mod tests {
    use super::super::tape::{compose, compose_by};
    use proptest::prelude::*;

    const MAX_DEPTH: usize = 6;

    fn compare(text: &str) {
        let short = compose(text, MAX_DEPTH).map(|tape| tape.map(|tape| tape.items));
        let long = compose_by(text, MAX_DEPTH, |_, _| ()).map(|tape| tape.map(|tape| tape.items));
        assert_eq!(short, long, "{text:?}");
    }

    #[test]
    fn short_cuts_lead_to_the_same_nodes() {
        for text in [
            "a: b\nc:\n  d: e\n  f:\n    - g\n    - h: i\n      j: k\nl: m\n",
            "a:\n- b\n- c d\n- 'e'\n- {f: g}\nh: [i, j k, 'l', {m: , n}, []]\n",
            "{a: [b, {c: d}], 'e': \"f\", g: h i}",
            "[a, [b, {}, ], {c: d, e,}, f,]\n",
            "[a,, b]",
            "a:\n\n\n  b: c\n\n d: e\n",
            "a:\n  b\n  c\nd: e\n f\ng: h # i\nj:\n# k\n  l: m\n",
            "a: b: c\n",
            "a: {b: c}: d\n",
            "- a: b\n - c\n",
            "a:\nb:\n-\n- c\nd:\n  - e\n",
            "[[[[[[a]]]]]]",
            "a: [[[[[b]]]]]\n",
            "a: [[[[[[b]]]]]]\n",
            "a:\n  b:\n    c:\n      d:\n        e:\n          f:\n            g: h\n",
            "OS::Heat::Stack: x\n<<: {a: b}\n.5: .\n1.5: 2\n",
            "a: b\n---\nc: d\n",
            "a: b\n...\n",
        ] {
            compare(text);
        }
    }

    /// Pieces of which most texts take some short cut.
    const PIECES: &[&str] = &[
        "a: ", "b:", "c", "d e", "1", "'f'", "\"g\"", "[", "]", "{", "}", ", ", ",", ":", "- ",
        "-", "#", " #", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n- ", "\n  - ", " ", "\t", "é",
        "\r\n", "&h ", "*h", "!i ", "? ", "---", "|", "''", "\\", "<<: ", "x:y",
    ];

    proptest! {
        #[test]
        fn short_cuts_make_no_difference(
            pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..24),
        ) {
            compare(&pieces.concat());
        }
    }
}
