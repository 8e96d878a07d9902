//! Why a request is not carried out.

use crate::store::{CreateError, StoreError};
use kiln_template::diagnostic::Diagnostic;
use kiln_template::{Sources, Value};
use std::fmt;

/// Why a request is not carried out, in the words that clients know.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The type of the error, such as `EntityNotFound`.
    pub kind: &'static str,
    /// What is wrong; nothing if only the type is told.
    pub message: Option<String>,
    /// Everything that is wrong, with its place and what to do: for clients that can show it.
    pub findings: Vec<Value>,
}

impl Refusal {
    /// A refusal of a type with its message.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { kind, message: Some(message.into()), findings: Vec::new() }
    }

    /// Something is not there.
    pub fn no_such(what: &str, name: &str) -> Refusal {
        Refusal::new("EntityNotFound", format!("The {what} ({name}) could not be found."))
    }

    /// A feature is not there, or not now.
    pub fn unsupported(what: impl fmt::Display) -> Refusal {
        Refusal::new("NotSupported", format!("{what} is not supported."))
    }

    /// A stack is at work.
    pub fn busy(stack: &str, action: impl fmt::Display) -> Refusal {
        let message = format!("Stack {stack} already has an action ({action}) in progress.");
        Refusal::new("ActionInProgress", message)
    }

    /// A limit is reached.
    pub fn limit(message: impl fmt::Display) -> Refusal {
        Refusal::new("RequestLimitExceeded", format!("Request limit exceeded: {message}"))
    }

    /// What validation found: the first error is the one that is told.
    pub fn found(diagnostics: &[Diagnostic], sources: &Sources, is_validation: bool) -> Refusal {
        let Some(first) = diagnostics.iter().find(|found| found.is_error()) else {
            return Refusal::new("StackValidationFailed", "The template is not valid.");
        };
        let (kind, message) = match is_validation {
            true => (first.validation_kind(), first.text()),
            false => (first.kind, first.wire_text()),
        };
        /// More than this is not sent: whoever has so many mistakes will ask again.
        const MOST: usize = 100;
        let findings = diagnostics.iter().take(MOST).map(|found| finding(found, sources)).collect();
        Refusal { kind, message: Some(message), findings }
    }
}

/// A finding as data.
fn finding(found: &Diagnostic, sources: &Sources) -> Value {
    let place = found.span().and_then(|span| sources.locate(span)).map(|place| {
        Value::map([
            ("file", Value::Text(place.file)),
            ("line", i64::from(place.line).into()),
            ("column", i64::from(place.column).into()),
        ])
    });
    let severity = if found.is_error() { "error" } else { "warning" };
    Value::map([
        ("code", Value::from(found.code.id)),
        ("severity", severity.into()),
        ("message", found.text().into()),
        ("place", place.unwrap_or_default()),
        ("help", found.help.clone().map(Value::from).unwrap_or_default()),
    ])
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Refusal {
        // What the store says is for the operator, not for users.
        tracing::error!(%error, "the store failed");
        Refusal { kind: "StoreUnavailable", message: None, findings: Vec::new() }
    }
}

impl From<CreateError> for Refusal {
    fn from(error: CreateError) -> Refusal {
        match error {
            CreateError::NameTaken(_) => Refusal::new("StackExists", error.to_string()),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.kind),
            None => f.write_str(self.kind),
        }
    }
}
