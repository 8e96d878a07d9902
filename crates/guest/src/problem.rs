//! What went wrong: with what, where, and why.

use std::fmt;
use std::path::Path;

/// What went wrong, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem(String);

/// What a fallible step gives.
pub(crate) type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    /// A problem in words.
    pub(crate) fn new(said: impl Into<String>) -> Problem {
        Problem(said.into())
    }

    /// A problem with a file.
    pub(crate) fn at(path: &Path, why: impl fmt::Display) -> Problem {
        Problem(format!("{}: {why}", path.display()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Problem {}
