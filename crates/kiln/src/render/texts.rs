//! The source texts of findings, with hidden values masked by stars.
//!
//! The lookup of a position takes constant time, wherever it is and however long its line is.

use super::names::Names;
use kiln_template::{Diagnostic, FileId, Sources, Span};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// Byte ranges of values that must be masked, by file.
pub(crate) type MaskedRanges = BTreeMap<FileId, Vec<Range<usize>>>;

/// The source texts of findings.
pub(crate) struct SourceTexts<'a> {
    sources: &'a Sources,
    files: BTreeMap<FileId, SourceText<'a>>,
}

/// One text.
pub(crate) struct SourceText<'a> {
    /// The name in messages.
    pub(crate) name: String,
    /// The text with hidden values masked; as long as the original.
    pub(crate) shown: Cow<'a, str>,
    /// The offsets of lines.
    lines: Vec<usize>,
    /// The number of characters before each block of bytes.
    characters: Vec<usize>,
}

/// A position in a text: line and column (in characters) from 1, and the offset in bytes from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line.
    pub(crate) line: usize,
    /// The column.
    pub(crate) column: usize,
    /// The offset.
    pub(crate) offset: usize,
}

/// The size of a block in bytes.
const BLOCK: usize = 1024;

impl<'a> SourceTexts<'a> {
    /// The source texts of these findings.
    pub(crate) fn of(
        diagnostics: &[Diagnostic],
        sources: &'a Sources,
        names: &Names,
        hidden: &MaskedRanges,
    ) -> SourceTexts<'a> {
        let mut files = BTreeMap::new();
        for label in diagnostics.iter().flat_map(|found| &found.labels) {
            let Some((source, _)) = sources.range_of(label.span) else { continue };
            files.entry(source.id()).or_insert_with(|| {
                let ranges = hidden.get(&source.id()).map_or(&[][..], Vec::as_slice);
                SourceText::new(names.shown(source.name()), source.text(), ranges)
            });
        }
        SourceTexts { sources, files }
    }

    /// The text and the range of a span.
    pub(crate) fn find(&self, span: Span) -> Option<(&SourceText<'a>, Range<usize>)> {
        let (source, range) = self.sources.range_of(span)?;
        Some((self.files.get(&source.id())?, range))
    }
}

impl<'a> SourceText<'a> {
    /// A text with a name and ranges to mask.
    pub(crate) fn new(name: String, text: &'a str, hidden: &[Range<usize>]) -> SourceText<'a> {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(starts.map(|(at, _)| at + 1)).collect();
        let mut characters = Vec::with_capacity(text.len() / BLOCK + 1);
        let mut before = 0;
        for block in text.as_bytes().chunks(BLOCK) {
            characters.push(before);
            before += block.iter().filter(|byte| begins_character(**byte)).count();
        }
        SourceText { name, shown: covered(text, hidden), lines, characters }
    }

    /// The position of an offset; offsets after the text give its end.
    pub(crate) fn place(&self, offset: usize) -> Position {
        let offset = self.shown.floor_char_boundary(offset.min(self.shown.len()));
        let line = self.lines.partition_point(|start| *start <= offset).max(1);
        let column = self.before(offset) - self.before(self.lines[line - 1]) + 1;
        Position { line, column, offset }
    }

    /// The range of a line, counted from 1, without its line feed.
    pub(crate) fn line(&self, line: usize) -> Range<usize> {
        let start = self.lines.get(line - 1).copied().unwrap_or(self.shown.len());
        let end = self.lines.get(line).copied().unwrap_or(self.shown.len());
        let text = &self.shown[start..end];
        let text = text.strip_suffix('\n').unwrap_or(text);
        start..start + text.strip_suffix('\r').unwrap_or(text).len()
    }

    /// The number of characters before an offset.
    fn before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        let Some(counted) = self.characters.get(block) else {
            return match self.characters.last() {
                // The offset is the end of a text that fills its last block.
                Some(_) => self.before(offset - 1) + 1,
                None => 0,
            };
        };
        let rest = &self.shown.as_bytes()[block * BLOCK..offset];
        counted + rest.iter().filter(|byte| begins_character(**byte)).count()
    }
}

fn begins_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Replaces all bytes in the ranges by stars, except line feeds.
fn covered<'a>(text: &'a str, hidden: &[Range<usize>]) -> Cow<'a, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut ranges = hidden.to_vec();
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    for range in ranges {
        let end = text.ceil_char_boundary(range.end.min(text.len()));
        let start = text.floor_char_boundary(range.start.min(end)).max(out.len());
        if start >= end {
            continue;
        }
        out.push_str(&text[out.len()..start]);
        for c in text[start..end].chars() {
            match c {
                '\n' | '\r' => out.push(c),
                c => out.extend(std::iter::repeat_n('*', c.len_utf8())),
            }
        }
    }
    out.push_str(&text[out.len()..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_however_long_the_line() {
        let text = format!("é: 1\nb{}: 2", "é".repeat(5000));
        let text = SourceText::new("t".into(), &text, &[]);
        let at = |offset| (text.place(offset).line, text.place(offset).column);
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(2), (1, 2));
        assert_eq!(at(1), (1, 1), "inside a character");
        assert_eq!(at(6), (2, 1));
        assert_eq!(at(6 + 1 + 2 * 4000), (2, 4002));
        assert_eq!(at(usize::MAX), (2, 5005));
        for length in [0, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK] {
            let text = "x".repeat(length);
            assert_eq!(SourceText::new("t".into(), &text, &[]).place(length).column, length + 1);
        }
    }

    #[test]
    fn lines_have_no_ends() {
        let text = SourceText::new("t".into(), "a\r\nbc\n", &[]);
        assert_eq!(
            [text.line(1), text.line(2), text.line(3), text.line(9)],
            [0..1, 3..5, 6..6, 6..6]
        );
    }

    #[test]
    fn hidden_values_are_covered_and_nothing_moves() {
        let text = "a: sécret\nb: 12\n";
        let shown = covered(text, &[14..16, 3..10, 5..7, 90..95]);
        assert_eq!(shown, "a: *******\nb: **\n");
        assert_eq!(shown.len(), text.len());
    }
}
