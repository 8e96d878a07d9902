//! Tokens of authorisation servers: OpenID Connect and OAuth 2.0.
//!
//! What such a server grants is shown to the identity service, or goes along with every request.

use super::answer::without_secrets;
use super::entry::{Get, missing};
use super::problem::{Kind, Problem, Result};
use super::secret::Secret;
use super::session::Session;
use serde_json::Value;
use std::time::Duration;

/// The scope that is asked for if nobody names one.
const SCOPE: &str = "openid profile";

/// How a device asks whether its user has agreed by now.
const DEVICE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// Where a token of an authorisation server comes from.
#[derive(Debug)]
pub(crate) enum Grant {
    /// It was got before.
    Given(Secret),
    /// It is asked for.
    Asked(Box<Request>),
}

/// A token that is asked for.
#[derive(Debug)]
pub(crate) struct Request {
    endpoint: Endpoint,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    form: Vec<(&'static str, Secret)>,
    /// Whether the user agrees elsewhere, and where a code for that is got if the server does not tell.
    device: Option<Option<String>>,
    /// The member of the answer that has the token.
    member: String,
}

/// Where to ask.
#[derive(Debug)]
enum Endpoint {
    Known(String),
    /// A document at this address tells.
    Told(String),
}

impl Grant {
    /// A token of an OpenID Connect provider; `None` if the method is no such.
    pub(crate) fn of_provider(method: &str, get: &Get<'_>) -> Result<Option<Grant>> {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let secret = |name: &str| needed(name).map(|value| Secret::from(&*value));
        let scope = get("openid_scope").unwrap_or_else(|| SCOPE.into());
        let scope = ("scope", Secret::from(&*scope));
        let mut device = None;
        let form = match method {
            "v3oidcaccesstoken" => return Ok(Some(Grant::Given(secret("access_token")?))),
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
        let known = get("access_token_endpoint").map(Endpoint::Known);
        let endpoint = known.or_else(|| get("discovery_endpoint").map(Endpoint::Told));
        let endpoint = endpoint.ok_or_else(|| missing("discovery_endpoint"))?;
        let client_id = get("client_id").ok_or_else(|| missing("client_id"))?;
        Ok(Some(Grant::Asked(Box::new(Request {
            endpoint,
            client_id: Some(client_id),
            client_secret: get("client_secret").map(|secret| Secret::from(&*secret)),
            form,
            device,
            member: get("access_token_type").unwrap_or_else(|| "access_token".into()),
        }))))
    }

    /// A token that a server of OAuth 2.0 gives for an id and a secret, or for the certificate that is
    /// shown to it.
    pub(crate) fn of_client(get: &Get<'_>, has_secret: bool) -> Result<Grant> {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let client_secret = match has_secret {
            true => Some(Secret::from(&*needed("oauth2_client_secret")?)),
            false => None,
        };
        Ok(Grant::Asked(Box::new(Request {
            endpoint: Endpoint::Known(needed("oauth2_endpoint")?),
            client_id: Some(needed("oauth2_client_id")?),
            client_secret,
            form: vec![("grant_type", "client_credentials".into())],
            device: None,
            member: "access_token".into(),
        })))
    }

    /// Gets the token.
    pub(crate) async fn token(&self, session: &Session) -> Result<Secret> {
        match self {
            Grant::Given(token) => Ok(token.clone()),
            Grant::Asked(request) => request.token(session).await,
        }
    }
}

impl Request {
    async fn token(&self, session: &Session) -> Result<Secret> {
        let document = match &self.endpoint {
            Endpoint::Told(url) => session.document(url).await?,
            Endpoint::Known(_) => Value::Null,
        };
        let url = match &self.endpoint {
            Endpoint::Known(url) => url.clone(),
            Endpoint::Told(url) => member(&document, "token_endpoint", url)?,
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

    /// Asks a server, and takes what it refuses for a problem.
    async fn ask(&self, session: &Session, url: &str, form: &[(&str, Secret)]) -> Result<Value> {
        let (status, answer) = self.send(session, url, form).await?;
        if (200..300).contains(&status) { Ok(answer) } else { Err(refused(url, status, &answer)) }
    }

    async fn send(
        &self,
        session: &Session,
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

    /// Has the user agree in a browser, and waits for it.
    async fn agreed(
        &self,
        session: &Session,
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

/// A text in an answer.
fn member(answer: &Value, name: &str, url: &str) -> Result<String> {
    answer[name].as_str().map(str::to_owned).ok_or_else(|| unusable(url, name))
}

fn unusable(url: &str, name: &str) -> Problem {
    let text = format!("The answer of {} has no {name}.", without_secrets(url));
    Problem::new(text)
        .next("Check OS_DISCOVERY_ENDPOINT, OS_ACCESS_TOKEN_ENDPOINT and OS_ACCESS_TOKEN_TYPE.")
}

fn refused(url: &str, status: u16, answer: &Value) -> Problem {
    let said = answer["error_description"].as_str().or_else(|| answer["error"].as_str());
    let said = said.map(|said| format!(": {said}")).unwrap_or_default();
    let text = format!("{} gives no token (HTTP {status}){said}", without_secrets(url));
    let next = "Check the client's id and secret, user and password, and the addresses of the \
                authorisation server.";
    Problem::new(text).next(next).of(Kind::Refused(status))
}
