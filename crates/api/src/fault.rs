//! What goes wrong, as clients are told.

use crate::response::{JSON, Response, framework};
use axum::http::StatusCode;
use axum::response::Response as HttpResponse;
use kiln_engine::service::RequestError;
use kiln_template::Value;

/// Why a request has no other answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The status.
    pub status: StatusCode,
    /// The type of the error.
    pub kind: String,
    /// What is wrong; nothing if that is not for users.
    pub message: Option<String>,
    /// Everything that is wrong, for clients that can show it.
    pub findings: Vec<Value>,
}

/// The types of errors that are not the server's fault, by status. Everything else is.
const STATUSES: [(u16, &[&str]); 7] = [
    (
        400,
        &[
            "AttributeError",
            "CircularDependencyException",
            "DownloadLimitExceeded",
            "HTTPBadRequest",
            "ImmutableParameterModified",
            "Invalid",
            "InvalidBreakPointHook",
            "InvalidExternalResourceDependency",
            "InvalidParameterValue",
            "InvalidRestrictedAction",
            "InvalidSchemaError",
            "InvalidTemplateReference",
            "InvalidTemplateSection",
            "InvalidTemplateVersion",
            "MissingCredentialError",
            "NotSupported",
            "ObjectFieldInvalid",
            "PhysicalResourceIDAmbiguity",
            "PhysicalResourceNameAmbiguity",
            "PropertyUnspecifiedError",
            "RequestLimitExceeded",
            "ResourceActionNotSupported",
            "ResourcePropertyConflict",
            "ResourceTypeUnavailable",
            "StackValidationFailed",
            "UnknownUserParameter",
            "UserParameterMissing",
            "ValueError",
        ],
    ),
    (403, &["Forbidden", "HTTPForbidden", "InvalidTenant", "NotAuthorized"]),
    (
        404,
        &[
            "EntityNotFound",
            "HTTPNotFound",
            "NotFound",
            "ResourceNotAvailable",
            "ResourceNotFound",
            "SnapshotNotFound",
        ],
    ),
    (405, &["HTTPMethodNotAllowed"]),
    (409, &["ActionInProgress", "StackExists"]),
    (429, &["HTTPTooManyRequests"]),
    (503, &["HTTPServiceUnavailable", "StoreUnavailable"]),
];

/// What is said of a status in general.
fn explanation(status: StatusCode) -> &'static str {
    match status.as_u16() {
        400 | 405 => {
            "The server could not comply with the request since it is either malformed or otherwise \
             incorrect."
        }
        403 => "Access was denied to this resource.",
        404 => "The resource could not be found.",
        429 => "There have been too many requests. Please wait a moment and try again.",
        409 => "There was a conflict when trying to complete your request.",
        503 => "The server is currently unavailable. Please try again at a later time.",
        _ => "The server has either erred or is incapable of performing the requested operation.",
    }
}

impl Fault {
    /// A fault of a type with its message.
    pub fn new(kind: &str, message: impl Into<String>) -> Fault {
        let known = STATUSES.iter().find(|(_, kinds)| kinds.contains(&kind));
        let status = known.and_then(|(status, _)| StatusCode::from_u16(*status).ok());
        Fault {
            status: status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            kind: kind.to_owned(),
            message: Some(message.into()),
            findings: Vec::new(),
        }
    }

    /// A fault that says no more than its type.
    pub fn bare(kind: &str) -> Fault {
        Fault { message: None, ..Fault::new(kind, "") }
    }

    /// A fault of a type that says what its status says.
    pub fn general(kind: &str) -> Fault {
        let fault = Fault::new(kind, "");
        Fault { message: Some(explanation(fault.status).into()), ..fault }
    }

    /// A bad request.
    pub fn bad(message: impl Into<String>) -> Fault {
        Fault::new("HTTPBadRequest", message)
    }

    /// A bad request that says no more than that.
    pub fn malformed() -> Fault {
        Fault::general("HTTPBadRequest")
    }

    /// The answer that tells it.
    pub fn into_response(self) -> HttpResponse {
        let mut error = vec![("type", Value::from(self.kind))];
        error.extend(self.message.map(|message| ("message", Value::from(message))));
        error.push(("traceback", Value::Null));
        if !self.findings.is_empty() {
            error.push(("findings", Value::list(self.findings)));
        }
        let body = Value::map([
            ("code", Value::from(i64::from(self.status.as_u16()))),
            ("title", reason(self.status).into()),
            ("explanation", explanation(self.status).into()),
            ("error", Value::map(error)),
        ]);
        Response::json(self.status, &body).into_response()
    }
}

impl From<RequestError> for Fault {
    fn from(refusal: RequestError) -> Fault {
        let fault = Fault::new(refusal.kind, "");
        Fault { message: refusal.message, findings: refusal.findings, ..fault }
    }
}

/// The phrase that goes with a status.
pub(crate) fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Unknown")
}

/// The answer to a path that there is not.
pub(crate) fn no_route(accept: &str) -> HttpResponse {
    let message = "The resource could not be found.<br /><br />\n\n\n";
    framework(StatusCode::NOT_FOUND, message, accept).into_response()
}

/// Whether an answer is in JSON, judged by what the client accepts.
pub(crate) fn wants_json(accept: &str) -> bool {
    accept.split(',').next().is_some_and(|first| first.trim().starts_with(JSON))
}
