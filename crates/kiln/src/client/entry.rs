//! How to get in: the methods of logging in, and what each of them needs.

use super::clouds::Values;
use super::grant::Grant;
use super::problem::{Problem, Result};
use super::secret::Secret;
use serde_json::{Value, json};

/// How to get in.
#[derive(Debug)]
pub(crate) enum Entry {
    /// With a token from the identity service.
    Login(Box<Login>),
    /// Straight to an endpoint, with what these headers prove.
    Straight {
        /// The endpoint.
        endpoint: String,
        /// The headers; none if nothing has to be proved.
        headers: Vec<(&'static str, Secret)>,
    },
}

/// How to get a token from the identity service.
#[derive(Debug)]
pub(crate) struct Login {
    /// Where the identity service is, with its version.
    pub(crate) url: String,
    /// What proves who one is.
    pub(crate) proof: Proof,
    /// What one wants to act on; nothing if the proof has it in itself.
    pub(crate) scope: Option<Value>,
    /// A token of another server that goes along with every request.
    pub(crate) bearer: Option<Grant>,
    /// The endpoint to use whatever the catalogue says.
    pub(crate) endpoint: Option<String>,
}

/// What proves who one is.
#[derive(Debug)]
pub(crate) enum Proof {
    /// Something that the identity service knows: a password, a token, a code.
    Known(Body),
    /// What another server grants, shown to the identity service at this path.
    Vouched(String, Grant),
    /// What another server grants is a token of the identity service as it is.
    Granted(Grant),
}

/// The part of a login that must not be shown.
pub(crate) struct Body(Value);

impl Body {
    /// The value. It holds secrets.
    pub(crate) fn expose(&self) -> &Value {
        &self.0
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("******")
    }
}

/// Finds a setting that is not empty.
pub(crate) type Get<'a> = dyn Fn(&str) -> Option<String> + 'a;

fn getter(values: &Values) -> impl Fn(&str) -> Option<String> {
    |name| values.get(name).filter(|value| !value.is_empty()).cloned()
}

/// The method that is used: the one that is named, or else the one that fits what is given.
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

/// The secrets without which nobody gets in and that a person can be asked for: setting and question.
pub(crate) fn to_be_asked(values: &Values) -> Vec<(&'static str, &'static str)> {
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
        "totp" | "v3totp" => Some(("passcode", "Code of the device: ")),
        _ => None,
    });
    let has_user = ["username", "user_name", "user_id"].iter().any(|name| get(name).is_some());
    wanted.filter(|(name, _)| has_user && get(name).is_none()).collect()
}

/// How to get in.
pub(crate) fn entry(values: &Values) -> Result<Entry> {
    let get = getter(values);
    let endpoint = endpoint(values);
    let secret = |name: &str| get(name).map(|value| Secret::from(&*value));
    let to = |endpoint: Option<String>| endpoint.ok_or_else(|| missing("endpoint"));
    match &*method(values) {
        "none" | "noauth" => {
            // A service without the identity service may ask for user and password itself.
            let by_hand = get("no_client_auth")
                .and_then(|_| Some((secret("username")?, secret("password")?)));
            let headers = by_hand.map_or_else(Vec::new, |(user, password)| {
                vec![("x-auth-user", user), ("x-auth-key", password)]
            });
            Ok(Entry::Straight { endpoint: to(endpoint)?, headers })
        }
        "admin_token" | "token_endpoint" => {
            let token = token(values).ok_or_else(|| missing("token"))?;
            let headers = vec![("x-auth-token", Secret::from(&*token))];
            Ok(Entry::Straight { endpoint: to(endpoint)?, headers })
        }
        "http_basic" => {
            let user = get("username").or_else(|| get("user_name"));
            let user = user.ok_or_else(|| missing("username"))?;
            let password = get("password").ok_or_else(|| missing("password"))?;
            let headers = vec![("authorization", basic(&user, &password))];
            Ok(Entry::Straight { endpoint: to(endpoint)?, headers })
        }
        method => login(method, values, endpoint).map(|login| Entry::Login(Box::new(login))),
    }
}

