//! Authentication methods, and the settings that each of them needs.

use super::clouds::Values;
use super::error::{ClientError, Result};
use super::oauth::OAuthGrant;
use super::secret::Secret;
use serde_json::{Value, json};

/// An authentication method with its settings.
#[derive(Debug)]
pub(crate) enum AuthMethod {
    /// A token from the identity service.
    Login(Box<KeystoneLogin>),
    /// Direct access to an endpoint, with these headers for authentication.
    Direct {
        /// The endpoint.
        endpoint: String,
        /// The headers; none if the service needs no authentication.
        headers: Vec<(&'static str, Secret)>,
    },
}

/// A login at the identity service.
#[derive(Debug)]
pub(crate) struct KeystoneLogin {
    /// The URL of the identity service, with its version.
    pub(crate) url: String,
    /// The user's credentials.
    pub(crate) credentials: Credentials,
    /// The scope; none if the credentials imply it.
    pub(crate) scope: Option<Value>,
    /// An OAuth token that is sent with every request.
    pub(crate) bearer: Option<OAuthGrant>,
    /// The endpoint, instead of the catalogue's.
    pub(crate) endpoint: Option<String>,
}

/// The user's credentials.
#[derive(Debug)]
pub(crate) enum Credentials {
    /// Credentials that the identity service checks itself: a password, a token, a passcode.
    Keystone(SecretBody),
    /// Federated: a token of an identity provider, sent to the identity service at this path.
    Federated(String, OAuthGrant),
    /// An OAuth token that is a token of the identity service as well.
    OAuth(OAuthGrant),
}

/// The part of a login request that contains secrets.
pub(crate) struct SecretBody(Value);

impl SecretBody {
    /// The value. It contains secrets.
    pub(crate) fn expose(&self) -> &Value {
        &self.0
    }
}

impl std::fmt::Debug for SecretBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("******")
    }
}

/// Looks up a setting that is not empty.
pub(crate) type Getter<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn getter(values: &Values) -> impl Fn(&str) -> Option<String> {
    |name| values.get(name).filter(|value| !value.is_empty()).cloned()
}

/// The name of the method: the configured one, or the one that the given settings imply.
fn method(values: &Values) -> String {
    let get = getter(values);
    let (has_token, has_endpoint) = (token(values).is_some(), endpoint(values).is_some());
    get("auth_type").unwrap_or_else(|| {
        let fits = match () {
            () if get("no_client_auth").is_some() && !has_token => "none",
            () if has_token && has_endpoint && get("auth_url").is_none() => "admin_token",
            () if has_token => "token",
            () if get("application_credential_secret").is_some() => "v3applicationcredential",
            () => "password",
        };
        fits.into()
    })
}

fn token(values: &Values) -> Option<String> {
    let get = getter(values);
    get("token").or_else(|| get("auth_token"))
}

fn endpoint(values: &Values) -> Option<String> {
    let get = getter(values);
    ["orchestration_endpoint_override", "endpoint_override", "endpoint", "url"]
        .iter()
        .find_map(|name| get(name))
        .map(|endpoint| with_project(&endpoint, get("project_id").or_else(|| get("tenant_id"))))
}

/// The missing secrets that the user can be prompted for: setting and prompt.
pub(crate) fn missing_secrets(values: &Values) -> Vec<(&'static str, &'static str)> {
    let get = getter(values);
    let method = method(values);
    let several = get("auth_methods").unwrap_or_default();
    let methods: Vec<&str> = match &*method {
        "v3multifactor" => several.split(',').map(str::trim).collect(),
        method => vec![method],
    };
    let wanted = methods.into_iter().filter_map(|method| match method {
        "password" | "v3password" | "v3oidcpassword" | "http_basic" => {
            Some(("password", "Password: "))
        }
        "totp" | "v3totp" => Some(("passcode", "Passcode: ")),
        _ => None,
    });
    let has_user = ["username", "user_name", "user_id"].iter().any(|name| get(name).is_some());
    wanted.filter(|(name, _)| has_user && get(name).is_none()).collect()
}

