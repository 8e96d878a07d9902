//! Why operations end before their end, as users are told: what went wrong, in whose words, and what to do next.

use kiln_cloud::{Call, CallError, Reply};
use std::fmt;
use std::sync::Arc;

/// Why an operation ends before its end.
#[derive(Clone, Debug, PartialEq)]
pub enum OpError {
    /// It failed.
    Failed(Failure),
    /// The object cannot be changed as wanted: another must take its place.
    Replace,
}

/// What went wrong, as users are told.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The class of the error, such as `ResourceInError`.
    pub class: Arc<str>,
    /// What happened.
    pub message: String,
    /// Whether making the object anew may help.
    pub is_retryable: bool,
}

impl OpError {
    /// A failure of some class.
    pub fn failed(class: impl Into<Arc<str>>, message: impl Into<String>) -> OpError {
        let (class, message) = (class.into(), message.into());
        OpError::Failed(Failure { class, message, is_retryable: false })
    }

    /// The service says that the object is broken; another may do better.
    pub fn broken(message: impl Into<String>) -> OpError {
        let class = "ResourceInError".into();
        OpError::Failed(Failure { class, message: message.into(), is_retryable: true })
    }

    /// What a call showed is broken, or in a state that nobody knows.
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

    /// The service refused a call.
    pub fn refused(call: &Call, reply: &Reply) -> OpError {
        let said = reply.error_text().unwrap_or_else(|| format!("{call:?} was refused"));
        let mut message = format!("{} (HTTP {})", said.trim_end_matches('.'), reply.status);
        if let Some(id) = reply.request_id() {
            message.push_str(&format!(" (Request-ID: {id})"));
        }
        let (class, next) = verdict(reply.status, &said);
        message.push_str(&format!(". Next: {next}."));
        let is_retryable = reply.status == 409 && !is_quota(&said);
        OpError::Failed(Failure { class: class.into(), message, is_retryable })
    }

    /// The same, with something else to do next.
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

    /// Whether what was asked for is not there.
    pub fn is_not_found(&self) -> bool {
        matches!(self, OpError::Failed(failure) if &*failure.class == "NotFound")
    }

    /// Whether what was asked for does not go with something that is there.
    pub fn is_conflict(&self) -> bool {
        matches!(self, OpError::Failed(failure) if &*failure.class == "Conflict")
    }

    /// Whether what was asked for seems to be done already.
    pub fn is_already_done(&self) -> bool {
        let OpError::Failed(failure) = self else { return false };
        match &*failure.class {
            "Conflict" => failure.is_retryable,
            "BadRequest" => failure.message.contains("already"),
            _ => false,
        }
    }

    pub(super) fn unreached(call: &Call, error: &CallError) -> OpError {
        match error {
            CallError::Impossible(why) => OpError::failed("EndpointNotFound", why.clone()),
            error => OpError::failed(
                "ConnectFailure",
                format!("{call:?}: {error}. Next: try again when the service can be reached."),
            ),
        }
    }
}

/// What a refusal is called, and what to do next.
fn verdict(status: u16, said: &str) -> (&'static str, &'static str) {
    const QUOTA: &str = "ask for a higher quota, or remove something";
    match status {
        400 => ("BadRequest", "change what the template asks for, and update the stack"),
        401 => ("Unauthorized", "update the stack, so that it gets the rights of its user anew"),
        403 if is_quota(said) => ("Forbidden", QUOTA),
        403 => ("Forbidden", "ask for the role that this needs, or have somebody with it do it"),
        404 => ("NotFound", "look for what is missing, name another, or update the stack"),
        409 if is_quota(said) => ("Conflict", QUOTA),
        409 => ("Conflict", "see what it clashes with, and update the stack when that is over"),
        413 => ("OverLimit", QUOTA),
        429 => ("TooManyRequests", "try again later: the service is busy"),
        500..=599 => ("HTTPError", "try again; if it stays, its operator finds it by the id"),
        _ => ("HTTPError", "ask the operator of the service what it means"),
    }
}

/// Whether a service refuses because there would be too much of something.
pub(super) fn is_quota(said: &str) -> bool {
    let said = said.to_lowercase();
    said.contains("quota") || said.contains("limit exceeded")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.message)
    }
}
