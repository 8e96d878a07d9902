//! Why a text is refused: the place, what was going on there, and what to do about it.

use super::cursor::Mark;
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use std::fmt;

/// Why a text is refused.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlError {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// What was expected and what was found.
    pub message: String,
    /// Where it was noticed.
    pub at: Mark,
    /// Where the thing began that could not be read to its end, and what it is.
    pub context: Option<(Mark, &'static str)>,
    /// What to do about it.
    pub help: Option<&'static str>,
}

/// A result whose failure is a problem with the text.
pub type Outcome<T> = Result<T, Box<YamlError>>;

impl YamlError {
    /// A problem with the grammar.
    pub(super) fn syntax(message: impl Into<String>, at: Mark) -> Box<YamlError> {
        YamlError::new(&codes::SYNTAX, message, at)
    }

    /// A problem of any kind.
    pub(super) fn new(code: &'static Code, message: impl Into<String>, at: Mark) -> Box<YamlError> {
        Box::new(YamlError { code, message: message.into(), at, context: None, help: None })
    }

    /// Says what began where and could not be read to its end.
    pub(super) fn within(mut self: Box<Self>, start: Mark, what: &'static str) -> Box<YamlError> {
        self.context = Some((start, what));
        self
    }

    /// Says what to do.
    pub(super) fn help(mut self: Box<Self>, help: Option<&'static str>) -> Box<YamlError> {
        self.help = help;
        self
    }

    /// The problem as a finding in a file.
    pub fn to_diagnostic(&self, file: FileId, text: &str) -> Diagnostic {
        let span = |mark: Mark| {
            let found = text.get(mark.at()..).and_then(|rest| rest.chars().next());
            let width = found.filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
            Span::new(file, mark.at(), mark.at() + width)
        };
        let mut diagnostic = Diagnostic::error(self.code, self.message.clone()).at(span(self.at));
        if let Some((start, what)) = self.context {
            diagnostic = diagnostic.label(span(start), what);
        }
        let line = line_before(text, self.at.at());
        let help = if line.contains("{{") { Some(hints::QUOTE_BRACES) } else { self.help };
        match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.at.line + 1, self.at.column + 1, self.message)
    }
}

/// The line up to an offset.
fn line_before(text: &str, at: usize) -> &str {
    let before = text.get(..at).unwrap_or(text);
    before.rsplit_once(['\n', '\r']).map_or(before, |(_, line)| line)
}

/// What to do about the usual mistakes.
pub(super) mod hints {
    pub(in super::super) const COLON_IN_TEXT: &str =
        "put the value in quotes if the `: ` belongs to it, or start a new line for the key";
    pub(in super::super) const INDENTATION: &str =
        "indent the members of one map or list alike, with spaces";
    pub(in super::super) const QUOTE_BRACES: &str =
        "put text that begins with `{{` in quotes: a bare `{` opens a map";
    pub(in super::super) const QUOTE_INDICATOR: &str =
        "put the text in quotes: bare text cannot begin with this character";
    pub(in super::super) const SPACE_AFTER_COLON: &str =
        "put a space behind the colon, as in `key: value`";
    pub(in super::super) const TABS: &str = "indent with spaces; tabs cannot indent";
    pub(in super::super) const UNCLOSED_BRACKET: &str =
        "look for a missing comma or a bracket that is not closed";
    pub(in super::super) const UNCLOSED_QUOTE: &str =
        "close the quote, or double it if it belongs to the text";
}