/// A user and a password as HTTP itself has them.
fn basic(user: &str, password: &str) -> Secret {
    use base64::Engine;
    let pair = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
    Secret::from(&*format!("Basic {pair}"))
}

fn login(method: &str, values: &Values, endpoint: Option<String>) -> Result<Login> {
    let get = getter(values);
    let url = versioned(&get("auth_url").ok_or_else(|| missing("auth_url"))?);
    let mut login = Login {
        url,
        proof: Proof::Known(Body(Value::Null)),
        scope: scope(&get),
        bearer: None,
        endpoint,
    };
    if let Some(grant) = Grant::of_provider(method, &get)? {
        let needed = |name: &str| get(name).ok_or_else(|| missing(name));
        let (provider, protocol) = (needed("identity_provider")?, needed("protocol")?);
        let path =
            format!("/OS-FEDERATION/identity_providers/{provider}/protocols/{protocol}/auth");
        return Ok(Login { proof: Proof::Vouched(path, grant), ..login });
    }
    match method {
        "v3oauth2clientcredential" => {
            login.bearer = Some(Grant::of_client(&get, true)?);
            let needed = |name: &str| get(name).ok_or_else(|| missing(name));
            let (id, secret) = (needed("oauth2_client_id")?, needed("oauth2_client_secret")?);
            let proof = json!({ "id": id, "secret": secret });
            login.proof = Proof::Known(Body(alone("application_credential", proof)));
            login.scope = None;
        }
        "v3oauth2mtlsclientcredential" => {
            login.proof = Proof::Granted(Grant::of_client(&get, false)?);
        }
        method => login.proof = Proof::Known(Body(identity(method, &get, token(values))?)),
    }
    // An application credential has its project in itself.
    if method == "v3applicationcredential" {
        login.scope = None;
    }
    Ok(login)
}

/// One method of proving who one is.
fn alone(method: &str, proof: Value) -> Value {
    json!({ "methods": [method], method: proof })
}

/// The proof that another token gives.
pub(crate) fn by_token(token: &Secret) -> Value {
    alone("token", json!({ "id": token.expose() }))
}

