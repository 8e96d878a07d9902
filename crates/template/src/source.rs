//! Spans of source text: every node, expression and diagnostic has one.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A file of a [`Sources`]: the position at which its text begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A range of bytes in one file.
///
/// Positions count through all files of a [`Sources`], one after the other: a span identifies its
/// file without a field for it, so trees with a span in every node stay small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Position of the first byte.
    pub start: u32,
    /// Position after the last byte.
    pub end: u32,
}

impl Span {
    /// A range of bytes in a file, by their offsets.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        Span { start: file.position(start), end: file.position(end.max(start)) }
    }

    /// The start of a file, for errors about what is missing from it.
    pub fn start_of(file: FileId) -> Span {
        Span { start: file.0, end: file.0 }
    }

    /// The smallest span that covers both, which lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl FileId {
    /// The position of an offset. After 4 GiB of text positions are the same.
    fn position(self, offset: usize) -> u32 {
        u32::try_from(offset).unwrap_or(u32::MAX).saturating_add(self.0)
    }
}

/// A file's name and text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    id: FileId,
    name: Arc<str>,
    text: Arc<str>,
    /// The offsets of its lines, computed on the first use.
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The id that its spans are made with.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// The name it was added under: a path, a URL, or a word in brackets.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column (in characters), both from 1, of a byte offset.
    pub(crate) fn line_column(&self, offset: usize) -> (u32, u32) {
        let line_starts = self.line_starts.get_or_init(|| line_starts(&self.text));
        let line = line_starts.partition_point(|start| *start as usize <= offset).max(1);
        let start = line_starts[line - 1] as usize;
        let end = offset.clamp(start, self.text.len());
        let column = self.text.get(start..end).map_or(end - start, |s| s.chars().count());
        (line as u32, column as u32 + 1)
    }
}

/// A position in a file, for display.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Name of the file.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The files that spans point into.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<SourceFile>,
}

impl Sources {
    /// No files yet.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file and returns the id that its spans are made with.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let (name, text) = (name.into(), text.into());
        // The end of a text is a position too, and not the start of the next.
        let id = self.files.last().map(|last| FileId(last.id.position(last.text.len() + 1)));
        let id = id.unwrap_or_default();
        self.files.push(SourceFile { id, name, text, line_starts: OnceLock::new() });
        id
    }

    /// The file of an id, if the id was given by this collection.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        let at = self.files.binary_search_by_key(&file, |source| source.id).ok()?;
        self.files.get(at)
    }

    /// The file that a span lies in.
    pub fn file(&self, span: Span) -> Option<FileId> {
        self.range_of(span).map(|(source, _)| source.id)
    }

    /// The file that a span lies in, and the offsets of the span there.
    pub fn range_of(&self, span: Span) -> Option<(&SourceFile, Range<usize>)> {
        let behind = self.files.partition_point(|source| source.id.0 <= span.start);
        let source = self.files.get(behind.checked_sub(1)?)?;
        let offset = |position: u32| position.saturating_sub(source.id.0) as usize;
        Some((source, offset(span.start)..offset(span.end)))
    }

    /// The position at which a span begins.
    pub fn locate(&self, span: Span) -> Option<Location> {
        let (source, range) = self.range_of(span)?;
        let (line, column) = source.line_column(range.start);
        Some(Location { file: source.name.clone(), line, column })
    }

    /// The text that a span covers.
    pub fn snippet(&self, span: Span) -> Option<&str> {
        let (source, range) = self.range_of(span)?;
        source.text.get(range)
    }
}

fn line_starts(text: &str) -> Vec<u32> {
    let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let behind = newlines.map(|(at, _)| u32::try_from(at + 1).unwrap_or(u32::MAX));
    std::iter::once(0).chain(behind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_know_their_file() {
        let mut sources = Sources::new();
        let texts = ["abc", "", "de", ""];
        let files = texts.map(|text| sources.add(text, text));
        for (file, text) in files.into_iter().zip(texts) {
            assert_eq!(sources.get(file).map(SourceFile::text), Some(text));
            for start in 0..=text.len() {
                let span = Span::new(file, start, text.len());
                assert_eq!(sources.file(span), Some(file));
                assert_eq!(sources.snippet(span), text.get(start..));
            }
        }
        assert_eq!(sources.file(Span::new(files[3], 7, 9)), Some(files[3]));
        assert_eq!(Sources::new().file(Span::start_of(files[0])), None);
    }

    #[test]
    fn columns_count_characters() {
        let mut sources = Sources::new();
        let file = sources.add("a.yaml", "é: 1\nbé: 2\n");
        let at = |start| {
            let l = sources.locate(Span::new(file, start, start)).unwrap();
            (l.line, l.column)
        };
        assert_eq!(at(0), (1, 1));
        assert_eq!(at(4), (1, 4));
        assert_eq!(at(6), (2, 1));
        assert_eq!(at(9), (2, 3));
        assert_eq!(at(400), (3, 1));
    }
}
