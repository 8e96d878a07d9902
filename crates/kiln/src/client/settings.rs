//! From options, variables and clouds.yaml to what a session needs to know.
//!
//! An option counts more than a variable, a variable more than clouds.yaml.

use super::clouds::{Clouds, Values};
use super::connection::Connection;
use super::problem::{Problem, Result};
use super::secret::Secret;
use super::surroundings::Surroundings;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A request that takes longer than this is given up, unless the user says otherwise.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a session needs to know.
#[derive(Debug)]
pub(crate) struct Settings {
    /// How to get in.
    pub(crate) entry: Entry,
    /// Which of several endpoints.
    pub(crate) choice: Choice,
    /// How connections are made.
    pub(crate) transport: Transport,
}

/// How to get in.
#[derive(Debug)]
pub(crate) enum Entry {
    /// With a token from the identity service, asked for with this body.
    Login {
        /// Where the identity service is, with its version.
        url: String,
        /// The body of the request. It holds secrets.
        body: Body,
        /// The endpoint to use whatever the catalogue says.
        endpoint: Option<String>,
    },
    /// Straight to an endpoint, with what these headers prove.
    Straight {
        /// The endpoint.
        endpoint: String,
        /// The headers; none if nothing has to be proved.
        headers: Vec<(&'static str, Secret)>,
    },
}

/// The body of a login, which must not be shown.
pub(crate) struct Body(Value);

impl Body {
    /// The body. It holds secrets.
    pub(crate) fn expose(&self) -> &Value {
        &self.0
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("******")
    }
}

/// Which endpoint of a catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The type of the service.
    pub(crate) service: String,
    /// `public`, `internal` or `admin`.
    pub(crate) interface: String,
    /// The region; any if there is none.
    pub(crate) region: Option<String>,
}

/// How connections are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transport {
    /// Certificates to trust.
    pub(crate) cacert: Option<String>,
    /// The certificate to show.
    pub(crate) cert: Option<String>,
    /// Its key.
    pub(crate) key: Option<String>,
    /// Whether any certificate is taken for good.
    pub(crate) insecure: bool,
    /// How long a request may take.
    pub(crate) patience: Duration,
}

impl Settings {
    /// What options, variables and clouds.yaml come to.
    pub(crate) fn find(connection: &Connection, surroundings: &Surroundings) -> Result<Settings> {
        Settings::of(&values(connection, surroundings)?)
    }

    fn of(values: &Values) -> Result<Settings> {
        let get = |name: &str| values.get(name).filter(|value| !value.is_empty()).cloned();
        let version = get("orchestration_api_version").unwrap_or_else(|| "1".into());
        if !matches!(&*version, "1" | "1.0" | "v1") {
            let text = format!("There is no version {version} of the orchestration API.");
            return Err(Problem::new(text).next("Leave the version out, or say 1."));
        }
        let is_false = |name: &str| get(name).is_some_and(|value| is_word(&value, FALSE));
        let is_true = |name: &str| get(name).is_some_and(|value| is_word(&value, TRUE));
        let seconds = get("api_timeout").and_then(|seconds| seconds.parse().ok());
        let interface = get("interface").or_else(|| get("endpoint_type"));
        let interface = interface.map_or_else(|| "public".into(), |name| name.to_lowercase());
        Ok(Settings {
            entry: entry(values)?,
            choice: Choice {
                service: get("service_type").unwrap_or_else(|| "orchestration".into()),
                interface: interface.strip_suffix("url").unwrap_or(&interface).to_owned(),
                region: get("region_name"),
            },
            transport: Transport {
                cacert: get("cacert"),
                cert: get("cert"),
                key: get("key"),
                insecure: is_true("insecure") || is_false("verify"),
                patience: seconds.map_or(PATIENCE, Duration::from_secs),
            },
        })
    }
}

const TRUE: [&str; 6] = ["1", "t", "true", "on", "y", "yes"];
const FALSE: [&str; 6] = ["0", "f", "false", "off", "n", "no"];

fn is_word(value: &str, words: [&str; 6]) -> bool {
    words.contains(&&*value.to_lowercase())
}

/// All settings by name.
fn values(connection: &Connection, surroundings: &Surroundings) -> Result<Values> {
    let setting = |(name, value): (&String, &String)| {
        Some((name.strip_prefix("OS_")?.to_lowercase(), value.clone()))
    };
    let mut own: Values = surroundings.variables.iter().filter_map(setting).collect();
    for (variable, name) in
        [("HEAT_URL", "endpoint"), ("HEAT_API_VERSION", "orchestration_api_version")]
    {
        if let Some(value) = surroundings.get(variable) {
            own.entry(name.into()).or_insert_with(|| value.to_owned());
        }
    }
    own.extend(connection.values());
    let clouds = Clouds::read(surroundings)?;
    let named = connection.cloud.as_deref().or_else(|| surroundings.get("OS_CLOUD"));
    let is_enough = ["auth_url", "endpoint"].iter().any(|name| own.contains_key(*name));
    let cloud = named.or_else(|| if is_enough { None } else { clouds.only() });
    let mut all = match cloud {
        Some("envvars") | None => Values::new(),
        Some(name) => clouds.get(name)?,
    };
    if cloud.is_none() && !is_enough {
        return Err(no_cloud(&clouds));
    }
    all.extend(own);
    Ok(all)
}

