//! Files by URL, with bounds.
//!
//! What the command line names may be anything that can be read, a pipe too. What templates name
//! must be a plain file: a template must not be able to make a reader wait.

use crate::streams::Failure;
use kiln_template::files::{ReadError, Reader, url};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};

/// What standard input is called.
pub(crate) const STDIN: &str = "<stdin>";

/// Why nothing is fetched over the network.
const NO_HTTP: &str = "fetching over http is not built in yet";

/// The files of this machine.
pub(crate) struct Disk {
    /// What the command line names, by URL.
    opened: BTreeMap<String, Vec<u8>>,
    /// So many bytes of a file are read, and one more to tell that there are more.
    max_bytes: usize,
}

impl Disk {
    /// Reads so many bytes of a file, and one more.
    pub(crate) fn new(max_bytes: usize) -> Disk {
        Disk { opened: BTreeMap::new(), max_bytes }
    }

    /// Reads what the command line names, and fails if that cannot be read.
    pub(crate) fn open(&mut self, url: &str, typed: &str) -> Result<&[u8], Failure> {
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

impl Reader for Disk {
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

/// The path behind a URL, if it is one of this machine.
fn path(url: &str) -> Result<String, ReadError> {
    url::to_path(url).ok_or_else(|| {
        let is_http = ["http:", "https:"].iter().any(|scheme| url.starts_with(scheme));
        let reason = if is_http { NO_HTTP } else { "only paths and file:// URLs can be read" };
        ReadError { reason: reason.into() }
    })
}

/// What went wrong, without the number that the system gives it.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

fn cannot_read(typed: &str, reason: &str) -> Failure {
    Failure::usage(format!("cannot read {}: {reason}", crate::render::printable(typed)))
}
