//! The few requests to the identity service that the checks need.

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kiln_cloud::EntityRef;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::time::Duration;

/// The time that a service has to answer.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// The identity service.
pub(crate) struct IdentityService {
    client: Client,
    /// The root of its third version.
    root: String,
}

/// A token, and what the identity service said about it.
pub(crate) struct ServiceToken {
    pub(super) secret: String,
    /// The body of the response: `{"token": …}`.
    pub(super) body: Value,
    /// The clock of the identity service.
    pub(super) date: Option<Timestamp>,
}

/// Why a request failed.
pub(crate) enum RequestFailure {
    /// There was no response.
    Unreachable(String),
    /// The response was an error.
    Refused(u16, String),
}

impl IdentityService {
    pub(crate) fn new(client: Client, auth_url: &str) -> IdentityService {
        let root = auth_url.trim_end_matches('/').trim_end_matches("/v3");
        IdentityService { client, root: format!("{root}/v3") }
    }

    /// The root of its third version.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// The name of its newest version, such as `v3.14`.
    pub(super) async fn version(&self) -> Result<String, RequestFailure> {
        let (_, body) = self.send(self.client.get(&self.root)).await?;
        Ok(body.pointer("/version/id").and_then(Value::as_str).unwrap_or("unknown").to_owned())
    }

    /// Logs a user in, to a project or a domain.
    pub(crate) async fn log_in(
        &self,
        user: &EntityRef,
        password: &str,
        scope: Option<Value>,
    ) -> Result<ServiceToken, RequestFailure> {
        let mut user = user.json();
        user["password"] = password.into();
        let mut auth =
            json!({ "identity": { "methods": ["password"], "password": { "user": user } } });
        if let Some(scope) = scope {
            auth["scope"] = scope;
        }
        let request = self.client.post(format!("{}/auth/tokens", self.root));
        let (response, body) = self.send(request.json(&json!({ "auth": auth }))).await?;
        let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let parser = rfc2822::DateTimeParser::new().relaxed_weekday(true);
        let date = header("date").and_then(|text| parser.parse_timestamp(&text).ok());
        Ok(ServiceToken { secret: header("x-subject-token").unwrap_or_default(), body, date })
    }

    /// Reads something below the root of the version.
    pub(super) async fn get(
        &self,
        path: &str,
        token: &ServiceToken,
    ) -> Result<Value, RequestFailure> {
        let request = self.client.request(Method::GET, format!("{}{path}", self.root));
        Ok(self.send(request.header("X-Auth-Token", &token.secret)).await?.1)
    }

    async fn send(&self, request: RequestBuilder) -> Result<(Parts, Value), RequestFailure> {
        exchange(request).await
    }
}

/// The status and the headers of a response.
pub(super) type Parts = axum::http::Response<()>;

/// Sends a request, and reads the response as JSON.
pub(super) async fn exchange(request: RequestBuilder) -> Result<(Parts, Value), RequestFailure> {
    let unreachable = |error: reqwest::Error| RequestFailure::Unreachable(cause(&error));
    let response: Response = request.timeout(TIMEOUT).send().await.map_err(unreachable)?;
    let mut parts = Parts::new(());
    *parts.status_mut() = response.status();
    *parts.headers_mut() = response.headers().clone();
    let text = response.text().await.map_err(unreachable)?;
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    let status = parts.status().as_u16();
    if status >= 400 {
        let message = body.pointer("/error/message").and_then(Value::as_str).unwrap_or_default();
        return Err(RequestFailure::Refused(status, message.to_owned()));
    }
    Ok((parts, body))
}

/// The innermost cause of an error, which says the most.
fn cause(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

impl ServiceToken {
    /// The names of the roles.
    pub(crate) fn roles(&self) -> Vec<&str> {
        let roles = self.body.pointer("/token/roles").and_then(Value::as_array);
        roles.into_iter().flatten().filter_map(|role| role["name"].as_str()).collect()
    }

    /// The id of the project.
    pub(crate) fn project(&self) -> &str {
        self.body.pointer("/token/project/id").and_then(Value::as_str).unwrap_or_default()
    }

    /// The id of the user.
    pub(crate) fn user(&self) -> &str {
        self.body.pointer("/token/user/id").and_then(Value::as_str).unwrap_or_default()
    }
}

impl std::fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RequestFailure::Unreachable(why) => write!(f, "does not answer: {why}"),
            RequestFailure::Refused(status, message) if message.is_empty() => {
                write!(f, "answers HTTP {status}")
            }
            RequestFailure::Refused(status, message) => {
                write!(f, "answers HTTP {status}: {message}")
            }
        }
    }
}