fn no_cloud(clouds: &Clouds) -> Problem {
    let names: Vec<&str> = clouds.names().collect();
    let next = match &*names {
        [] => "Set OS_CLOUD to a cloud of your clouds.yaml, or OS_AUTH_URL, OS_USERNAME, \
               OS_PASSWORD and OS_PROJECT_NAME."
            .to_owned(),
        names => format!("Choose one with OS_CLOUD or --os-cloud: {}", names.join(", ")),
    };
    Problem::new("No cloud is named.").next(next)
}

/// How to get in.
fn entry(values: &Values) -> Result<Entry> {
    let get = |name: &str| values.get(name).filter(|value| !value.is_empty()).cloned();
    let endpoint = ["orchestration_endpoint_override", "endpoint_override", "endpoint", "url"]
        .iter()
        .find_map(|name| get(name))
        .map(|endpoint| with_project(&endpoint, get("project_id").or_else(|| get("tenant_id"))));
    let token = get("token").or_else(|| get("auth_token"));
    let auth_url = get("auth_url");
    let kind = get("auth_type").unwrap_or_else(|| match (&token, &endpoint, &auth_url) {
        _ if get("no_client_auth").is_some() && token.is_none() => "none".into(),
        (Some(_), Some(_), None) => "admin_token".into(),
        (Some(_), _, _) => "token".into(),
        _ if get("application_credential_secret").is_some() => "v3applicationcredential".into(),
        _ => "password".into(),
    });
    let secret = token.as_deref().map(Secret::from);
    match &*kind {
        "none" | "noauth" => {
            let endpoint = endpoint.ok_or_else(|| missing("endpoint"))?;
            // A service without the identity service may ask for user and password itself.
            let by_hand =
                get("no_client_auth").and_then(|_| Some((get("username")?, get("password")?)));
            let headers = by_hand.map_or_else(Vec::new, |(user, password)| {
                vec![("x-auth-user", (&*user).into()), ("x-auth-key", (&*password).into())]
            });
            Ok(Entry::Straight { endpoint, headers })
        }
        "admin_token" | "token_endpoint" => {
            let headers = vec![("x-auth-token", secret.ok_or_else(|| missing("token"))?)];
            let endpoint = endpoint.ok_or_else(|| missing("endpoint"))?;
            Ok(Entry::Straight { endpoint, headers })
        }
        kind => {
            let url = versioned(&auth_url.ok_or_else(|| missing("auth_url"))?);
            let mut auth = Map::from_iter([("identity".into(), identity(kind, &get, token)?)]);
            // An application credential has its project in itself.
            if kind != "v3applicationcredential" {
                auth.extend(scope(&get));
            }
            Ok(Entry::Login { url, body: Body(json!({ "auth": auth })), endpoint })
        }
    }
}

