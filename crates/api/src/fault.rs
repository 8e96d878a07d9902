//! Faults: errors in the form of Heat's API.

use crate::response::{JSON, Response, framework};
use axum::http::header::RETRY_AFTER;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response as HttpResponse;
use kiln_engine::{ErrorType, RequestError};
use kiln_template::Value;

/// Why a request fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The type of the error, which has its HTTP status.
    pub error_type: ErrorType,
    /// The message; none if it is not for users.
    pub message: Option<String>,
    /// All findings, for clients that can show them.
    pub findings: Vec<Value>,
}

/// The explanation of a status.
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
    pub fn new(error_type: ErrorType, message: impl Into<String>) -> Fault {
        Fault { error_type, message: Some(message.into()), findings: Vec::new() }
    }

    /// The HTTP status.
    pub fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.error_type.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// A fault without a message.
    pub fn bare(error_type: ErrorType) -> Fault {
        Fault { error_type, message: None, findings: Vec::new() }
    }

    /// A fault with the explanation of its status as the message.
    pub fn general(error_type: ErrorType) -> Fault {
        let fault = Fault::bare(error_type);
        Fault { message: Some(explanation(fault.status()).into()), ..fault }
    }

    /// A bad request.
    pub fn bad(message: impl Into<String>) -> Fault {
        Fault::new(ErrorType::HttpBadRequest, message)
    }

    /// A bad request with the general explanation.
    pub fn malformed() -> Fault {
        Fault::general(ErrorType::HttpBadRequest)
    }

    /// The response with the fault.
    pub fn into_response(self) -> HttpResponse {
        let status = self.status();
        let mut error = vec![("type", Value::from(self.error_type.name()))];
        error.extend(self.message.map(|message| ("message", Value::from(message))));
        error.push(("traceback", Value::Null));
        if !self.findings.is_empty() {
            error.push(("findings", Value::list(self.findings)));
        }
        let body = Value::map([
            ("code", Value::from(i64::from(status.as_u16()))),
            ("title", reason(status).into()),
            ("explanation", explanation(status).into()),
            ("error", Value::map(error)),
        ]);
        let mut response = Response::json(status, &body).into_response();
        let retry_after = match status {
            StatusCode::TOO_MANY_REQUESTS => Some("1"),
            StatusCode::SERVICE_UNAVAILABLE => Some("5"),
            _ => None,
        };
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
        }
        response
    }
}

impl From<RequestError> for Fault {
    fn from(refusal: RequestError) -> Fault {
        let RequestError { error_type, message, findings } = refusal;
        Fault { error_type, message, findings }
    }
}

/// The phrase that goes with a status.
pub(crate) fn reason(status: StatusCode) -> &'static str {
    status.canonical_reason().unwrap_or("Unknown")
}

/// The response for an unknown path.
pub(crate) fn no_route(accept: &str) -> HttpResponse {
    let message = "The resource could not be found.<br /><br />\n\n\n";
    framework(StatusCode::NOT_FOUND, message, accept).into_response()
}

/// Whether a client accepts JSON.
pub(crate) fn wants_json(accept: &str) -> bool {
    accept.split(',').next().is_some_and(|first| first.trim().starts_with(JSON))
}
