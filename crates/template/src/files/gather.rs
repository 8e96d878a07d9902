//! Gathering files: names in templates and environments become absolute URLs, and the files they
//! name are read in turn, each URL once.
//!
//! Files wait in a queue, so templates that name each other in a ring, or in a long chain, end.

use super::{FileLimits, FileReader, base64, request_text, rewrite, url};
use crate::codes::{self, Code};
use crate::diagnostic::Diagnostic;
use crate::document::{Data, Map, Node};
use crate::environment::Environment;
use crate::read::read;
use crate::source::{Sources, Span};
use indexmap::IndexMap;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// The keys of which a template has one.
const VERSION_KEYS: [&str; 3] =
    ["AWSTemplateFormatVersion", "HeatTemplateFormatVersion", "heat_template_version"];

/// The role of a document.
#[derive(Clone, Copy, PartialEq)]
enum Role {
    /// A template: python-heatclient strips blank lines off its end, and with them the line feed of
    /// a block of text that comes last.
    Template,
    /// An environment.
    Environment,
}

/// The files that were gathered.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    /// The `files` of a request: content by absolute URL, as python-heatclient sends it.
    pub files: IndexMap<String, String>,
    /// The templates among the files, parsed and with URLs in place of names; spans are those of
    /// the files as they were written.
    pub documents: IndexMap<Arc<str>, Node>,
    /// The errors.
    pub diagnostics: Vec<Diagnostic>,
}

/// Gathers files.
pub struct Gatherer<'a> {
    reader: &'a dyn FileReader,
    sources: &'a mut Sources,
    limits: &'a FileLimits,
    gathered: Gathered,
    /// URLs still to be read, each with the span that names it first.
    pending: VecDeque<(String, Span)>,
    /// URLs that were read, tried, or are pending.
    seen: HashSet<String>,
    /// Root templates and environments as sent, in case a template names them.
    known: IndexMap<String, String>,
    total_bytes: usize,
}

