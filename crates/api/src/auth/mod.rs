//! Who asks: from the headers of a request to a [`Caller`], or a refusal.
//!
//! What a client says of itself (`X-User-Id`, `X-Roles`, …) is not read at all: a caller is made of what the
//! identity service said, of nothing else. Tokens and passwords are kept as secrets, and caches know them by
//! their hashes only.

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
pub use login::{AuthScope, EntityRef, Login};
pub use noauth::NoAuth;
pub use password::Password;
pub use rejection::{Format, Reason, Rejection};
pub use signature::SignatureAuth;

use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use kiln_engine::time::Time;
use serde_json::Value as Json;
use std::sync::Arc;

/// Finds out who asks.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Who sent these headers, if they may be believed. The project in the address is for ways to
    /// authenticate that need one; that it is the caller's own is not checked here.
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection>;

    /// Who signed a request, which is described as the identity service wants it.
    async fn authenticate_signed(&self, _said: &Json) -> Result<Caller, SignatureError> {
        Err(SignatureError::Unsupported)
    }
}

/// Why it is not known who signed a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureError {
    /// There is no such key.
    UnknownKey,
    /// The signature is not good.
    Wrong,
    /// Nobody here examines signatures.
    Unsupported,
    /// The identity service cannot be asked.
    Unavailable,
}

/// Tells what time it is; [`kiln_engine::runtime::now`] outside of tests.
pub type Clock = Arc<dyn Fn() -> Time + Send + Sync>;
