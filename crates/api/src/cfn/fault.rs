//! What goes wrong, as clients of the CloudFormation API are told.

use crate::answer::Answer;
use crate::fault::Fault;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use kiln_engine::service::Refusal;
use kiln_template::Value;

/// Why a request has no other answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CfnFault {
    code: &'static str,
    detail: Option<String>,
}

/// Every code: its status, and what it says.
const CODES: [(&str, u16, &str); 13] = [
    ("AccessDenied", 403, "User is not authorized to perform action"),
    ("AlreadyExists", 400, "Resource with the name requested already exists"),
    ("IncompleteSignature", 400, "The request signature does not conform to AWS standards"),
    ("InternalFailure", 500, "The request processing has failed due to an internal error"),
    ("InvalidAction", 400, "The action or operation requested is invalid"),
    ("InvalidClientTokenId", 403, "The certificate or AWS Key ID provided does not exist"),
    ("InvalidParameterValue", 400, "A bad or out-of-range value was supplied"),
    ("MissingAuthenticationToken", 403, "Does not contain a valid AWS Access Key or certificate"),
    ("MissingParameter", 400, "A mandatory input parameter is missing"),
    ("RequestLimitExceeded", 400, "Payload exceeds maximum allowed size"),
    ("ServiceUnavailable", 503, "Service temporarily unavailable"),
    (
        "SignatureDoesNotMatch",
        403,
        "The request signature we calculated does not match the signature you provided",
    ),
    ("Throttling", 400, "Request was denied due to request throttling"),
];

impl CfnFault {
    /// A fault that says no more than its code.
    pub(super) fn bare(code: &'static str) -> CfnFault {
        CfnFault { code, detail: None }
    }

    /// A fault with more to say.
    pub(super) fn new(code: &'static str, detail: impl Into<String>) -> CfnFault {
        CfnFault { code, detail: Some(detail.into()) }
    }

    /// The answer that tells it.
    pub(super) fn into_response(self, is_json: bool) -> Response {
        let known = CODES.iter().find(|(code, ..)| *code == self.code);
        let (_, status, text) = known.copied().unwrap_or(CODES[3]);
        let kind = if status < 500 { "Sender" } else { "Server" };
        let message = match self.detail {
            Some(detail) => format!("{text}:{detail}"),
            None => text.to_owned(),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if is_json {
            let error = [("Type", kind), ("Code", self.code), ("Message", message.as_str())];
            let error = Value::map(error.map(|(name, text)| (name, Value::from(text))));
            let body = Value::map([("ErrorResponse", Value::map([("Error", error)]))]);
            return Answer::json(status, &body).into_response();
        }
        let body = format!(
            "<ErrorResponse><Error><Type>{kind}</Type><Code>{}</Code><Message>{}</Message></Error>\
             </ErrorResponse>",
            self.code,
            escape(&message)
        );
        let mut response = Answer::of(XML, Body::from(body)).into_response();
        *response.status_mut() = status;
        response
    }
}

/// The content type of answers in XML.
pub(super) const XML: &str = "application/xml; charset=UTF-8";

/// A text as part of a document in XML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            char => escaped.push(char),
        }
    }
    escaped
}

impl From<Fault> for CfnFault {
    fn from(fault: Fault) -> CfnFault {
        let code = match fault.kind.as_str() {
            "Forbidden" | "HTTPForbidden" | "NotAuthorized" => "AccessDenied",
            "StackExists" => "AlreadyExists",
            "ActionInProgress" => "InvalidAction",
            "RequestLimitExceeded" => "RequestLimitExceeded",
            "StoreUnavailable" | "ServiceUnavailable" => "ServiceUnavailable",
            _ if fault.status.is_client_error() => "InvalidParameterValue",
            _ => "InternalFailure",
        };
        CfnFault { code, detail: fault.message }
    }
}

impl From<Refusal> for CfnFault {
    fn from(refusal: Refusal) -> CfnFault {
        Fault::from(refusal).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted() {
        assert!(CODES.is_sorted_by_key(|row| row.0));
        assert_eq!(CODES[3].0, "InternalFailure");
        assert_eq!(escape("a<b & c>"), "a&lt;b &amp; c&gt;");
    }
}
