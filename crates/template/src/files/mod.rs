//! The client's work before a request: gathering the files that templates name.
//!
//! This crate does no I/O: bytes come from a [`FileReader`]. The result is what python-heatclient would
//! send (keys are absolute URLs, templates are rewritten to them and sent as JSON), and the trees
//! and texts as they were written, for diagnostics.

pub mod arguments;
mod base64;
mod gather;
mod rewrite;
#[cfg(test)]
mod tests;
pub mod url;

pub use gather::{Gathered, Gatherer};

use crate::document::Node;
use crate::limits::Limits;
use crate::print;
use crate::source::Sources;
use crate::value::Value;
use std::fmt;

/// A source of files.
pub trait FileReader {
    /// The content of a URL.
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError>;
}

/// Why a URL could not be read, in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The reason, such as `No such file or directory`.
    pub reason: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for ReadError {}

/// Limits on the files of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Bounds on each template and environment.
    pub document: Limits,
    /// Number of files.
    pub max_files: usize,
    /// Bytes of one file.
    pub max_file_bytes: usize,
    /// Bytes of all files together.
    pub max_total_bytes: usize,
}

impl Default for FileLimits {
    /// Far above what a default Heat service accepts in one request.
    fn default() -> FileLimits {
        FileLimits {
            document: Limits::default(),
            max_files: 10_000,
            max_file_bytes: 16 << 20,
            max_total_bytes: 64 << 20,
        }
    }
}

/// A template and the files it needs.
#[derive(Clone, Debug)]
pub struct ResolvedTemplate {
    /// The template with absolute URLs in place of names; nothing if it cannot be read.
    pub template: Option<Node>,
    /// The files it needs.
    pub gathered: Gathered,
}

/// Gathers a template and all that it names, directly or through nested templates.
pub fn resolve_template(
    url: &str,
    reader: &dyn FileReader,
    sources: &mut Sources,
    limits: &FileLimits,
) -> ResolvedTemplate {
    let mut gathering = Gatherer::new(reader, sources, limits);
    let template = gathering.template(url);
    ResolvedTemplate { template, gathered: gathering.finish() }
}

/// A rewritten tree as python-heatclient sends it.
pub fn request_text(tree: &Node) -> String {
    print::json(&Value::from(tree), print::Keys::Ordered)
}
