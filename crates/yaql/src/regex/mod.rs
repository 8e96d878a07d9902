//! Regular expressions of Python's `re`, run by `fancy_regex`.
//!
//! [`compile`] translates a pattern (see `translate.rs`), which also finds the mistakes Python
//! finds, in its words. Matching gives up after a fixed amount of backtracking.
//!
//! ```
//! let name = kiln_yaql::regex::compile("[a-z][a-z0-9]{,7}").unwrap();
//! assert!(name.matches_whole("web1").unwrap());
//! assert!(!name.matches_whole("web-1").unwrap());
//!
//! let error = kiln_yaql::regex::compile("(").unwrap_err();
//! assert_eq!(error, "missing ), unterminated subpattern at position 0");
//! ```

mod groups;
mod parse;
mod replacement;
mod set;
mod translate;

pub(crate) use replacement::Replacement;

use crate::error::{Error, FailureClass};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How often matching may go back before it gives up.
const BACKTRACK_LIMIT: usize = 20_000;
/// How many bytes a compiled pattern may take.
const MAX_SIZE: usize = 1 << 20;

/// Compiles a Python pattern; the error is the sentence Python has for it.
pub fn compile(pattern: &str) -> Result<Regex, String> {
    Regex::with_flags(pattern, Flags::default()).map_err(|error| error.to_string())
}

/// Options of a pattern as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Case does not matter.
    pub ignore_case: bool,
    /// `^` and `$` match at every line.
    pub multi_line: bool,
    /// `.` matches line ends too.
    pub dot_all: bool,
}

/// A compiled pattern; cloning is cheap.
#[derive(Clone)]
pub struct Regex(Arc<RegexData>);

struct RegexData {
    pattern: String,
    flags: Flags,
    translated: String,
    search: fancy_regex::Regex,
    /// The same pattern, tried only at the start; made when it is needed.
    anchored: OnceLock<Option<fancy_regex::Regex>>,
    names: Vec<(Arc<str>, usize)>,
    ascii: bool,
}

/// A match: the whole and its groups, as ranges of bytes.
pub(crate) struct Match {
    pub(crate) groups: Vec<Option<Range<usize>>>,
}

impl Match {
    /// The whole match.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.groups.first().cloned().flatten().unwrap_or(0..0)
    }
}

impl Regex {
    /// Compiles a pattern with options.
    pub fn with_flags(pattern: &str, flags: Flags) -> Result<Regex, Error> {
        let bad = |message: String| Error::failure(FailureClass::Regex, message);
        let translated = translate::translate(pattern, flags).map_err(bad)?;
        let search = build(&translated.pattern).map_err(bad)?;
        Ok(Regex(Arc::new(RegexData {
            pattern: pattern.into(),
            flags,
            translated: translated.pattern,
            search,
            anchored: OnceLock::new(),
            names: translated.names,
            ascii: translated.ascii,
        })))
    }

    /// The pattern as it was written.
    pub fn pattern(&self) -> &str {
        &self.0.pattern
    }

    /// The options.
    pub fn flags(&self) -> Flags {
        self.0.flags
    }

    /// Whether the pattern matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> Result<bool, Error> {
        self.0.search.is_match(text).map_err(run_error)
    }

    /// The bytes of the match that begins at the start of the text, if there is one (`re.match`).
    pub fn match_start(&self, text: &str) -> Result<Option<Range<usize>>, Error> {
        let anchored =
            self.0.anchored.get_or_init(|| build(&format!(r"\A(?:{})", self.0.translated)).ok());
        let Some(anchored) = anchored else {
            return Err(Error::failure(FailureClass::Regex, "Pattern is too large"));
        };
        Ok(anchored.find(text).map_err(run_error)?.map(|found| found.range()))
    }

    /// Whether the match at the start of the text, as first found, reaches to its end.
    ///
    /// This is no full match: `a|ab` finds `a` in `ab` and stops there.
    pub fn matches_whole(&self, text: &str) -> Result<bool, Error> {
        Ok(self.match_start(text)?.is_some_and(|found| found.end == text.len()))
    }

    /// The first match at or after a byte.
    pub(crate) fn find_from(&self, text: &str, start: usize) -> Result<Option<Match>, Error> {
        let captures = self.0.search.captures_from_pos(text, start).map_err(run_error)?;
        Ok(captures.map(|captures| Match {
            groups: (0..captures.len())
                .map(|at| captures.get(at).map(|found| found.range()))
                .collect(),
        }))
    }

    /// Names of groups with their numbers.
    pub(crate) fn names(&self) -> &[(Arc<str>, usize)] {
        &self.0.names
    }

    /// The number of groups.
    pub(crate) fn group_count(&self) -> usize {
        self.0.search.captures_len() - 1
    }

    /// Whether the pattern asks for ASCII classes.
    pub(crate) fn is_ascii(&self) -> bool {
        self.0.ascii
    }

    /// The pattern as the reference prints it.
    pub(crate) fn form(&self) -> String {
        let flags = self.0.flags;
        let names = [
            (flags.ignore_case, "re.IGNORECASE"),
            (flags.multi_line, "re.MULTILINE"),
            (flags.dot_all, "re.DOTALL"),
        ];
        let names: Vec<_> = names.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect();
        let pattern = crate::python::quoted(self.pattern());
        if names.is_empty() {
            format!("re.compile({pattern})")
        } else {
            format!("re.compile({pattern}, {})", names.join("|"))
        }
    }
}

impl PartialEq for Regex {
    fn eq(&self, other: &Regex) -> bool {
        self.0.pattern == other.0.pattern && self.0.flags == other.0.flags
    }
}

impl fmt::Debug for Regex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.form())
    }
}

fn build(pattern: &str) -> Result<fancy_regex::Regex, String> {
    fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(MAX_SIZE)
        .delegate_dfa_size_limit(MAX_SIZE)
        .build()
        .map_err(|error| {
            let message = error.to_string();
            match error {
                _ if message.contains("lookbehind") => {
                    "look-behind requires fixed-width pattern".into()
                }
                fancy_regex::Error::CompileError(_) => "Regular expression is too large".into(),
                _ => message,
            }
        })
}

fn run_error(error: fancy_regex::Error) -> Error {
    let message = match error {
        fancy_regex::Error::RuntimeError(_) => "Regular expression takes too long to match".into(),
        other => other.to_string(),
    };
    Error::failure(FailureClass::Regex, message)
}

/// Puts a backslash before every character that means something in a pattern (`re.escape`).
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '(' | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '?'
                | '*'
                | '+'
                | '-'
                | '|'
                | '^'
                | '$'
                | '\\'
                | '.'
                | '&'
                | '~'
                | '#'
                | ' '
                | '\t'
                | '\n'
                | '\r'
                | '\u{b}'
                | '\u{c}'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn angle_brackets_are_themselves() {
        let regex = compile(r"^a<b>\<c\>$").unwrap();
        assert!(regex.is_match("a<b><c>").unwrap());
        assert!(!regex.is_match("ab").unwrap());
    }

    #[test]
    fn a_repeated_look_is_a_look_or_none() {
        assert!(compile("^(?=b)*a$").unwrap().is_match("a").unwrap());
        assert!(!compile("^(?=b)+a$").unwrap().is_match("a").unwrap());
        assert!(compile("^(?!b){2}a$").unwrap().is_match("a").unwrap());
    }
}