/// An authentication method with its settings.
pub(crate) fn auth_method(values: &Values) -> Result<AuthMethod> {
    let get = getter(values);
    let endpoint = endpoint(values);
    let secret = |name: &str| get(name).map(|value| Secret::from(&*value));
    let to = |endpoint: Option<String>| endpoint.ok_or_else(|| missing("endpoint"));
    match &*method(values) {
        "none" | "noauth" => {
            // A standalone service checks user and password itself.
            let by_hand = get("no_client_auth")
                .and_then(|_| Some((secret("username")?, secret("password")?)));
            let headers = by_hand.map_or_else(Vec::new, |(user, password)| {
                vec![("x-auth-user", user), ("x-auth-key", password)]
            });
            Ok(AuthMethod::Direct { endpoint: to(endpoint)?, headers })
        }
        "admin_token" | "token_endpoint" => {
            let token = token(values).ok_or_else(|| missing("token"))?;
            let headers = vec![("x-auth-token", Secret::from(&*token))];
            Ok(AuthMethod::Direct { endpoint: to(endpoint)?, headers })
        }
        "http_basic" => {
            let user = get("username").or_else(|| get("user_name"));
            let user = user.ok_or_else(|| missing("username"))?;
            let password = get("password").ok_or_else(|| missing("password"))?;
            let headers = vec![("authorization", basic(&user, &password))];
            Ok(AuthMethod::Direct { endpoint: to(endpoint)?, headers })
        }
        method => login(method, values, endpoint).map(|login| AuthMethod::Login(Box::new(login))),
    }
}

/// User and password for HTTP basic authentication.
fn basic(user: &str, password: &str) -> Secret {
    use base64::Engine;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    Secret::from(&*format!("Basic {pair}"))
}

fn login(method: &str, values: &Values, endpoint: Option<String>) -> Result<KeystoneLogin> {
    let get = getter(values);
    let url = versioned(&get("auth_url").ok_or_else(|| missing("auth_url"))?);
    let mut login = KeystoneLogin {
        url,
        credentials: Credentials::Keystone(SecretBody(Value::Null)),
        scope: scope(&get),
        bearer: None,
        endpoint,
    };
    if let Some(grant) = OAuthGrant::of_provider(method, &get)? {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let (provider, protocol) = (needed("identity_provider")?, needed("protocol")?);
        let path =
            format!("/OS-FEDERATION/identity_providers/{provider}/protocols/{protocol}/auth");
        return Ok(KeystoneLogin { credentials: Credentials::Federated(path, grant), ..login });
    }
    match method {
        "v3oauth2clientcredential" => {
            login.bearer = Some(OAuthGrant::of_client(&get, true)?);
            let needed = |name: &str| get(name).ok_or_else(|| missing(name));
            let (id, secret) = (needed("oauth2_client_id")?, needed("oauth2_client_secret")?);
            let credentials = json!({ "id": id, "secret": secret });
            login.credentials =
                Credentials::Keystone(SecretBody(alone("application_credential", credentials)));
            login.scope = None;
        }
        "v3oauth2mtlsclientcredential" => {
            login.credentials = Credentials::OAuth(OAuthGrant::of_client(&get, false)?);
        }
        method => {
            login.credentials =
                Credentials::Keystone(SecretBody(identity(method, &get, token(values))?))
        }
    }
    // An application credential implies its project.
    if method == "v3applicationcredential" {
        login.scope = None;
    }
    Ok(login)
}

/// The `identity` member of a login request with one method.
fn alone(method: &str, credentials: Value) -> Value {
    json!({ "methods": [method], method: credentials })
}

/// The `identity` member for the method `token`.
pub(crate) fn by_token(token: &Secret) -> Value {
    alone("token", json!({ "id": token.expose() }))
}

/// The `identity` member for a method.
fn identity(method: &str, get: &Getter<'_>, token: Option<String>) -> Result<Value> {
    let several = get("auth_methods").unwrap_or_default();
    let methods: Vec<&str> = match method {
        "v3multifactor" if several.is_empty() => return Err(missing("auth_methods")),
        "v3multifactor" => several.split(',').map(str::trim).collect(),
        method => vec![method],
    };
    let mut identity = json!({ "methods": [] });
    for method in methods {
        let (method, credentials) = match method {
            "password" | "v3password" => ("password", with_user(get, "password")?),
            "v3totp" | "totp" => ("totp", with_user(get, "passcode")?),
            "token" | "v3token" => {
                let token = token.clone().ok_or_else(|| missing("token"))?;
                ("token", json!({ "id": token }))
            }
            "v3applicationcredential" => ("application_credential", application_credential(get)?),
            other => return Err(unknown(other)),
        };
        if let Some(methods) = identity["methods"].as_array_mut() {
            methods.push(method.into());
        }
        identity[method] = credentials;
    }
    Ok(identity)
}

