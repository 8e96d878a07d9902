//! Output formats of findings and lists: for people ([`terminal`], [`table`]), and for programs ([`json`], [`data`]).

pub(crate) mod data;
pub(crate) mod excerpt;
pub(crate) mod graph;
pub(crate) mod json;
pub(crate) mod names;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod texts;

use kiln_template::Diagnostic;
use std::borrow::Cow;

/// Starts bold text on a terminal.
pub(crate) const BOLD: &str = "\x1b[1m";
/// Starts dim text on a terminal.
pub(crate) const FAINT: &str = "\x1b[2m";
/// Starts green text, for success.
pub(crate) const GREEN: &str = "\x1b[1;32m";
/// Starts red text, for errors.
pub(crate) const RED: &str = "\x1b[1;91m";
/// Starts yellow text, for warnings.
pub(crate) const YELLOW: &str = "\x1b[1;33m";
/// Ends any style.
pub(crate) const PLAIN: &str = "\x1b[0m";

/// Text in a style, if styles are wanted.
pub(crate) fn styled<'a>(on: bool, style: &str, text: &'a str) -> Cow<'a, str> {
    if on { Cow::Owned(format!("{style}{text}{PLAIN}")) } else { Cow::Borrowed(text) }
}

/// Text from outside, safe for a terminal: control characters are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if steers(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Whether a character could affect other text: control characters, and those that change the
/// direction of writing.
fn steers(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A count with its noun: `1 error`, `2 errors`.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The number of errors and of warnings.
pub(crate) fn tally(diagnostics: &[Diagnostic]) -> (usize, usize) {
    let errors = diagnostics.iter().filter(|found| found.is_error()).count();
    (errors, diagnostics.len() - errors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_cannot_steer_a_terminal() {
        assert_eq!(printable("plain é 界"), "plain é 界");
        assert_eq!(printable("a\x1b[31mb\nc\u{202e}d"), "a\\u{1b}[31mb\\nc\\u{202e}d");
    }
}
