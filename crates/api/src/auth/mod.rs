//! Authentication: from the headers of a request to a [`Caller`] or a rejection.
//!
//! Headers such as `X-User-Id` and `X-Roles` are not read at all: a caller is what the identity service says, and
//! nothing else. Tokens and passwords are kept as secrets, and caches know their hashes only.

mod auth_url;
mod cache;
mod custom;
mod headers;
mod identity;
mod keystone;
mod login;
mod noauth;
mod password;
mod rejection;
mod revocation;
mod service_account;
mod signature;
mod single_flight;
mod token;

pub use auth_url::AuthUrl;
pub use custom::{Backend, Custom};
pub use identity::IdentityClient;
pub use keystone::{Keystone, RevocationPoll, Settings};
pub use kiln_cloud::EntityRef;
pub use login::{AuthScope, Login};
pub use noauth::NoAuth;
pub use password::Password;
pub use rejection::{Format, Reason, Rejection};
pub use signature::SignatureAuth;

use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use kiln_engine::Time;
use serde_json::Value as Json;
use std::sync::Arc;

/// Authenticates requests.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// The caller of a request with these headers. The project of the path is for methods of authentication that need
    /// one; it is not compared with the caller's own here.
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection>;

    /// The caller of a signed request, which is described as the identity service wants it.
    async fn authenticate_signed(&self, _said: &Json) -> Result<Caller, SignatureError> {
        Err(SignatureError::Unsupported)
    }
}

/// Why the signature of a request is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// There is no such key.
    UnknownKey,
    /// The signature is wrong.
    Wrong,
    /// Signatures are not supported.
    Unsupported,
    /// The identity service is not available.
    Unavailable,
}

/// The clock; [`kiln_engine::now`] outside of tests.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;