/// All methods, for the message about an unknown one.
const METHODS: &str = "password, token, v3applicationcredential, v3totp, v3multifactor, \
    v3oidcpassword, v3oidcclientcredentials, v3oidcauthcode, v3oidcdeviceauthz, v3oidcaccesstoken, \
    v3oauth2clientcredential, v3oauth2mtlsclientcredential, http_basic, none and admin_token";

fn unknown(method: &str) -> ClientError {
    let problem = ClientError::new(format!("The authentication method {method} is not supported."));
    problem.next(match method {
        "v2password" | "v2token" => {
            "Version 2 of the identity API is no longer supported: use password or token."
                .to_owned()
        }
        "v3kerberos" | "v3fedkerb" | "v3samlpassword" | "v3adfspassword" | "v3websso"
        | "v3oauth1" | "v3tokenlessauth" => "Get a token with `openstack token issue -f value -c \
             id`, and give it as OS_TOKEN with OS_AUTH_TYPE=token; or make an application \
             credential."
            .to_owned(),
        _ => format!("Supported: {METHODS}."),
    })
}

fn with_user(get: &Getter<'_>, credentials: &str) -> Result<Value> {
    let mut user = user(get)?;
    user[credentials] = get(credentials).ok_or_else(|| missing(credentials))?.into();
    Ok(json!({ "user": user }))
}

fn user(get: &Getter<'_>) -> Result<Value> {
    if let Some(id) = get("user_id") {
        return Ok(json!({ "id": id }));
    }
    let name = get("username").or_else(|| get("user_name")).ok_or_else(|| missing("username"))?;
    Ok(json!({ "name": name, "domain": domain(get, "user") }))
}

fn application_credential(get: &Getter<'_>) -> Result<Value> {
    let name = "application_credential_secret";
    let secret = get(name).ok_or_else(|| missing(name))?;
    match get("application_credential_id") {
        Some(id) => Ok(json!({ "id": id, "secret": secret })),
        None => {
            let name = "application_credential_name";
            let name = get(name).ok_or_else(|| missing("application_credential_id"))?;
            Ok(json!({ "name": name, "secret": secret, "user": user(get)? }))
        }
    }
}

/// The scope of the token.
fn scope(get: &Getter<'_>) -> Option<Value> {
    let project_id = get("project_id").or_else(|| get("tenant_id"));
    let project_name = get("project_name").or_else(|| get("tenant_name"));
    if let Some(trust) = get("trust_id") {
        Some(json!({ "OS-TRUST:trust": { "id": trust } }))
    } else if let Some(id) = project_id {
        Some(json!({ "project": { "id": id } }))
    } else if let Some(name) = project_name {
        Some(json!({ "project": { "name": name, "domain": domain(get, "project") } }))
    } else if let Some(id) = get("domain_id") {
        Some(json!({ "domain": { "id": id } }))
    } else if let Some(name) = get("domain_name") {
        Some(json!({ "domain": { "name": name } }))
    } else {
        get("system_scope").map(|_| json!({ "system": { "all": true } }))
    }
}

/// The domain of a user or a project; `default` unless configured.
fn domain(get: &Getter<'_>, of: &str) -> Value {
    if let Some(id) = get(&format!("{of}_domain_id")) {
        return json!({ "id": id });
    }
    if let Some(name) = get(&format!("{of}_domain_name")) {
        return json!({ "name": name });
    }
    let default = get("default_domain").or_else(|| get("default_domain_id"));
    json!({ "id": default.unwrap_or_else(|| "default".into()) })
}

/// The URL of version 3 of the identity service.
fn versioned(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let bare = url.strip_suffix("/v2.0").unwrap_or(url);
    if bare.ends_with("/v3") { bare.to_owned() } else { format!("{bare}/v3") }
}

/// An endpoint with the project id in its path.
fn with_project(endpoint: &str, project: Option<String>) -> String {
    let endpoint = endpoint.trim_end_matches('/');
    let Some(project) = project else { return endpoint.to_owned() };
    if endpoint.ends_with("/v1") {
        return format!("{endpoint}/{project}");
    }
    let mut filled = endpoint.to_owned();
    for place in ["%(tenant_id)s", "%(project_id)s", "$(tenant_id)s", "$(project_id)s"] {
        filled = filled.replace(place, &project);
    }
    filled
}

