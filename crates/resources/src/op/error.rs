//! The errors of operations, as users see them: what went wrong in the service's words, and what to do next.

use super::{FailureClass, rejections};
use kiln_cloud::{Call, CallError, InvalidId, Reply};
use std::fmt;

/// The reason why an operation stops early.
#[derive(Clone, Debug, PartialEq)]
pub enum OpError {
    /// It failed.
    Failed(Failure),
    /// The object cannot be changed in place and must be replaced.
    Replace,
}

/// A failure, as users see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The class of the error, such as `ResourceInError`.
    pub class: FailureClass,
    /// The message.
    pub message: String,
    /// Whether a new object may succeed.
    pub is_retryable: bool,
    /// The HTTP status, if a service rejected a call. It says what the failure means where the class does not, because
    /// the client libraries of some services have one class for several statuses.
    pub status: Option<u16>,
}

impl OpError {
    /// A failure with a class and a message.
    pub fn failed(class: FailureClass, message: impl Into<String>) -> OpError {
        OpError::Failed(Failure {
            class,
            message: message.into(),
            is_retryable: false,
            status: None,
        })
    }

    /// A failure of the object itself, according to the service; a new object may succeed.
    pub fn broken(message: impl Into<String>) -> OpError {
        let class = FailureClass::ResourceInError;
        OpError::Failed(Failure {
            class,
            message: message.into(),
            is_retryable: true,
            status: None,
        })
    }

    /// Adds the request id of the reply, and where the object is found, to the failure of an object.
    pub(super) fn shown(self, call: &Call, reply: &Reply) -> OpError {
        let OpError::Failed(mut failure) = self else { return self };
        if let Some(id) = reply.request_id() {
            failure.message.push_str(&format!(" (Request-ID: {id})"));
        }
        let (service, path) = (call.request.service.project(), &call.request.path);
        OpError::Failed(failure).advise(&format!(
            "find the cause in what {service} shows of {path}, then update or delete the stack"
        ))
    }

    /// The failure of a call that the service rejected.
    pub fn refused(call: &Call, reply: &Reply) -> OpError {
        let said = reply.error_text().unwrap_or_else(|| format!("{call:?} was refused"));
        let (class, next) = verdict(reply.status, &said);
        let (class, mut message) =
            rejections::of_service(call.request.service, reply, &said, class);
        message.truncate(message.trim_end_matches('.').len());
        message.push_str(&format!(". Next: {next}."));
        let is_retryable = reply.status == 409 && !is_quota(&said);
        OpError::Failed(Failure { class, message, is_retryable, status: Some(reply.status) })
    }

    /// Whether it is a failure of a class, or a rejection with the status of the class.
    fn is_of(&self, class: &FailureClass) -> bool {
        matches!(self, OpError::Failed(failure) if failure.meaning() == *class)
    }

    /// The same error with another advice.
    pub(crate) fn advise(self, next: &str) -> OpError {
        match self {
            OpError::Failed(mut failure) => {
                let end = failure.message.rfind(". Next: ").unwrap_or(failure.message.len());
                let told = failure.message[..end].trim_end_matches('.').len();
                failure.message.truncate(told);
                failure.message.push_str(&format!(". Next: {next}."));
                OpError::Failed(failure)
            }
            other => other,
        }
    }

    /// Whether the object of a call was not found.
    pub fn is_not_found(&self) -> bool {
        self.is_of(&FailureClass::NotFound)
    }

    /// Whether the service forbids a call.
    pub fn is_forbidden(&self) -> bool {
        self.is_of(&FailureClass::Forbidden)
    }

    /// Whether a call conflicts with an existing object.
    pub fn is_conflict(&self) -> bool {
        self.is_of(&FailureClass::Conflict)
    }

    /// Whether the effect of a call seems to exist already.
    pub fn is_already_done(&self) -> bool {
        let OpError::Failed(failure) = self else { return false };
        match failure.meaning() {
            FailureClass::Conflict => failure.is_retryable,
            FailureClass::BadRequest => failure.message.contains("already"),
            _ => false,
        }
    }

    pub(super) fn unreached(call: &Call, error: &CallError) -> OpError {
        match error {
            CallError::Impossible(why) => {
                OpError::failed(FailureClass::EndpointNotFound, why.clone())
            }
            error => OpError::failed(
                FailureClass::ConnectFailure,
                format!("{call:?}: {error}. Next: try again when the service can be reached."),
            ),
        }
    }
}

/// A call whose path would not be that of one object is not made.
impl From<InvalidId> for OpError {
    fn from(error: InvalidId) -> OpError {
        OpError::failed(FailureClass::ValueError, error.to_string())
    }
}

impl Failure {
    /// The class of its status, if a service rejected a call.
    fn meaning(&self) -> FailureClass {
        self.status.map_or_else(|| self.class.clone(), |status| verdict(status, "").0)
    }
}

/// The message of a rejection by any service, in the form of most of Heat's clients.
pub fn rejection(reply: &Reply) -> String {
    rejections::usual_message(&reply.error_text().unwrap_or_default(), reply)
}

/// The class of a rejection, and what to do next.
fn verdict(status: u16, said: &str) -> (FailureClass, &'static str) {
    const QUOTA: &str = "ask for a higher quota, or remove something";
    use FailureClass::{
        BadRequest, Conflict, Forbidden, HttpError, NotFound, OverLimit, TooManyRequests,
        Unauthorized,
    };
    match status {
        400 => (BadRequest, "change what the template asks for, and update the stack"),
        401 => (Unauthorized, "update the stack, so that it gets the rights of its user anew"),
        403 if is_quota(said) => (Forbidden, QUOTA),
        403 => (Forbidden, "ask for the role that this needs, or ask a user who has it"),
        404 => (NotFound, "look for what is missing, name another, or update the stack"),
        409 if is_quota(said) => (Conflict, QUOTA),
        409 => (Conflict, "see what it clashes with, and update the stack when that is over"),
        413 => (OverLimit, QUOTA),
        429 => (TooManyRequests, "try again later: the service is busy"),
        500..=599 => (HttpError, "try again; if it stays, its operator finds it by the id"),
        _ => (HttpError, "ask the operator of the service what it means"),
    }
}

/// Whether a service rejects a call because of a quota.
pub(super) fn is_quota(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("quota") || said.contains("limit exceeded")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}
