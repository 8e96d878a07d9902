//! Faults in the form of AWS.

use super::render::{self, Format};
use crate::fault::Fault;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response as HttpResponse;
use hyper::ext::ReasonPhrase;
use kiln_engine::{AwsCode, RequestError};
use kiln_template::Value;

/// Why a request fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AwsFault {
    /// The kind of the fault.
    pub code: Code,
    /// The details.
    pub detail: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table below says what each one means")]
pub enum Code {
    AccessDenied,
    AlreadyExists,
    ApiNotImplemented,
    /// `InvalidAction` of a stack that is at work.
    Busy,
    ChangeSetNotFound,
    IncompleteSignature,
    InternalFailure,
    InvalidAction,
    InvalidChangeSetStatus,
    InvalidClientTokenId,
    InvalidFormat,
    InvalidNextToken,
    InvalidParameterCombination,
    InvalidParameterValue,
    InvalidQueryParameter,
    LimitExceeded,
    MalformedQueryString,
    MissingAction,
    MissingAuthenticationToken,
    MissingParameter,
    OptInRequired,
    RequestExpired,
    RequestLimitExceeded,
    ResourceNotFound,
    ServiceUnavailable,
    SignatureDoesNotMatch,
    Throttling,
    ValidationError,
}

impl Code {
    /// Its name, its status, and its message.
    #[rustfmt::skip]
    fn row(self) -> (&'static str, u16, &'static str) {
        match self {
            Code::AccessDenied => ("AccessDenied", 403, "User is not authorized to perform action"),
            Code::AlreadyExists => ("AlreadyExists", 400, "Resource with the name requested already exists"),
            Code::ApiNotImplemented => ("APINotImplemented", 500, "The requested action is not yet implemented"),
            Code::Busy => ("InvalidAction", 400, "Cannot perform action on stack while other actions are in progress"),
            Code::ChangeSetNotFound => ("ChangeSetNotFound", 404, "The change set could not be found"),
            Code::IncompleteSignature => ("IncompleteSignature", 400, "The request signature does not conform to AWS standards"),
            Code::InternalFailure => ("InternalFailure", 500, "The request processing has failed due to an internal error"),
            Code::InvalidAction => ("InvalidAction", 400, "The action or operation requested is invalid"),
            Code::InvalidChangeSetStatus => ("InvalidChangeSetStatus", 400, "The change set cannot be executed"),
            Code::InvalidClientTokenId => ("InvalidClientTokenId", 403, "The certificate or AWS Key ID provided does not exist"),
            Code::InvalidFormat => ("InvalidFormat", 400, "Data is not valid JSON"),
            Code::InvalidNextToken => ("InvalidNextToken", 400, "There is no page with this token"),
            Code::InvalidParameterCombination => ("InvalidParameterCombination", 400, "Incompatible parameters were used together"),
            Code::InvalidParameterValue => ("InvalidParameterValue", 400, "A bad or out-of-range value was supplied"),
            Code::InvalidQueryParameter => ("InvalidQueryParameter", 400, "AWS query string is malformed, does not adhere to AWS spec"),
            Code::LimitExceeded => ("LimitExceeded", 400, "There are as many as there may be"),
            Code::MalformedQueryString => ("MalformedQueryString", 404, "The query string is malformed"),
            Code::MissingAction => ("MissingAction", 400, "The request is missing an action or operation parameter"),
            Code::MissingAuthenticationToken => ("MissingAuthenticationToken", 403, "Does not contain a valid AWS Access Key or certificate"),
            Code::MissingParameter => ("MissingParameter", 400, "A mandatory input parameter is missing"),
            Code::OptInRequired => ("OptInRequired", 403, "The AWS Access Key ID needs a subscription for the service"),
            Code::RequestExpired => ("RequestExpired", 400, "Request expired or more than 15mins in the future"),
            Code::RequestLimitExceeded => ("RequestLimitExceeded", 400, "Payload exceeds maximum allowed size"),
            Code::ResourceNotFound => ("ResourceNotFound", 404, "The resource could not be found"),
            Code::ServiceUnavailable => ("ServiceUnavailable", 503, "Service temporarily unavailable"),
            Code::SignatureDoesNotMatch => ("SignatureDoesNotMatch", 403, "The request signature we calculated does not match the signature you provided"),
            Code::Throttling => ("Throttling", 400, "Request was denied due to request throttling"),
            Code::ValidationError => ("ValidationError", 400, "The request is not valid"),
        }
    }
}

impl AwsFault {
    /// A fault without details.
    pub fn bare(code: Code) -> AwsFault {
        AwsFault { code, detail: None }
    }

    /// A fault with details.
    pub fn new(code: Code, detail: impl Into<String>) -> AwsFault {
        AwsFault { code, detail: Some(detail.into()) }
    }

    /// A required parameter is missing.
    pub fn missing(name: &str) -> AwsFault {
        AwsFault::new(Code::MissingParameter, name)
    }

    /// A parameter is invalid.
    pub fn bad(detail: impl Into<String>) -> AwsFault {
        AwsFault::new(Code::InvalidParameterValue, detail)
    }

    /// Whether the request is not signed at all.
    pub(super) fn is_unsigned(&self) -> bool {
        matches!(self.code, Code::IncompleteSignature | Code::MissingAuthenticationToken)
    }

    /// Whether it is an internal error.
    pub(super) fn is_ours(&self) -> bool {
        self.code.row().1 >= 500
    }

    /// The response with the fault.
    pub(crate) fn into_response(self, format: Format) -> HttpResponse {
        let (code, status, text) = self.code.row();
        let kind = if status < 500 { "Sender" } else { "Server" };
        let message = match self.detail {
            Some(detail) => format!("{text}:{detail}"),
            None => text.to_owned(),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if let Format::Cbor | Format::TypedJson = format {
            let said = [("__type", code), ("message", message.as_str())];
            let said = Value::map(said.map(|(name, text)| (name, Value::from(text))));
            let mut response = render::rpc_response(status, &said, format);
            // Newer clients read the name of the fault in the query protocol from this header.
            if let Ok(error) = HeaderValue::try_from(format!("{code};{kind}")) {
                response.headers_mut().insert("x-amzn-query-error", error);
            }
            return response;
        }
        let error = [("Type", kind), ("Code", code), ("Message", message.as_str())];
        let error = Value::map(error.map(|(name, text)| (name, Value::from(text))));
        let body = Value::map([("ErrorResponse", Value::map([("Error", error)]))]);
        let mut response = render::document(status, &body, format);
        // Clients show it.
        if let Ok(reason) = ReasonPhrase::try_from(code.as_bytes()) {
            response.extensions_mut().insert(reason);
        }
        response
    }
}

impl From<AwsCode> for Code {
    fn from(code: AwsCode) -> Code {
        match code {
            AwsCode::AccessDenied => Code::AccessDenied,
            AwsCode::AlreadyExists => Code::AlreadyExists,
            AwsCode::ActionInProgress => Code::Busy,
            AwsCode::InternalFailure => Code::InternalFailure,
            AwsCode::InvalidParameterValue => Code::InvalidParameterValue,
            AwsCode::RequestLimitExceeded => Code::RequestLimitExceeded,
            AwsCode::ServiceUnavailable => Code::ServiceUnavailable,
        }
    }
}

impl From<Fault> for AwsFault {
    fn from(fault: Fault) -> AwsFault {
        AwsFault { code: fault.error_type.aws().into(), detail: fault.message }
    }
}

impl From<RequestError> for AwsFault {
    fn from(refusal: RequestError) -> AwsFault {
        Fault::from(refusal).into()
    }
}