/// The problem of a missing setting.
pub(crate) fn missing(name: &str) -> ClientError {
    let what = match name {
        "access_token" => "access token of the identity provider",
        "application_credential_id" => "id or name of the application credential",
        "application_credential_secret" => "secret of the application credential",
        "auth_methods" => "list of methods to combine",
        "auth_url" => "URL of the identity service",
        "authorization_code" => "authorization code",
        "client_id" => "client id at the identity provider",
        "discovery_endpoint" => "URL of the identity provider's discovery document",
        "endpoint" => "endpoint of the orchestration service",
        "identity_provider" => "name of the identity provider",
        "oauth2_client_id" => "OAuth 2.0 client id",
        "oauth2_client_secret" => "OAuth 2.0 client secret",
        "oauth2_endpoint" => "OAuth 2.0 token endpoint",
        "passcode" => "passcode",
        "protocol" => "protocol of the identity provider",
        "redirect_uri" => "redirect URI of the authorization code",
        "username" => "user",
        other => other,
    };
    let option = name.replace('_', "-");
    ClientError::new(format!("The {what} is missing.")).next(format!(
        "Set OS_{} or --os-{option}, or select a cloud of clouds.yaml with OS_CLOUD.",
        name.to_uppercase()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(given: &[(&str, &str)]) -> Values {
        given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    fn login(given: &[(&str, &str)]) -> KeystoneLogin {
        match auth_method(&values(given)).unwrap() {
            AuthMethod::Login(login) => *login,
            AuthMethod::Direct { .. } => panic!("no login"),
        }
    }

    fn known(given: &[(&str, &str)]) -> Value {
        match login(given).credentials {
            Credentials::Keystone(body) => body.expose().clone(),
            other => panic!("{other:?}"),
        }
    }

    const USER: [(&str, &str); 3] =
        [("auth_url", "http://k:5000"), ("username", "u"), ("password", "p")];

    #[test]
    fn a_password_is_scoped_to_a_project() {
        let given = [&USER[..], &[("project_name", "x"), ("project_domain_name", "d")]].concat();
        let user = json!({"name": "u", "domain": {"id": "default"}, "password": "p"});
        assert_eq!(known(&given), json!({"methods": ["password"], "password": {"user": user}}));
        let KeystoneLogin { url, scope, .. } = login(&given);
        let project = json!({"project": {"name": "x", "domain": {"name": "d"}}});
        assert_eq!((&*url, scope), ("http://k:5000/v3", Some(project)));
    }

    #[test]
    fn trusts_tokens_and_application_credentials_are_known() {
        let trust = login(&[&USER[..], &[("trust_id", "t"), ("project_id", "x")]].concat());
        assert_eq!(trust.scope, Some(json!({"OS-TRUST:trust": {"id": "t"}})));
        let token = [("auth_url", "http://k/v3/"), ("token", "s"), ("tenant_id", "x")];
        assert_eq!(known(&token), json!({"methods": ["token"], "token": {"id": "s"}}));
        let KeystoneLogin { url, scope, .. } = login(&token);
        assert_eq!((&*url, scope), ("http://k/v3", Some(json!({"project": {"id": "x"}}))));
        let credential = [
            ("auth_url", "http://k/v2.0"),
            ("application_credential_id", "i"),
            ("application_credential_secret", "s"),
            ("project_name", "x"),
        ];
        let credentials = json!({"id": "i", "secret": "s"});
        let identity =
            json!({"methods": ["application_credential"], "application_credential": credentials});
        assert_eq!(known(&credential), identity);
        let KeystoneLogin { url, scope, .. } = login(&credential);
        assert_eq!((&*url, scope), ("http://k/v3", None));
        let several = [
            ("auth_type", "v3multifactor"),
            ("auth_methods", "v3password,v3totp"),
            ("passcode", "1"),
        ];
        let both = known(&[&USER[..], &several].concat());
        assert_eq!(both["methods"], json!(["password", "totp"]));
    }

    #[test]
    fn some_go_straight_to_the_endpoint() {
        let direct = |given: &[(&str, &str)]| match auth_method(&values(given)).unwrap() {
            AuthMethod::Direct { endpoint, headers } => {
                let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
                (endpoint, names.join(" "))
            }
            AuthMethod::Login(_) => panic!("a login"),
        };
        let none = [("auth_type", "none"), ("endpoint", "http://h/v1/"), ("project_id", "p")];
        assert_eq!(direct(&none), ("http://h/v1/p".into(), "".into()));
        let token =
            [("token", "t"), ("endpoint", "http://h/v1/%(tenant_id)s"), ("project_id", "p")];
        assert_eq!(direct(&token), ("http://h/v1/p".into(), "x-auth-token".into()));
        let user = [("endpoint", "http://h"), ("username", "u"), ("password", "p")];
        let by_hand = [&user[..], &[("no_client_auth", "1")]].concat();
        assert_eq!(direct(&by_hand), ("http://h".into(), "x-auth-user x-auth-key".into()));
        let http = [&user[..], &[("auth_type", "http_basic")]].concat();
        assert_eq!(direct(&http), ("http://h".into(), "authorization".into()));
        assert_eq!(basic("Aladdin", "open sesame").expose(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
    }

    #[test]
    fn others_vouch_for_users() {
        let provider = [
            ("auth_url", "http://k"),
            ("identity_provider", "corp"),
            ("protocol", "openid"),
            ("client_id", "c"),
            ("discovery_endpoint", "http://idp/.well-known/openid-configuration"),
            ("username", "u"),
            ("password", "p"),
            ("project_id", "x"),
        ];
        for method in ["v3oidcpassword", "v3oidcclientcredentials", "v3oidcdeviceauthz"] {
            let login = login(&[&provider[..], &[("auth_type", method)]].concat());
            let Credentials::Federated(path, OAuthGrant::Asked(_)) = &login.credentials else {
                panic!("{login:?}")
            };
            let expected = "/OS-FEDERATION/identity_providers/corp/protocols/openid/auth";
            assert_eq!(path, expected);
            assert_eq!(login.scope, Some(json!({"project": {"id": "x"}})));
        }
        let given = [&provider[..], &[("auth_type", "v3oidcaccesstoken"), ("access_token", "t")]];
        let Credentials::Federated(_, OAuthGrant::Given(token)) =
            login(&given.concat()).credentials
        else {
            panic!("not given")
        };
        assert_eq!(token.expose(), "t");
        let client = [
            ("auth_url", "http://k"),
            ("auth_type", "v3oauth2clientcredential"),
            ("oauth2_endpoint", "http://k/v3/OS-OAUTH2/token"),
            ("oauth2_client_id", "i"),
            ("oauth2_client_secret", "s"),
            ("project_id", "x"),
        ];
        assert_eq!(known(&client)["application_credential"], json!({"id": "i", "secret": "s"}));
        let KeystoneLogin { scope, bearer, .. } = login(&client);
        assert!(scope.is_none() && bearer.is_some());
    }

    #[test]
    fn what_is_missing_is_named_with_the_way_to_give_it() {
        let wrong = |given: &[(&str, &str)]| auth_method(&values(given)).unwrap_err();
        let at = ("auth_url", "http://k");
        for (given, text) in [
            (&[at][..], "The user is missing."),
            (&[at, ("username", "u")], "The password is missing."),
            (&[("auth_type", "none")], "The endpoint of the orchestration service is missing."),
            (&[("auth_type", "v3token"), at], "The token is missing."),
            (
                &[("auth_type", "v3oidcclientcredentials"), at],
                "The URL of the identity provider's discovery document is missing.",
            ),
            (
                &[("auth_type", "v3kerberos"), at],
                "The authentication method v3kerberos is not supported.",
            ),
        ] {
            let problem = wrong(given);
            assert_eq!(problem.text, text);
            assert!(problem.next.is_some());
        }
        let asked = |given: &[(&str, &str)]| missing_secrets(&values(given));
        assert_eq!(asked(&USER), []);
        assert_eq!(asked(&USER[..2]), [("password", "Password: ")]);
        assert_eq!(asked(&USER[..1]), [], "the user comes first");
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", auth_method(&values(&USER)).unwrap());
        assert!(shown.contains("******") && !shown.contains("\"p\""), "{shown}");
        let token = [("token", "hush"), ("endpoint", "http://h")];
        assert!(!format!("{:?}", auth_method(&values(&token)).unwrap()).contains("hush"));
    }
}
