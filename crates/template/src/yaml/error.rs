//! Syntax errors: the position, the context, and how to fix them.

use super::cursor::Mark;
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use crate::suggest::plain_form;
use std::borrow::Cow;
use std::fmt;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlError {
    /// Which kind of finding it is.
    pub code: &'static Code,
    /// What was expected and what was found.
    pub message: String,
    /// The position at which it was detected.
    pub at: Mark,
    /// The start of the construct that is not complete, and its name.
    pub context: Option<(Mark, &'static str)>,
    /// How to fix it.
    pub help: Option<&'static str>,
}

/// A result whose error is a syntax error.
pub type YamlResult<T> = Result<T, Box<YamlError>>;

impl YamlError {
    /// An error in the grammar.
    pub(super) fn syntax(message: impl Into<String>, at: Mark) -> Box<YamlError> {
        YamlError::new(&codes::SYNTAX, message, at)
    }

    /// An error of any kind.
    pub(super) fn new(code: &'static Code, message: impl Into<String>, at: Mark) -> Box<YamlError> {
        Box::new(YamlError { code, message: message.into(), at, context: None, help: None })
    }

    /// Adds the start and the name of the construct that is not complete.
    pub(super) fn within(mut self: Box<Self>, start: Mark, what: &'static str) -> Box<YamlError> {
        self.context = Some((start, what));
        self
    }

    /// Sets the advice how to fix it.
    pub(super) fn help(mut self: Box<Self>, help: Option<&'static str>) -> Box<YamlError> {
        self.help = help;
        self
    }

    /// The error as a diagnostic in a file.
    pub(crate) fn to_diagnostic(&self, file: FileId, text: &str) -> Diagnostic {
        let span = |mark: Mark| {
            let found = text.get(mark.at()..).and_then(|rest| rest.chars().next());
            let width = found.filter(|c| !matches!(c, '\n' | '\r')).map_or(0, char::len_utf8);
            Span::new(file, mark.at(), mark.at() + width)
        };
        let mut diagnostic = Diagnostic::error(self.code, self.message.clone()).at(span(self.at));
        if let Some((start, what)) = self.context {
            diagnostic = diagnostic.label(span(start), what);
        }
        match self.advice(text) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        }
    }

    /// How to fix it, with an eye to what else is in its lines.
    fn advice(&self, text: &str) -> Option<Cow<'static, str>> {
        // Text may go on over a line break, so the cause may be in the line before.
        let at = self.at.at();
        let line = line_around(text, at);
        let above = text.get(..at.saturating_sub(line_before(text, at).len())).unwrap_or_default();
        let above = line_before(above.trim_end(), above.len());
        let opened = self.context.map_or("", |(start, _)| line_around(text, start.at()));
        if let Some((wide, plain)) = [opened, line, above].into_iter().find_map(full_width_sign) {
            return Some(format!("`{wide}` is a full-width character: write `{plain}`").into());
        }
        if line_before(text, at).contains("{{") {
            return Some(hints::QUOTE_BRACES.into());
        }
        self.help.map(Cow::Borrowed)
    }
}

/// The first full-width form of a sign that is none of YAML's, and the sign that it looks like.
fn full_width_sign(line: &str) -> Option<(char, char)> {
    let sign = |wide: char| Some((wide, plain_form(wide)?));
    line.chars().filter_map(sign).find(|(_, plain)| plain.is_ascii_punctuation())
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

/// The line that an offset is in.
fn line_around(text: &str, at: usize) -> &str {
    let start = at.saturating_sub(line_before(text, at).len());
    let line = text.get(start..).unwrap_or_default();
    line.split(['\n', '\r']).next().unwrap_or_default()
}

/// Advice about common mistakes.
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
        "put a space after the colon, as in `key: value`";
    pub(in super::super) const TABS: &str = "indent with spaces; tabs cannot indent";
    pub(in super::super) const UNCLOSED_BRACKET: &str =
        "look for a missing comma or a bracket that is not closed";
    pub(in super::super) const UNCLOSED_QUOTE: &str =
        "close the quote, or double it if it belongs to the text";
}
