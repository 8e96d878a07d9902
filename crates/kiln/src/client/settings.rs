//! The settings of a session, from options, variables and clouds.yaml.
//!
//! Options take precedence over variables, variables over clouds.yaml.

use super::auth_method::{AuthMethod, auth_method};
use super::clouds::{Clouds, Values};
use super::connection::Connection;
use super::environment::ProcessEnvironment;
use super::error::{ClientError, Result};
use std::time::Duration;

/// The default timeout of a request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(300);

/// The settings of a session.
#[derive(Debug)]
pub(crate) struct SessionSettings {
    /// An authentication method with its settings.
    pub(crate) auth_method: AuthMethod,
    /// The choice of the endpoint.
    pub(crate) choice: EndpointChoice,
    /// The settings of connections.
    pub(crate) transport: ConnectionSettings,
}

/// The choice of an endpoint in the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointChoice {
    /// The type of the service.
    pub(crate) service: String,
    /// `public`, `internal` or `admin`.
    pub(crate) interface: String,
    /// The region; `None` for any.
    pub(crate) region: Option<String>,
}

/// The settings of connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionSettings {
    /// The file with CA certificates.
    pub(crate) cacert: Option<String>,
    /// The file with the client certificate.
    pub(crate) cert: Option<String>,
    /// The file with the key of the client certificate.
    pub(crate) key: Option<String>,
    /// Whether TLS certificates are not verified.
    pub(crate) insecure: bool,
    /// The timeout of a request.
    pub(crate) timeout: Duration,
}

impl SessionSettings {
    /// Builds the settings from values by name.
    pub(crate) fn from_values(values: &Values) -> Result<SessionSettings> {
        let get = |name: &str| values.get(name).filter(|value| !value.is_empty()).cloned();
        let version = get("orchestration_api_version").unwrap_or_else(|| "1".into());
        if !matches!(&*version, "1" | "1.0" | "v1") {
            let text = format!("There is no version {version} of the orchestration API.");
            return Err(ClientError::new(text).next("Omit the version, or use 1."));
        }
        let is_false = |name: &str| get(name).is_some_and(|value| is_word(&value, FALSE));
        let is_true = |name: &str| get(name).is_some_and(|value| is_word(&value, TRUE));
        let seconds = get("api_timeout").and_then(|seconds| seconds.parse().ok());
        let interface = get("interface").or_else(|| get("endpoint_type"));
        let interface = interface.map_or_else(|| "public".into(), |name| name.to_lowercase());
        Ok(SessionSettings {
            auth_method: auth_method(values)?,
            choice: EndpointChoice {
                service: get("service_type").unwrap_or_else(|| "orchestration".into()),
                interface: interface.strip_suffix("url").unwrap_or(&interface).to_owned(),
                region: get("region_name"),
            },
            transport: ConnectionSettings {
                cacert: get("cacert"),
                cert: get("cert"),
                key: get("key"),
                insecure: is_true("insecure") || is_false("verify"),
                timeout: seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
            },
        })
    }
}

const TRUE: [&str; 6] = ["1", "t", "true", "on", "y", "yes"];
const FALSE: [&str; 6] = ["0", "f", "false", "off", "n", "no"];

fn is_word(value: &str, words: [&str; 6]) -> bool {
    words.contains(&&*value.to_lowercase())
}

/// All values by name, from options, variables and clouds.yaml.
pub(crate) fn values(connection: &Connection, environment: &ProcessEnvironment) -> Result<Values> {
    let setting = |(name, value): (&String, &String)| {
        Some((name.strip_prefix("OS_")?.to_lowercase(), value.clone()))
    };
    let mut own: Values = environment.variables.iter().filter_map(setting).collect();
    for (variable, name) in
        [("HEAT_URL", "endpoint"), ("HEAT_API_VERSION", "orchestration_api_version")]
    {
        if let Some(value) = environment.get(variable) {
            own.entry(name.into()).or_insert_with(|| value.to_owned());
        }
    }
    own.extend(connection.values());
    let clouds = Clouds::read(environment)?;
    let named = connection.cloud.as_deref().or_else(|| environment.get("OS_CLOUD"));
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

fn no_cloud(clouds: &Clouds) -> ClientError {
    let names: Vec<&str> = clouds.names().collect();
    let next = match &*names {
        [] => "Set OS_CLOUD to a cloud of your clouds.yaml, or OS_AUTH_URL, OS_USERNAME, \
               OS_PASSWORD and OS_PROJECT_NAME."
            .to_owned(),
        names => format!("Choose one with OS_CLOUD or --os-cloud: {}", names.join(", ")),
    };
    ClientError::new("No cloud is selected.").next(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_names_are_taken_as_others_write_them() {
        let given = [
            ("auth_url", "http://k:5000"),
            ("username", "u"),
            ("password", "p"),
            ("endpoint_type", "internalURL"),
            ("verify", "False"),
            ("region_name", "r"),
        ];
        let values = given.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let SessionSettings { choice, transport, .. } =
            SessionSettings::from_values(&values).unwrap();
        let expected = EndpointChoice {
            service: "orchestration".into(),
            interface: "internal".into(),
            region: Some("r".into()),
        };
        assert_eq!((choice, transport.insecure), (expected, true));
    }
}