impl<'a> Gatherer<'a> {
    /// Nothing gathered yet.
    pub fn new(
        reader: &'a dyn FileReader,
        sources: &'a mut Sources,
        limits: &'a FileLimits,
    ) -> Gatherer<'a> {
        Gatherer {
            reader,
            sources,
            limits,
            gathered: Gathered::default(),
            pending: VecDeque::new(),
            seen: HashSet::new(),
            known: IndexMap::new(),
            total_bytes: 0,
        }
    }

    /// Reads a root template and all it names; returns it with URLs in place of names.
    ///
    /// The caller checks whether the tree is a template.
    pub fn template(&mut self, url: &str) -> Option<Node> {
        let bytes = self.fetch(url, None, "Could not fetch template from")?;
        let mut node = self.parse(url, &bytes, Role::Template)?;
        self.enqueue(rewrite::template(&mut node, &url::directory(url)));
        self.known.insert(url.to_owned(), request_text(&node));
        self.read_pending();
        Some(node)
    }

    /// Reads an environment and all that its registry names; returns it with URLs in place of
    /// names.
    ///
    /// It becomes one of the files, for `environment_files` to name.
    pub fn environment(&mut self, url: &str) -> Option<Node> {
        let bytes = self.fetch(url, None, "Could not fetch contents for")?;
        let mut node = self.parse(url, &bytes, Role::Environment)?;
        if node.is_null() {
            node.data = Data::Map(Map::default());
        }
        let (_, faults) = Environment::parse(&node);
        let refused = faults.iter().any(Diagnostic::is_error);
        self.gathered.diagnostics.extend(faults);
        if refused {
            return None;
        }
        self.enqueue(rewrite::environment(&mut node, &url::directory(url)));
        self.seen.insert(url.to_owned());
        self.gathered.files.insert(url.to_owned(), request_text(&node));
        self.read_pending();
        Some(node)
    }

    /// Reads a file that is a parameter's value: text, or the base64 form of binary content.
    pub fn content(&mut self, url: &str) -> Option<String> {
        let bytes = self.fetch(url, None, "Could not fetch contents for")?;
        Some(as_text(bytes))
    }

    /// The files that were gathered.
    pub fn finish(self) -> Gathered {
        self.gathered
    }

    fn read_pending(&mut self) {
        while let Some((url, position)) = self.pending.pop_front() {
            if let Some(content) = self.known.get(&url) {
                self.gathered.files.insert(url, content.clone());
                continue;
            }
            if let Some(bytes) = self.fetch(&url, Some(position), "Could not fetch contents for") {
                let content = self.as_sent(&url, bytes);
                self.gathered.files.insert(url, content);
            }
        }
    }

    /// A file as it is sent: a template as JSON with its names rewritten, other text as it is.
    fn as_sent(&mut self, url: &str, bytes: Vec<u8>) -> String {
        let text = as_text(bytes);
        if !VERSION_KEYS.iter().any(|key| text.contains(key)) {
            return text;
        }
        let file = self.sources.add(url, text.as_str());
        let (node, faults) = read(file, text.trim_end(), &self.limits.document);
        let is_template = |map: &Map| map.iter().any(|entry| VERSION_KEYS.contains(&&*entry.key));
        match node {
            Some(mut node) if node.as_map().is_some_and(is_template) => {
                self.enqueue(rewrite::template(&mut node, &url::directory(url)));
                let request_text = request_text(&node);
                self.gathered.documents.insert(url.into(), node);
                self.gathered.diagnostics.extend(faults);
                request_text
            }
            _ => text,
        }
    }

    fn parse(&mut self, url: &str, bytes: &[u8], role: Role) -> Option<Node> {
        let refuse = |message: String| match role {
            Role::Template => format!("Error parsing template {url} {message}"),
            Role::Environment => format!("Environment not in valid format: {message}"),
        };
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let message = refuse(format!("byte {} is not UTF-8", error.valid_up_to()));
                self.gathered.diagnostics.push(Diagnostic::error(&codes::SYNTAX, message));
                return None;
            }
        };
        let file = self.sources.add(url, text);
        let text = if role == Role::Template { text.trim_end() } else { text };
        let (node, mut faults) = read(file, text, &self.limits.document);
        let form = |fault: &&mut Diagnostic| fault.is_error() && fault.code != &codes::TOO_LARGE;
        for fault in faults.iter_mut().filter(form) {
            fault.message = refuse(std::mem::take(&mut fault.message));
        }
        self.gathered.diagnostics.extend(faults);
        node
    }

    /// The bytes of a URL, within the limits.
    fn fetch(&mut self, url: &str, position: Option<Span>, failure: &str) -> Option<Vec<u8>> {
        let limits = self.limits;
        if self.gathered.files.len() >= limits.max_files {
            let message = format!("{failure} {url}: more than {} files", limits.max_files);
            self.refuse(&codes::TOO_LARGE, message, position, None);
            self.pending.clear();
            return None;
        }
        let bytes = match self.reader.read(url) {
            Ok(bytes) => bytes,
            Err(error) => {
                let help = format!(
                    "{error}; names are relative to the directory of the file that contains them"
                );
                self.refuse(
                    &codes::FILE_UNREADABLE,
                    format!("{failure} {url}"),
                    position,
                    Some(help),
                );
                return None;
            }
        };
        self.total_bytes = self.total_bytes.saturating_add(bytes.len());
        if bytes.len() > limits.max_file_bytes || self.total_bytes > limits.max_total_bytes {
            let message = format!(
                "{failure} {url}: files may have {} bytes each and {} together",
                limits.max_file_bytes, limits.max_total_bytes
            );
            self.refuse(&codes::TOO_LARGE, message, position, None);
            return None;
        }
        Some(bytes)
    }

    fn refuse(
        &mut self,
        code: &'static Code,
        message: String,
        position: Option<Span>,
        help: Option<String>,
    ) {
        let mut fault = Diagnostic::error(code, message);
        fault.help = help;
        if let Some(position) = position {
            fault = fault.at(position);
        }
        self.gathered.diagnostics.push(fault);
    }

    /// Puts names that were rewritten to URLs into the queue.
    fn enqueue(&mut self, names: Vec<(String, Span)>) {
        for (url, span) in names {
            if self.seen.insert(url.clone()) {
                self.pending.push_back((url, span));
            }
        }
    }
}

fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| base64::encode(error.as_bytes()))
}
