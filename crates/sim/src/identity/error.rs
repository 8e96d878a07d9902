//! The errors of the API, in Keystone's wording.

use serde_json::{Map, Value, json};

use super::secret;

const MALFORMED: &str = "The server could not comply with the request since it is either malformed or otherwise \
                         incorrect. The client is assumed to be in error.";

/// An error reply: the status, its title and the message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ApiError {
    pub(super) status: u16,
    pub(super) title: &'static str,
    pub(super) message: String,
    /// Additional data of a failed login.
    pub(super) identity: Option<Value>,
}

impl ApiError {
    fn new(status: u16, title: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, title, message: message.into(), identity: None }
    }

    /// The token is missing or invalid.
    pub(super) fn unauthorized() -> ApiError {
        ApiError::login("The request you have made requires authentication.")
    }

    /// A login fails with a reason.
    pub(super) fn login(message: &str) -> ApiError {
        ApiError::new(401, "Unauthorized", message)
    }

    /// The caller is not authorized. The detail is a policy rule, a sentence, or empty.
    pub(super) fn forbidden(detail: &str) -> ApiError {
        let mut message = "You are not authorized to perform the requested action".to_owned();
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        message.push('.');
        ApiError::refused(message)
    }

    /// The operation is forbidden for every caller.
    pub(super) fn refused(message: impl Into<String>) -> ApiError {
        ApiError::new(403, "Forbidden", message)
    }

    /// A record does not exist.
    pub(super) fn missing(kind: &str, id: &str) -> ApiError {
        ApiError::not_found(format!("Could not find {kind}: {id}."))
    }

    /// A record does not exist; with a custom message.
    pub(super) fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(404, "Not Found", message)
    }

    /// The request is invalid.
    pub(super) fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(400, "Bad Request", message)
    }

    /// The request is invalid, with Keystone's longer message.
    pub(super) fn malformed(what: &str) -> ApiError {
        ApiError::bad(format!("{what} {MALFORMED}"))
    }

    /// An element is missing from a part of the request.
    pub(super) fn expecting(what: &str, location: &str) -> ApiError {
        ApiError::malformed(&format!("Expecting to find {what} in {location}."))
    }

    /// A record of this type conflicts.
    pub(super) fn conflict(kind: &str, detail: impl std::fmt::Display) -> ApiError {
        ApiError::new(
            409,
            "Conflict",
            format!("Conflict occurred attempting to store {kind} - {detail}."),
        )
    }

    /// The body is too large.
    pub(super) fn too_large() -> ApiError {
        ApiError::new(413, "Request Entity Too Large", "Request is too large.")
    }

    /// The service itself has failed.
    pub(super) fn internal(cause: impl std::fmt::Display) -> ApiError {
        ApiError::new(
            500,
            "Internal Server Error",
            format!("The identity service failed: {cause}."),
        )
    }

    pub(super) fn with_identity(self, identity: Value) -> ApiError {
        ApiError { identity: Some(identity), ..self }
    }

    /// Renders the body of the reply.
    pub(super) fn body(&self) -> Value {
        let mut error = Map::new();
        error.insert("code".to_owned(), json!(self.status));
        if let Some(identity) = &self.identity {
            error.insert("identity".to_owned(), identity.clone());
        }
        error.insert("message".to_owned(), json!(self.message));
        error.insert("title".to_owned(), json!(self.title));
        json!({ "error": error })
    }
}

impl From<secret::Error> for ApiError {
    fn from(error: secret::Error) -> ApiError {
        ApiError::internal(error)
    }
}
