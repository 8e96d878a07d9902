//! The identity service over HTTP: Keystone's API, version 3.

use super::headers::{reveal, secret};
use super::login::Login;
use kiln_template::Secret;
use reqwest::header::HeaderValue;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value as Json;
use std::time::Duration;

/// An identity service.
#[derive(Clone, Debug)]
pub struct IdentityClient {
    client: Client,
    /// The URL of its version 3, without a slash at the end.
    url: String,
    timeout: Duration,
}

/// A token that was issued, and its description.
#[derive(Clone, Debug)]
pub(super) struct IssuedToken {
    pub(super) token: Secret,
    pub(super) body: Json,
}

/// Why the identity service gave no answer that helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IdentityError {
    /// It does not accept the credentials: 401.
    Refused,
    /// It does not understand the request: 400.
    Malformed,
    /// It does not allow that: 403.
    Forbidden,
    /// It does not know that: 404.
    NotFound,
    /// It cannot be reached, or is not well.
    Unavailable(String),
}

/// How long a reply may take by default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longer answers are not read.
const MAX_REPLY_BYTES: usize = 16 << 20;

impl IdentityClient {
    /// The identity service at an address, with or without `/v3` at its end.
    pub fn new(client: Client, url: &str) -> IdentityClient {
        IdentityClient { client, url: String::new(), timeout: TIMEOUT }.at(url)
    }

    /// With another bound on how long an answer may take, reading it included.
    pub fn timeout(self, timeout: Duration) -> IdentityClient {
        IdentityClient { timeout, ..self }
    }

    /// Another identity service, over the same connections.
    pub(super) fn at(&self, url: &str) -> IdentityClient {
        let url = url.trim_end_matches('/');
        let url = if url.ends_with("/v3") { url.to_owned() } else { format!("{url}/v3") };
        IdentityClient { client: self.client.clone(), url, timeout: self.timeout }
    }

    /// Requests a token.
    pub(super) async fn login(&self, login: &Login) -> Result<IssuedToken, IdentityError> {
        let request = self.client.post(format!("{}/auth/tokens", self.url)).json(&login.request());
        issued(self.send(request).await?).await
    }

    /// Reads something with a token of ours; about a token, if a subject is given.
    pub(super) async fn get(
        &self,
        own: &Secret,
        path: &str,
        query: &[(&str, &str)],
        subject: Option<&Secret>,
    ) -> Result<Json, IdentityError> {
        let mut request = self.client.get(format!("{}{path}", self.url)).query(query);
        request = request.header("x-auth-token", sensitive(own)?);
        if let Some(subject) = subject {
            request = request.header("x-subject-token", sensitive(subject)?);
        }
        read(self.send(request).await?).await
    }

    /// Exchanges something, such as a signature, for a token of its user. The request is authenticated with a token of
    /// the service account.
    pub(super) async fn exchange(
        &self,
        own: &Secret,
        path: &str,
        body: &Json,
    ) -> Result<IssuedToken, IdentityError> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        let request = request.header("x-auth-token", sensitive(own)?);
        issued(self.send(request).await?).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, IdentityError> {
        let request = request.header("accept", "application/json").timeout(self.timeout);
        let response = request.send().await.map_err(unavailable)?;
        match response.status().as_u16() {
            200..300 => Ok(response),
            400 => Err(IdentityError::Malformed),
            401 => Err(IdentityError::Refused),
            403 => Err(IdentityError::Forbidden),
            404 => Err(IdentityError::NotFound),
            status => Err(IdentityError::Unavailable(format!("it answered {status}"))),
        }
    }
}

/// A secret as a header that is not shown in logs. A secret that cannot be a header counts as unknown, as it would at
/// the identity service.
fn sensitive(secret: &Secret) -> Result<HeaderValue, IdentityError> {
    let mut value = HeaderValue::from_str(reveal(secret)).map_err(|_| IdentityError::NotFound)?;
    value.set_sensitive(true);
    Ok(value)
}

async fn issued(response: Response) -> Result<IssuedToken, IdentityError> {
    let token = response.headers().get("x-subject-token").and_then(|value| value.to_str().ok());
    let Some(token) = token.map(secret) else {
        return Err(IdentityError::Unavailable("the reply to a login has no token".into()));
    };
    let body = read(response).await?;
    Ok(IssuedToken { token, body })
}

async fn read(mut response: Response) -> Result<Json, IdentityError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_REPLY_BYTES {
            return Err(IdentityError::Unavailable("the reply is too long".into()));
        }
    }
    serde_json::from_slice(&bytes)
        .map_err(|_| IdentityError::Unavailable("the reply is not JSON".into()))
}

/// The error, without any part of the request.
fn unavailable(error: reqwest::Error) -> IdentityError {
    let text = match () {
        () if error.is_timeout() => "the request timed out",
        () if error.is_connect() => "it cannot be reached",
        () => "the connection broke",
    };
    IdentityError::Unavailable(text.to_owned())
}
