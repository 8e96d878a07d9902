//! Places in source text: what every node, expression and diagnostic points to.

use std::fmt;
use std::sync::{Arc, OnceLock};

/// Which file of a [`Sources`] a span lies in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// A range of bytes in a file.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { file, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// The start of a file, for what is missing from it altogether.
    pub fn start_of(file: FileId) -> Span {
        Span { file, start: 0, end: 0 }
    }

    /// The smallest span that covers both; `self` if they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A file's name and text.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: Arc<str>,
    text: Arc<str>,
    /// The offsets of its lines, found when somebody asks for a line.
    line_starts: OnceLock<Vec<u32>>,
}

impl SourceFile {
    /// The name it was added under: a path, a URL, or a word in brackets.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column (in characters), both from 1, of a byte offset.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line_starts = self.line_starts.get_or_init(|| line_starts(&self.text));
        let line = line_starts.partition_point(|start| *start <= offset).max(1);
        let start = line_starts[line - 1] as usize;
        let end = (offset as usize).clamp(start, self.text.len());
        let column = self.text.get(start..end).map_or(end - start, |s| s.chars().count());
        (line as u32, column as u32 + 1)
    }
}

/// A place as a person reads it.
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

    /// Adds a file and gives the id that its spans will carry.
    pub fn add(&mut self, name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> FileId {
        let (name, text) = (name.into(), text.into());
        self.files.push(SourceFile { name, text, line_starts: OnceLock::new() });
        FileId(u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX))
    }

    /// The file behind an id, if the id was given by this collection.
    pub fn get(&self, file: FileId) -> Option<&SourceFile> {
        self.files.get(file.0 as usize)
    }

    /// Where a span begins.
    pub fn locate(&self, span: Span) -> Option<Location> {
        let file = self.get(span.file)?;
        let (line, column) = file.line_column(span.start);
        Some(Location { file: file.name.clone(), line, column })
    }

    /// The text that a span covers.
    pub fn snippet(&self, span: Span) -> Option<&str> {
        self.get(span.file)?.text.get(span.start as usize..span.end as usize)
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
