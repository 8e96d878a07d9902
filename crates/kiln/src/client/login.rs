//! Logging in: from credentials to a token and the endpoint of its catalogue.

use super::answer::{refused_login, without_secrets};
use super::auth_method::{AuthMethod, Credentials, KeystoneLogin, by_token};
use super::error::{ClientError, ClientErrorKind, Result};
use super::secret::Secret;
use super::session::{HeatSession, bytes, endpoint_of};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

impl HeatSession {
    /// Gets a token if one is needed; returns the endpoint.
    pub(super) async fn log_in(&self) -> Result<String> {
        let login = match &self.settings.auth_method {
            AuthMethod::Direct { endpoint, headers } => {
                *self.headers.borrow_mut() = self.headers_with(headers)?;
                return Ok(endpoint.clone());
            }
            AuthMethod::Login(login) => login,
        };
        let (token, about) = self.token(login).await?;
        let endpoint = match &login.endpoint {
            Some(endpoint) => endpoint.clone(),
            None => endpoint_of(&about, &self.settings.choice)?,
        };
        *self.token.borrow_mut() = about;
        let mut headers = vec![("x-auth-token", token)];
        if let Some(bearer) = &login.bearer {
            let granted = bearer.token(self).await?;
            headers.push(("authorization", bearer_header(&granted)));
        }
        *self.headers.borrow_mut() = self.headers_with(&headers)?;
        Ok(endpoint)
    }

    /// A token, and its description by the identity service.
    async fn token(&self, login: &KeystoneLogin) -> Result<(Secret, Value)> {
        let tokens = format!("{}/auth/tokens", login.url);
        match &login.credentials {
            Credentials::Keystone(identity) => {
                self.scoped(&tokens, identity.expose(), login.scope.as_ref()).await
            }
            Credentials::Federated(path, grant) => {
                let granted = grant.token(self).await?;
                let url = format!("{}{path}", login.url);
                let request =
                    self.http.post(&url).header("authorization", bearer_header(&granted).expose());
                let (token, about) = self.exchange(&Method::POST, &url, request).await?;
                match &login.scope {
                    None => Ok((token, about)),
                    scope => self.scoped(&tokens, &by_token(&token), scope.as_ref()).await,
                }
            }
            Credentials::OAuth(grant) => {
                let granted = grant.token(self).await?;
                let request = self.http.get(&tokens);
                let request = request
                    .header("x-auth-token", granted.expose())
                    .header("x-subject-token", granted.expose());
                let response = self.timed(&Method::GET, &tokens, request).await?;
                let (_, about) = read_token(response, &tokens, Some(granted.clone())).await?;
                Ok((granted, about))
            }
        }
    }

    /// A token for a scope.
    async fn scoped(
        &self,
        url: &str,
        identity: &Value,
        scope: Option<&Value>,
    ) -> Result<(Secret, Value)> {
        let mut auth = json!({ "identity": identity });
        if let Some(scope) = scope {
            auth["scope"] = scope.clone();
        }
        let request = self.http.post(url).json(&json!({ "auth": auth }));
        self.exchange(&Method::POST, url, request).await
    }

    async fn exchange(
        &self,
        method: &Method,
        url: &str,
        request: RequestBuilder,
    ) -> Result<(Secret, Value)> {
        let request = request.header("accept", "application/json");
        read_token(self.timed(method, url, request).await?, url, None).await
    }

    // --- other servers ---

    /// Fetches a document that needs no authentication.
    pub(super) async fn document(&self, url: &str) -> Result<Value> {
        let response = self.timed(&Method::GET, url, self.http.get(url)).await?;
        let status = response.status();
        let document = serde_json::from_slice(&bytes(response).await?).ok();
        document.filter(|_| status.is_success()).ok_or_else(|| {
            let text =
                format!("{} has no discovery document (HTTP {status}).", without_secrets(url));
            let next = "Check OS_DISCOVERY_ENDPOINT: it ends in /.well-known/openid-configuration.";
            ClientError::new(text).next(next).of(ClientErrorKind::Refused(status.as_u16()))
        })
    }

    /// Sends a form, as OAuth servers want it; returns status and response.
    pub(super) async fn form(
        &self,
        url: &str,
        form: &[(&str, Secret)],
        basic: Option<(&str, &Secret)>,
    ) -> Result<(u16, Value)> {
        let pairs: Vec<(&str, &str)> =
            form.iter().map(|(name, value)| (*name, value.expose())).collect();
        let mut request = self.http.post(url).form(&pairs).header("accept", "application/json");
        if let Some((id, secret)) = basic {
            request = request.basic_auth(id, Some(secret.expose()));
        }
        let response = self.timed(&Method::POST, url, request).await?;
        let status = response.status().as_u16();
        Ok((status, serde_json::from_slice(&bytes(response).await?).unwrap_or_default()))
    }
}

/// The value of an `Authorization` header with a bearer token.
fn bearer_header(token: &Secret) -> Secret {
    Secret::from(&*format!("Bearer {}", token.expose()))
}

/// The token in a response of the identity service, or the one that was sent.
async fn read_token(
    response: Response,
    url: &str,
    known: Option<Secret>,
) -> Result<(Secret, Value)> {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let token = known.or_else(|| header("x-subject-token").map(Secret::from));
    let id = header("x-openstack-request-id").map(str::to_owned);
    let status = response.status();
    let body: Value = serde_json::from_slice(&bytes(response).await?).unwrap_or_default();
    match token {
        Some(token) if status.is_success() => Ok((token, body["token"].clone())),
        _ => Err(refused_login(status, &body, id, url)),
    }
}
