//! Who signed a request: identity services tell, one after the other if there are several.

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

/// Has an identity service examine a signature, with an account of Kiln's own.
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
                "Kiln's own account may not examine signatures: give it the role `service` or `admin`"
            );
            Err(SignatureError::Unavailable)
        }
        Err(error) => {
            tracing::warn!(?error, "a signature was not examined");
            Err(SignatureError::Unavailable)
        }
    }
}

/// Knows who signed a request by asking identity services in turn; whoever signs nothing is known by other
/// means.
pub struct SignatureAuth {
    others: Arc<dyn Authenticator>,
    clouds: Vec<(ServiceAccount, String)>,
}

impl SignatureAuth {
    /// With nobody to ask yet.
    pub fn beside(others: Arc<dyn Authenticator>) -> SignatureAuth {
        SignatureAuth { others, clouds: Vec::new() }
    }

    /// Asks one more identity service, after those before it.
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

    /// The first one that knows the key and the signature counts. Keys are drawn at random, and what is
    /// told of a request tells nobody how to sign another.
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
