//! The error of a request.

use crate::error_type::ErrorType;
use crate::store::{CreateError, StoreError};
use kiln_template::{Diagnostic, Sources, Value};
use std::fmt;

/// Why a request is refused, in the words that clients know.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestError {
    /// The type of the error: wire name, HTTP status and AWS code.
    pub error_type: ErrorType,
    /// The message; `None` if clients see the type alone.
    pub message: Option<String>,
    /// All findings of the validation, with position and help, for clients that show them.
    pub findings: Vec<Value>,
}

impl RequestError {
    /// An error of a type with its message.
    pub fn new(error_type: ErrorType, message: impl Into<String>) -> RequestError {
        RequestError { error_type, message: Some(message.into()), findings: Vec::new() }
    }

    /// Something does not exist.
    pub fn not_found(what: &str, name: &str) -> RequestError {
        RequestError::new(
            ErrorType::EntityNotFound,
            format!("The {what} ({name}) could not be found."),
        )
    }

    /// A feature is not supported, or not in this state.
    pub fn unsupported(what: impl fmt::Display) -> RequestError {
        RequestError::new(ErrorType::NotSupported, format!("{what} is not supported."))
    }

    /// The stack has an action in progress.
    pub(crate) fn action_in_progress(stack: &str, action: impl fmt::Display) -> RequestError {
        let message = format!("Stack {stack} already has an action ({action}) in progress.");
        RequestError::new(ErrorType::ActionInProgress, message)
    }

    /// A limit is exceeded.
    pub(crate) fn limit_exceeded(message: impl fmt::Display) -> RequestError {
        RequestError::new(
            ErrorType::RequestLimitExceeded,
            format!("Request limit exceeded: {message}"),
        )
    }

    /// The error for a project that has too many requests at the same time.
    pub(crate) fn too_much_work() -> RequestError {
        RequestError::new(
            ErrorType::HttpTooManyRequests,
            "Too many requests of the project wait to be validated. Send this request again later, and fewer at the same \
             time.",
        )
    }

    /// The first error that the validation found, with all findings.
    pub(crate) fn from_diagnostics(
        diagnostics: &[Diagnostic],
        sources: &Sources,
        is_validation: bool,
    ) -> RequestError {
        let Some(first) = diagnostics.iter().find(|found| found.is_error()) else {
            return RequestError::new(
                ErrorType::StackValidationFailed,
                "The template is not valid.",
            );
        };
        let (kind, message) = match is_validation {
            true => (first.validation_kind(), first.text()),
            false => (first.kind, first.wire_text()),
        };
        /// How many findings are sent at most.
        const MOST: usize = 100;
        let findings = diagnostics.iter().take(MOST).map(|found| finding(found, sources)).collect();
        let error_type = ErrorType::parse(kind).unwrap_or(ErrorType::InternalError);
        RequestError { error_type, message: Some(message), findings }
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
        // The text of a store error is for the operator, not for users.
        tracing::error!(%error, "the store failed");
        RequestError {
            error_type: ErrorType::StoreUnavailable,
            message: None,
            findings: Vec::new(),
        }
    }
}

impl From<CreateError> for RequestError {
    fn from(error: CreateError) -> RequestError {
        match error {
            CreateError::NameTaken(_) => {
                RequestError::new(ErrorType::StackExists, error.to_string())
            }
            CreateError::QuotaExceeded(_) => RequestError::limit_exceeded(error),
            CreateError::Store(error) => error.into(),
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.message {
            Some(message) => write!(f, "{}: {message}", self.error_type),
            None => f.write_str(self.error_type.name()),
        }
    }
}
