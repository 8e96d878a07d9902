//! OAuth 2.0 and OpenID Connect tokens.
//!
//! Such a token is sent to the identity service for a login, or along with every request.

use super::answer::without_secrets;
use super::auth_method::{Getter, missing};
use super::error::{ClientError, ClientErrorKind, Result};
use super::secret::Secret;
use super::session::HeatSession;
use serde_json::Value;
use std::time::Duration;

/// The default scope.
const SCOPE: &str = "openid profile";

/// The grant type of the device flow.
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The source of an OAuth token.
#[derive(Debug)]
pub(crate) enum OAuthGrant {
    /// The user supplied the token.
    Given(Secret),
    /// The token is requested from a server.
    Asked(Box<TokenRequest>),
}

/// A token request.
#[derive(Debug)]
pub(crate) struct TokenRequest {
    endpoint: TokenEndpoint,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    form: Vec<(&'static str, Secret)>,
    /// The device flow, with the device authorization endpoint if it was configured.
    device: Option<Option<String>>,
    /// The member of the response that contains the token.
    member: String,
}

/// The address of a token endpoint.
#[derive(Debug)]
enum TokenEndpoint {
    Known(String),
    /// The endpoint is in the discovery document at this URL.
    Told(String),
}

impl OAuthGrant {
    /// The token of an OpenID Connect method; `None` for other methods.
    pub(crate) fn of_provider(method: &str, get: &Getter<'_>) -> Result<Option<OAuthGrant>> {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let secret = |name: &str| needed(name).map(|value| Secret::from(&*value));
        let scope = get("openid_scope").unwrap_or_else(|| SCOPE.into());
        let scope = ("scope", Secret::from(&*scope));
        let mut device = None;
        let form = match method {
            "v3oidcaccesstoken" => return Ok(Some(OAuthGrant::Given(secret("access_token")?))),
            "v3oidcpassword" => vec![
                ("grant_type", "password".into()),
                ("username", secret("username")?),
                ("password", secret("password")?),
                scope,
            ],
            "v3oidcclientcredentials" => vec![("grant_type", "client_credentials".into()), scope],
            "v3oidcauthcode" => {
                let code = get("code").or_else(|| get("authorization_code"));
                let code = code.ok_or_else(|| missing("authorization_code"))?;
                vec![
                    ("grant_type", "authorization_code".into()),
                    ("redirect_uri", secret("redirect_uri")?),
                    ("code", Secret::from(&*code)),
                ]
            }
            "v3oidcdeviceauthz" => {
                device = Some(get("device_authorization_endpoint"));
                vec![("grant_type", DEVICE.into()), scope]
            }
            _ => return Ok(None),
        };
        let known = get("access_token_endpoint").map(TokenEndpoint::Known);
        let endpoint = known.or_else(|| get("discovery_endpoint").map(TokenEndpoint::Told));
        let endpoint = endpoint.ok_or_else(|| missing("discovery_endpoint"))?;
        let client_id = get("client_id").ok_or_else(|| missing("client_id"))?;
        Ok(Some(OAuthGrant::Asked(Box::new(TokenRequest {
            endpoint,
            client_id: Some(client_id),
            client_secret: get("client_secret").map(|secret| Secret::from(&*secret)),
            form,
            device,
            member: get("access_token_type").unwrap_or_else(|| "access_token".into()),
        }))))
    }

    /// The token of the client credentials grant of OAuth 2.0, for an id and a secret, or for the client
    /// certificate.
    pub(crate) fn of_client(get: &Getter<'_>, has_secret: bool) -> Result<OAuthGrant> {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let client_secret = match has_secret {
            true => Some(Secret::from(&*needed("oauth2_client_secret")?)),
            false => None,
        };
        Ok(OAuthGrant::Asked(Box::new(TokenRequest {
            endpoint: TokenEndpoint::Known(needed("oauth2_endpoint")?),
            client_id: Some(needed("oauth2_client_id")?),
            client_secret,
            form: vec![("grant_type", "client_credentials".into())],
            device: None,
            member: "access_token".into(),
        })))
    }

    /// Gets the token.
    pub(crate) async fn token(&self, session: &HeatSession) -> Result<Secret> {
        match self {
            OAuthGrant::Given(token) => Ok(token.clone()),
            OAuthGrant::Asked(request) => request.token(session).await,
        }
    }
}

