//! Who signed a request: identity services tell, one after the other if there are several.

use super::identity::{Failure, Identity};
use super::login::Login;
use super::service::Service;
use super::token::Token;
use super::{Authenticator, Clock, Refusal, Unsigned};
use crate::caller::Caller;
use async_trait::async_trait;
use axum::http::HeaderMap;
use serde_json::Value as Json;
use std::sync::Arc;

/// Has an identity service examine a signature, with an account of Kiln's own.
pub(super) async fn examined(
    service: &Service,
    auth_url: &str,
    said: &Json,
) -> Result<Caller, Unsigned> {
    match service.examine("/ec2tokens", said).await {
        Ok(granted) => match Token::read(&granted.body) {
            Some(token) => Ok(Caller {
                token: Some(granted.token),
                auth_url: auth_url.to_owned(),
                ..token.caller
            }),
            None => Err(Unsigned::Unavailable),
        },
        Err(Failure::NotFound) => Err(Unsigned::UnknownKey),
        Err(Failure::Refused | Failure::Malformed) => Err(Unsigned::Wrong),
        Err(Failure::Forbidden) => {
            tracing::error!(
                "Kiln's own account may not examine signatures: give it the role `service` or `admin`"
            );
            Err(Unsigned::Unavailable)
        }
        Err(failure) => {
            tracing::warn!(?failure, "a signature was not examined");
            Err(Unsigned::Unavailable)
        }
    }
}

/// Knows who signed a request by asking identity services in turn; whoever signs nothing is known by other
/// means.
pub struct Signed {
    others: Arc<dyn Authenticator>,
    clouds: Vec<(Service, String)>,
}

impl Signed {
    /// With nobody to ask yet.
    pub fn beside(others: Arc<dyn Authenticator>) -> Signed {
        Signed { others, clouds: Vec::new() }
    }

    /// Asks one more identity service, after those before it.
    pub fn asking(mut self, identity: Identity, login: Login, url: &str, clock: Clock) -> Signed {
        self.clouds.push((Service::new(identity, login, clock), url.to_owned()));
        self
    }
}

#[async_trait]
impl Authenticator for Signed {
    async fn authenticate(
        &self,
        headers: &HeaderMap,
        project_in_path: Option<&str>,
    ) -> Result<Caller, Refusal> {
        self.others.authenticate(headers, project_in_path).await
    }

    /// The first one that knows the key and the signature counts. Keys are drawn at random, and what is
    /// told of a request tells nobody how to sign another.
    async fn authenticate_signed(&self, said: &Json) -> Result<Caller, Unsigned> {
        let mut last = Unsigned::Unsupported;
        for (service, auth_url) in &self.clouds {
            match examined(service, auth_url, said).await {
                Ok(caller) => return Ok(caller),
                Err(why) => last = why,
            }
        }
        Err(last)
    }
}
