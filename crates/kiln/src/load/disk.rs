//! Reads files by URL, with size limits.
//!
//! Files that the command line names may be pipes or devices. Files that templates name
//! must be regular files, so that a template cannot block the reader.

use crate::stdio::CommandError;
use kiln_template::files::{FileReader, ReadError, url};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

/// The name of standard input.
pub(crate) const STDIN: &str = "<stdin>";

/// The message for remote files, which are not fetched.
const NO_HTTP: &str = "remote files are not fetched";

/// The local files.
pub(crate) struct Disk {
    /// The files that the command line names, by URL.
    opened: BTreeMap<String, Vec<u8>>,
    /// The maximum size of a file in bytes; one more byte is read to detect larger files.
    max_bytes: usize,
}

impl Disk {
    /// Reads at most `max` bytes of a file, and one more.
    pub(crate) fn new(max_bytes: usize) -> Disk {
        Disk { opened: BTreeMap::new(), max_bytes }
    }

    /// Reads a file that the command line names; a file that cannot be read is an error.
    pub(crate) fn open(&mut self, url: &str, typed: &str) -> Result<&[u8], CommandError> {
        if !self.opened.contains_key(url) {
            let bytes = match typed {
                STDIN => self.bounded(io::stdin().lock()),
                _ => File::open(path(url).map_err(|why| cannot_read(typed, &why.reason))?)
                    .and_then(|file| self.bounded(file)),
            };
            let bytes = bytes.map_err(|error| cannot_read(typed, &reason(&error)))?;
            self.opened.insert(url.to_owned(), bytes);
        }
        Ok(self.opened.get(url).map_or(&[], Vec::as_slice))
    }

    fn bounded(&self, source: impl Read) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        source.take(self.max_bytes as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl FileReader for Disk {
    fn read(&self, url: &str) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.opened.get(url) {
            return Ok(bytes.clone());
        }
        let path = path(url)?;
        let fault = |error: io::Error| ReadError { reason: reason(&error) };
        if !std::fs::metadata(&path).map_err(fault)?.is_file() {
            return Err(ReadError { reason: "not a plain file".into() });
        }
        File::open(path).and_then(|file| self.bounded(file)).map_err(fault)
    }
}

/// The path of a `file://` URL.
fn path(url: &str) -> Result<String, ReadError> {
    url::to_path(url).ok_or_else(|| {
        let is_http = ["http:", "https:"].iter().any(|scheme| url.starts_with(scheme));
        let reason = if is_http { NO_HTTP } else { "only paths and file:// URLs can be read" };
        ReadError { reason: reason.into() }
    })
}

/// The error message without the operating system's error number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

fn cannot_read(typed: &str, reason: &str) -> CommandError {
    CommandError::usage(format!("cannot read {}: {reason}", crate::render::printable(typed)))
}