/// Who one is, and how that is proved.
fn identity(method: &str, get: &Get<'_>, token: Option<String>) -> Result<Value> {
    let several = get("auth_methods").unwrap_or_default();
    let methods: Vec<&str> = match method {
        "v3multifactor" if several.is_empty() => return Err(missing("auth_methods")),
        "v3multifactor" => several.split(',').map(str::trim).collect(),
        method => vec![method],
    };
    let mut identity = json!({ "methods": [] });
    for method in methods {
        let (method, proof) = match method {
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
        identity[method] = proof;
    }
    Ok(identity)
}

/// All methods, as they are told to somebody who named another.
const METHODS: &str = "password, token, v3applicationcredential, v3totp, v3multifactor, \
    v3oidcpassword, v3oidcclientcredentials, v3oidcauthcode, v3oidcdeviceauthz, v3oidcaccesstoken, \
    v3oauth2clientcredential, v3oauth2mtlsclientcredential, http_basic, none and admin_token";

fn unknown(method: &str) -> Problem {
    let problem = Problem::new(format!("Kiln cannot log in with auth_type {method}."));
    problem.next(match method {
        "v2password" | "v2token" => {
            "The second version of the identity API is gone everywhere: say password or token."
                .to_owned()
        }
        "v3kerberos" | "v3fedkerb" | "v3samlpassword" | "v3adfspassword" | "v3websso"
        | "v3oauth1" | "v3tokenlessauth" => "Get a token with `openstack token issue -f value -c \
             id`, and give it as OS_TOKEN with OS_AUTH_TYPE=token; or make an application \
             credential."
            .to_owned(),
        _ => format!("It knows {METHODS}."),
    })
}

fn with_user(get: &Get<'_>, proof: &str) -> Result<Value> {
    let mut user = user(get)?;
    user[proof] = get(proof).ok_or_else(|| missing(proof))?.into();
    Ok(json!({ "user": user }))
}

fn user(get: &Get<'_>) -> Result<Value> {
    if let Some(id) = get("user_id") {
        return Ok(json!({ "id": id }));
    }
    let name = get("username").or_else(|| get("user_name")).ok_or_else(|| missing("username"))?;
    Ok(json!({ "name": name, "domain": domain(get, "user") }))
}

fn application_credential(get: &Get<'_>) -> Result<Value> {
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

/// What one wants to act on.
fn scope(get: &Get<'_>) -> Option<Value> {
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

/// The domain of a user or a project; `default` unless the settings say otherwise.
fn domain(get: &Get<'_>, of: &str) -> Value {
    if let Some(id) = get(&format!("{of}_domain_id")) {
        return json!({ "id": id });
    }
    if let Some(name) = get(&format!("{of}_domain_name")) {
        return json!({ "name": name });
    }
    let default = get("default_domain").or_else(|| get("default_domain_id"));
    json!({ "id": default.unwrap_or_else(|| "default".into()) })
}

/// The address of the identity service's third version.
fn versioned(url: &str) -> String {
    let url = url.trim_end_matches('/');
    let bare = url.strip_suffix("/v2.0").unwrap_or(url);
    if bare.ends_with("/v3") { bare.to_owned() } else { format!("{bare}/v3") }
}

/// An endpoint with the project that its paths begin with.
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

/// What to say when a setting is missing without which nobody can log in.
pub(crate) fn missing(name: &str) -> Problem {
    let what = match name {
        "access_token" => "token of the identity provider",
        "application_credential_id" => "id or name of the application credential",
        "application_credential_secret" => "secret of the application credential",
        "auth_methods" => "methods to combine, separated by commas",
        "auth_url" => "address of the identity service",
        "authorization_code" => "code that the identity provider gave",
        "client_id" => "id of the client at the identity provider",
        "discovery_endpoint" => "address at which the identity provider tells about itself",
        "endpoint" => "endpoint of the orchestration service",
        "identity_provider" => "name of the identity provider",
        "oauth2_client_id" => "id of the client at the authorisation server",
        "oauth2_client_secret" => "secret of the client at the authorisation server",
        "oauth2_endpoint" => "address at which the authorisation server gives tokens",
        "passcode" => "code of the device",
        "protocol" => "protocol of the identity provider",
        "redirect_uri" => "address to which the identity provider sent the code",
        "username" => "user",
        other => other,
    };
    let option = name.replace('_', "-");
    Problem::new(format!("Logging in needs the {what}.")).next(format!(
        "Give it as OS_{} or --os-{option}, or name a cloud of your clouds.yaml with OS_CLOUD.",
        name.to_uppercase()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(given: &[(&str, &str)]) -> Values {
        given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    fn login(given: &[(&str, &str)]) -> Login {
        match entry(&values(given)).unwrap() {
            Entry::Login(login) => *login,
            Entry::Straight { .. } => panic!("no login"),
        }
    }

    fn known(given: &[(&str, &str)]) -> Value {
        match login(given).proof {
            Proof::Known(body) => body.expose().clone(),
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
        let Login { url, scope, .. } = login(&given);
        let project = json!({"project": {"name": "x", "domain": {"name": "d"}}});
        assert_eq!((&*url, scope), ("http://k:5000/v3", Some(project)));
    }

    #[test]
    fn trusts_tokens_and_application_credentials_are_known() {
        let trust = login(&[&USER[..], &[("trust_id", "t"), ("project_id", "x")]].concat());
        assert_eq!(trust.scope, Some(json!({"OS-TRUST:trust": {"id": "t"}})));
        let token = [("auth_url", "http://k/v3/"), ("token", "s"), ("tenant_id", "x")];
        assert_eq!(known(&token), json!({"methods": ["token"], "token": {"id": "s"}}));
        let Login { url, scope, .. } = login(&token);
        assert_eq!((&*url, scope), ("http://k/v3", Some(json!({"project": {"id": "x"}}))));
        let credential = [
            ("auth_url", "http://k/v2.0"),
            ("application_credential_id", "i"),
            ("application_credential_secret", "s"),
            ("project_name", "x"),
        ];
        let proof = json!({"id": "i", "secret": "s"});
        let identity =
            json!({"methods": ["application_credential"], "application_credential": proof});
        assert_eq!(known(&credential), identity);
        let Login { url, scope, .. } = login(&credential);
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
        let straight = |given: &[(&str, &str)]| match entry(&values(given)).unwrap() {
            Entry::Straight { endpoint, headers } => {
                let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
                (endpoint, names.join(" "))
            }
            Entry::Login(_) => panic!("a login"),
        };
        let none = [("auth_type", "none"), ("endpoint", "http://h/v1/"), ("project_id", "p")];
        assert_eq!(straight(&none), ("http://h/v1/p".into(), "".into()));
        let token =
            [("token", "t"), ("endpoint", "http://h/v1/%(tenant_id)s"), ("project_id", "p")];
        assert_eq!(straight(&token), ("http://h/v1/p".into(), "x-auth-token".into()));
        let user = [("endpoint", "http://h"), ("username", "u"), ("password", "p")];
        let by_hand = [&user[..], &[("no_client_auth", "1")]].concat();
        assert_eq!(straight(&by_hand), ("http://h".into(), "x-auth-user x-auth-key".into()));
        let http = [&user[..], &[("auth_type", "http_basic")]].concat();
        assert_eq!(straight(&http), ("http://h".into(), "authorization".into()));
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
            let Proof::Vouched(path, Grant::Asked(_)) = &login.proof else { panic!("{login:?}") };
            let expected = "/OS-FEDERATION/identity_providers/corp/protocols/openid/auth";
            assert_eq!(path, expected);
            assert_eq!(login.scope, Some(json!({"project": {"id": "x"}})));
        }
        let given = [&provider[..], &[("auth_type", "v3oidcaccesstoken"), ("access_token", "t")]];
        let Proof::Vouched(_, Grant::Given(token)) = login(&given.concat()).proof else {
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
        let Login { scope, bearer, .. } = login(&client);
        assert!(scope.is_none() && bearer.is_some());
    }

    #[test]
    fn what_is_missing_is_named_with_the_way_to_give_it() {
        let wrong = |given: &[(&str, &str)]| entry(&values(given)).unwrap_err();
        let at = ("auth_url", "http://k");
        for (given, text) in [
            (&[at][..], "Logging in needs the user."),
            (&[at, ("username", "u")], "Logging in needs the password."),
            (
                &[("auth_type", "none")],
                "Logging in needs the endpoint of the orchestration service.",
            ),
            (&[("auth_type", "v3token"), at], "Logging in needs the token."),
            (
                &[("auth_type", "v3oidcclientcredentials"), at],
                "Logging in needs the address at which the identity provider tells about itself.",
            ),
            (&[("auth_type", "v3kerberos"), at], "Kiln cannot log in with auth_type v3kerberos."),
        ] {
            let problem = wrong(given);
            assert_eq!(problem.text, text);
            assert!(problem.next.is_some());
        }
        let asked = |given: &[(&str, &str)]| to_be_asked(&values(given));
        assert_eq!(asked(&USER), []);
        assert_eq!(asked(&USER[..2]), [("password", "Password: ")]);
        assert_eq!(asked(&USER[..1]), [], "the user comes first");
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", entry(&values(&USER)).unwrap());
        assert!(shown.contains("******") && !shown.contains("\"p\""), "{shown}");
        let token = [("token", "hush"), ("endpoint", "http://h")];
        assert!(!format!("{:?}", entry(&values(&token)).unwrap()).contains("hush"));
    }
}
