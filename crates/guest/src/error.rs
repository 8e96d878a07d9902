//! The error type.

use std::fmt;
use std::path::Path;

/// An error message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GuestError(String);

/// The result of a fallible operation.
pub(crate) type Result<T> = std::result::Result<T, GuestError>;

impl GuestError {
    /// Returns an error with a message.
    pub(crate) fn new(said: impl Into<String>) -> GuestError {
        GuestError(said.into())
    }

    /// Returns an error about a file.
    pub(crate) fn at(path: &Path, why: impl fmt::Display) -> GuestError {
        GuestError(format!("{}: {why}", path.display()))
    }
}

impl fmt::Display for GuestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GuestError {}
