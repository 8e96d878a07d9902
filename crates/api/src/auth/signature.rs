//! Authentication of signed requests by identity services, in turn if there are several.

use super::identity::{IdentityClient, IdentityError};
use super::login::Login;
use super::service_account::ServiceAccount;
use super::token::Token;
use super::{Authenticator, Clock, Rejection, SignatureError};
use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use serde_json::Value as Json;
use std::sync::Arc;

/// Has an identity service verify a signature, with a service account.
pub(super) async fn verify_signature(
    service: &ServiceAccount,
    auth_url: &str,
    signed_request: &Json,
) -> Result<Caller, SignatureError> {
    match service.exchange_token("/ec2tokens", signed_request).await {
        Ok(issued) => match Token::read(&issued.body) {
            Some(token) => Ok(Caller {
                token: Some(issued.token),
                auth_url: auth_url.to_owned(),
                ..token.caller
            }),
            None => Err(SignatureError::Unavailable),
        },
        Err(IdentityError::NotFound) => Err(SignatureError::UnknownKey),
        Err(IdentityError::Refused | IdentityError::Malformed) => Err(SignatureError::Wrong),
        Err(IdentityError::Forbidden) => {
            tracing::error!(
                "the service account may not verify signatures: give it the role `service` or `admin`"
            );
            Err(SignatureError::Unavailable)
        }
        Err(error) => {
            tracing::warn!(?error, "could not verify a signature");
            Err(SignatureError::Unavailable)
        }
    }
}

/// Authenticates signed requests by identity services in turn, and all others by another authenticator.
pub struct SignatureAuth {
    others: Arc<dyn Authenticator>,
    clouds: Vec<(ServiceAccount, String)>,
}

impl SignatureAuth {
    /// Without an identity service yet.
    pub fn beside(others: Arc<dyn Authenticator>) -> SignatureAuth {
        SignatureAuth { others, clouds: Vec::new() }
    }

    /// Adds an identity service, after the others.
    pub fn asking(
        mut self,
        identity: IdentityClient,
        login: Login,
        url: &str,
        clock: Clock,
    ) -> SignatureAuth {
        self.clouds.push((ServiceAccount::new(identity, login, clock), url.to_owned()));
        self
    }
}

#[async_trait]
impl Authenticator for SignatureAuth {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Rejection> {
        self.others.authenticate(headers, project_in_path).await
    }

    /// The first identity service that knows the key and accepts the signature decides. Keys are random, and a signed
    /// request does not reveal how to sign another.
    async fn authenticate_signed(&self, signed_request: &Json) -> Result<Caller, SignatureError> {
        let mut last = SignatureError::Unsupported;
        for (service, auth_url) in &self.clouds {
            match verify_signature(service, auth_url, signed_request).await {
                Ok(caller) => return Ok(caller),
                Err(why) => last = why,
            }
        }
        Err(last)
    }
}