impl TokenRequest {
    async fn token(&self, session: &HeatSession) -> Result<Secret> {
        let document = match &self.endpoint {
            TokenEndpoint::Told(url) => session.document(url).await?,
            TokenEndpoint::Known(_) => Value::Null,
        };
        let url = match &self.endpoint {
            TokenEndpoint::Known(url) => url.clone(),
            TokenEndpoint::Told(url) => member(&document, "token_endpoint", url)?,
        };
        let form: Vec<(&str, Secret)> = self.form.clone();
        let answer = match &self.device {
            None => self.ask(session, &url, &form).await?,
            Some(known) => {
                let place = match known {
                    Some(place) => place.clone(),
                    None => member(&document, "device_authorization_endpoint", &url)?,
                };
                self.agreed(session, &place, &url, form).await?
            }
        };
        member(&answer, &self.member, &url).map(|token| Secret::from(&*token))
    }

    /// Sends a token request; an error response becomes a problem.
    async fn ask(
        &self,
        session: &HeatSession,
        url: &str,
        form: &[(&str, Secret)],
    ) -> Result<Value> {
        let (status, answer) = self.send(session, url, form).await?;
        if (200..300).contains(&status) { Ok(answer) } else { Err(refused(url, status, &answer)) }
    }

    async fn send(
        &self,
        session: &HeatSession,
        url: &str,
        form: &[(&str, Secret)],
    ) -> Result<(u16, Value)> {
        let mut form = form.to_vec();
        let basic = self.client_id.as_ref().zip(self.client_secret.as_ref());
        if let (None, Some(id)) = (basic, &self.client_id) {
            form.push(("client_id", Secret::from(&**id)));
        }
        session.form(url, &form, basic.map(|(id, secret)| (&**id, secret))).await
    }

    /// Runs the device flow: waits until the user has agreed in a browser.
    async fn agreed(
        &self,
        session: &HeatSession,
        place: &str,
        url: &str,
        mut form: Vec<(&str, Secret)>,
    ) -> Result<Value> {
        let wanted: Vec<(&str, Secret)> =
            form.iter().filter(|(name, _)| *name == "scope").cloned().collect();
        let told = self.ask(session, place, &wanted).await?;
        let complete = told["verification_uri_complete"].as_str();
        let where_to = complete.map(|it| format!("Open {it} in a browser."));
        let where_to = where_to.or_else(|| {
            let (page, code) = (told["verification_uri"].as_str()?, told["user_code"].as_str()?);
            Some(format!("Open {page} in a browser and enter {code} there."))
        });
        session.say(&where_to.ok_or_else(|| unusable(place, "verification_uri"))?);
        form.retain(|(name, _)| *name == "grant_type");
        form.push(("device_code", Secret::from(&*member(&told, "device_code", place)?)));
        let mut pause = told["interval"].as_u64().unwrap_or(5).clamp(1, 60);
        loop {
            tokio::time::sleep(Duration::from_secs(pause)).await;
            let (status, answer) = self.send(session, url, &form).await?;
            match (status, answer["error"].as_str()) {
                (200..300, _) => return Ok(answer),
                (_, Some("authorization_pending")) => {}
                (_, Some("slow_down")) => pause += 5,
                _ => return Err(refused(url, status, &answer)),
            }
        }
    }
}

/// A string member of a response.
fn member(answer: &Value, name: &str, url: &str) -> Result<String> {
    answer[name].as_str().map(str::to_owned).ok_or_else(|| unusable(url, name))
}

fn unusable(url: &str, name: &str) -> ClientError {
    let text = format!("The response of {} has no {name}.", without_secrets(url));
    ClientError::new(text)
        .next("Check OS_DISCOVERY_ENDPOINT, OS_ACCESS_TOKEN_ENDPOINT and OS_ACCESS_TOKEN_TYPE.")
}

fn refused(url: &str, status: u16, answer: &Value) -> ClientError {
    let said = answer["error_description"].as_str().or_else(|| answer["error"].as_str());
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let text = format!("{} did not issue a token (HTTP {status}){said}", without_secrets(url));
    let next = "Check the client's id and secret, user and password, and the addresses of the \
                authorisation server.";
    ClientError::new(text).next(next).of(ClientErrorKind::Refused(status))
}
