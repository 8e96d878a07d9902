//! The URL of the identity service: the operator's, or the client's if the operator trusts it.

use super::headers::header;
use super::rejection::{Reason, Rejection};
use axum::http::HeaderMap;

/// The URLs of the identity service that are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuthUrl {
    /// The operator's own.
    pub configured: String,
    /// Whether clients choose among several clouds, and must.
    pub multi_cloud: bool,
    /// The identity services that they may choose.
    pub allowed: Vec<String>,
}

impl AuthUrl {
    /// A single identity service, whatever clients say.
    pub fn fixed(url: impl Into<String>) -> AuthUrl {
        AuthUrl { configured: url.into(), ..AuthUrl::default() }
    }

    /// The one to use for a request.
    pub fn choose<'a>(&'a self, headers: &'a HeaderMap) -> Result<&'a str, Rejection> {
        if !self.multi_cloud {
            return Ok(&self.configured);
        }
        let Some(wanted) = header(headers, "x-auth-url") else {
            return Err(Rejection::new(Reason::AuthUrlMissing, headers));
        };
        if self.allowed.iter().any(|allowed| allowed == wanted) {
            Ok(wanted)
        } else {
            Err(Rejection::new(Reason::AuthUrlNotAllowed(wanted.to_owned()), headers))
        }
    }
}
