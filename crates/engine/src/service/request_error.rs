//! Why a request is not carried out.

use crate::store::{CreateError, StoreError};
use kiln_template::diagnostic::Diagnostic;
use kiln_template::{Sources, Value};
use std::fmt;

/// Why a request is not carried out, in the words that clients know.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestError {
    /// The type of the error, such as `EntityNotFound`.
    pub kind: &'static str,
    /// What is wrong; nothing if only the type is told.
    pub message: Option<String>,
    /// Everything that is wrong, with its place and what to do: for clients that can show it.
    pub findings: Vec<Value>,
}

impl RequestError {
    /// A refusal of a type with its message.
    pub fn new(kind: &'static str, message: impl Into<String>) -> RequestError {
        RequestError { kind, message: Some(message.into()), findings: Vec::new() }
    }

    /// Something is not there.
    pub fn not_found(what: &str, name: &str) -> RequestError {
        RequestError::new("EntityNotFound", format!("The {what} ({name}) could not be found."))
    }

    /// A feature is not there, or not now.
    pub fn unsupported(what: impl fmt::Display) -> RequestError {
        RequestError::new("NotSupported", format!("{what} is not supported."))
    }

    /// A stack is at work.
    pub fn action_in_progress(stack: &str, action: impl fmt::Display) -> RequestError {
        let message = format!("Stack {stack} already has an action ({action}) in progress.");
        RequestError::new("ActionInProgress", message)
    }

    /// A limit is reached.
    pub fn limit_exceeded(message: impl fmt::Display) -> RequestError {
        RequestError::new("RequestLimitExceeded", format!("Request limit exceeded: {message}"))
    }

    /// What validation found: the first error is the one that is told.
    pub fn from_diagnostics(
        diagnostics: &[Diagnostic],
        sources: &Sources,
        is_validation: bool,
    ) -> RequestError {
        let Some(first) = diagnostics.iter().find(|found| found.is_error()) else {
            return RequestError::new("StackValidationFailed", "The template is not valid.");
        };
        let (kind, message) = match is_validation {
            true => (first.validation_kind(), first.text()),
            false => (first.kind, first.wire_text()),
        };
        /// More than this is not sent: whoever has so many mistakes will ask again.
        const MOST: usize = 100;
        let findings = diagnostics.iter().take(MOST).map(|found| finding(found, sources)).collect();
        RequestError { kind, message: Some(message), findings }
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

impl From<StoreError> for RequestError {
    fn from(error: StoreError) -> RequestError {
        // What the store says is for the operator, not for users.
        tracing::error!(%error, "the store failed");
        RequestError { kind: "StoreUnavailable", message: None, findings: Vec::new() }
    }
}

impl From<CreateError> for RequestError {
    fn from(error: CreateError) -> RequestError {
        match error {
            CreateError::NameTaken(_) => RequestError::new("StackExists", error.to_string()),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.kind),
            None => f.write_str(self.kind),
        }
    }
}
