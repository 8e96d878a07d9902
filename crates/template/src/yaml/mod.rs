//! YAML 1.1 with libyaml's grammar: text into the tree with spans, and values into text ([`write()`]).
//!
//! Reading has four stages: the *scanner* cuts the text into tokens, the *parser* makes steps of them, the
//! *composer* writes the nodes of the one document onto a tape, and the *builder* makes plain data
//! of the tape. Each is bounded: the scanner looks 1024 characters ahead at most, the parser opens
//! no more collections than allowed, the tape is no longer than the text, and the builder counts
//! the nodes that aliases add.
//!
//! A node's span is its content without anchor and tag. A node that an alias stands for has the
//! alias's own span, and members with the spans of the anchored text.

mod build;
mod build_keys;
mod candidate;
mod characters;
mod cursor;
mod error;
mod event;
mod number;
mod parse_block;
mod parse_flow;
mod parser;
mod scan_block;
mod scan_flow;
mod scan_names;
mod scanner;
mod shortcut;
mod tag;
mod tape;
mod token;
mod write;

pub use cursor::Mark;
pub use error::{YamlError, YamlResult};
pub use event::{Event, EventKind, Events, Properties, Style};
pub use write::{Emitter, write};

use crate::diagnostic::Diagnostic;
use crate::document::{Data, Node};
use crate::limits::Limits;
use crate::read;
use crate::source::{FileId, Span};

/// Reads one YAML document; without a tree, the last diagnostic says why. No document is null.
pub fn read(file: FileId, text: &str, limits: &Limits) -> (Option<Node>, Vec<Diagnostic>) {
    if let Err(error) = read::check_size(file, text.len(), limits) {
        return (None, vec![*error]);
    }
    match tape::compose(text, limits.depth()) {
        Ok(Some(tape)) => build::build(&tape, file, limits),
        Ok(None) => (Some(Node::new(Span::start_of(file), Data::Null)), Vec::new()),
        Err(error) => (None, vec![error.to_diagnostic(file, text)]),
    }
}

/// The events of a text, with their positions.
pub fn events(text: &str) -> Events<'_> {
    Events::new(text, Limits { max_depth: usize::MAX, ..Limits::default() }.depth())
}