type Get<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Who one is, and how that is proved.
fn identity(kind: &str, get: &Get<'_>, token: Option<String>) -> Result<Value> {
    let several = get("auth_methods").unwrap_or_default();
    let kinds: Vec<&str> = match kind {
        "v3multifactor" => several.split(',').map(str::trim).collect(),
        kind => vec![kind],
    };
    let mut identity = json!({ "methods": [] });
    for kind in kinds {
        let (method, proof) = match kind {
            "password" | "v3password" => ("password", with_user(get, "password")?),
            "v3totp" | "totp" => ("totp", with_user(get, "passcode")?),
            "token" | "v3token" => {
                let token = token.clone().ok_or_else(|| missing("token"))?;
                ("token", json!({ "id": token }))
            }
            "v3applicationcredential" => ("application_credential", application_credential(get)?),
            other => {
                let text = format!("Kiln cannot log in with auth_type {other}.");
                let next = "It knows password, token, v3applicationcredential, v3totp, \
                            v3multifactor, none and admin_token.";
                return Err(Problem::new(text).next(next));
            }
        };
        if let Some(methods) = identity["methods"].as_array_mut() {
            methods.push(method.into());
        }
        identity[method] = proof;
    }
    Ok(identity)
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
fn scope(get: &Get<'_>) -> Option<(String, Value)> {
    let project_id = get("project_id").or_else(|| get("tenant_id"));
    let project_name = get("project_name").or_else(|| get("tenant_name"));
    let scope = if let Some(trust) = get("trust_id") {
        json!({ "OS-TRUST:trust": { "id": trust } })
    } else if let Some(id) = project_id {
        json!({ "project": { "id": id } })
    } else if let Some(name) = project_name {
        json!({ "project": { "name": name, "domain": domain(get, "project") } })
    } else if let Some(id) = get("domain_id") {
        json!({ "domain": { "id": id } })
    } else if let Some(name) = get("domain_name") {
        json!({ "domain": { "name": name } })
    } else if get("system_scope").is_some() {
        json!({ "system": { "all": true } })
    } else {
        return None;
    };
    Some(("scope".into(), scope))
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
fn missing(name: &str) -> Problem {
    let what = match name {
        "application_credential_id" => "id or name of the application credential",
        "application_credential_secret" => "secret of the application credential",
        "auth_url" => "address of the identity service",
        "endpoint" => "endpoint of the orchestration service",
        "passcode" => "code of the device",
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

    fn settings(given: &[(&str, &str)]) -> Settings {
        let values = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Settings::of(&values).unwrap()
    }

    fn login(given: &[(&str, &str)]) -> (String, Value) {
        match settings(given).entry {
            Entry::Login { url, body, .. } => (url, body.expose()["auth"].clone()),
            Entry::Straight { .. } => panic!("no login"),
        }
    }

    const USER: [(&str, &str); 3] =
        [("auth_url", "http://k:5000"), ("username", "u"), ("password", "p")];

    #[test]
    fn a_password_is_scoped_to_a_project() {
        let (url, auth) =
            login(&[&USER[..], &[("project_name", "x"), ("project_domain_name", "d")]].concat());
        assert_eq!(url, "http://k:5000/v3");
        let user = json!({"name": "u", "domain": {"id": "default"}, "password": "p"});
        let identity = json!({"methods": ["password"], "password": {"user": user}});
        let scope = json!({"project": {"name": "x", "domain": {"name": "d"}}});
        assert_eq!(auth, json!({"identity": identity, "scope": scope}));
    }

    #[test]
    fn trusts_tokens_and_application_credentials_are_known() {
        let (_, auth) = login(&[&USER[..], &[("trust_id", "t"), ("project_id", "x")]].concat());
        assert_eq!(auth["scope"], json!({"OS-TRUST:trust": {"id": "t"}}));
        let (url, auth) =
            login(&[("auth_url", "http://k/v3/"), ("token", "s"), ("tenant_id", "x")]);
        assert_eq!(url, "http://k/v3");
        assert_eq!(auth["identity"], json!({"methods": ["token"], "token": {"id": "s"}}));
        assert_eq!(auth["scope"], json!({"project": {"id": "x"}}));
        let credential = [
            ("auth_url", "http://k/v2.0"),
            ("application_credential_id", "i"),
            ("application_credential_secret", "s"),
            ("project_name", "x"),
        ];
        let (url, auth) = login(&credential);
        assert_eq!(url, "http://k/v3");
        let proof = json!({"id": "i", "secret": "s"});
        let identity =
            json!({"methods": ["application_credential"], "application_credential": proof});
        assert_eq!(auth, json!({"identity": identity}));
        let several = [
            ("auth_type", "v3multifactor"),
            ("auth_methods", "v3password,v3totp"),
            ("passcode", "1"),
        ];
        let (_, auth) = login(&[&USER[..], &several].concat());
        assert_eq!(auth["identity"]["methods"], json!(["password", "totp"]));
    }

    #[test]
    fn some_go_straight_to_the_endpoint() {
        let straight = |given: &[(&str, &str)]| match settings(given).entry {
            Entry::Straight { endpoint, headers } => (endpoint, headers.len()),
            Entry::Login { .. } => panic!("a login"),
        };
        let none = [("auth_type", "none"), ("endpoint", "http://h/v1/"), ("project_id", "p")];
        assert_eq!(straight(&none), ("http://h/v1/p".into(), 0));
        let token =
            [("token", "t"), ("endpoint", "http://h/v1/%(tenant_id)s"), ("project_id", "p")];
        assert_eq!(straight(&token), ("http://h/v1/p".into(), 1));
        let by_hand = [
            ("no_client_auth", "1"),
            ("endpoint", "http://h"),
            ("username", "u"),
            ("password", "p"),
        ];
        assert_eq!(straight(&by_hand), ("http://h".into(), 2));
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", settings(&USER));
        assert!(shown.contains("******") && !shown.contains("\"p\""), "{shown}");
        let token = [("token", "hush"), ("endpoint", "http://h")];
        assert!(!format!("{:?}", settings(&token)).contains("hush"));
    }

    #[test]
    fn words_and_names_are_taken_as_others_write_them() {
        let given = [
            &USER[..],
            &[("endpoint_type", "internalURL"), ("verify", "False"), ("region_name", "r")],
        ];
        let Settings { choice, transport, .. } = settings(&given.concat());
        let expected = Choice {
            service: "orchestration".into(),
            interface: "internal".into(),
            region: Some("r".into()),
        };
        assert_eq!((choice, transport.insecure), (expected, true));
        let missing =
            Settings::of(&Values::from([("auth_url".into(), "http://k".into())])).unwrap_err();
        assert_eq!(missing.text, "Logging in needs the user.");
    }
}
