//! From options, variables and clouds.yaml to what a session needs to know.
//!
//! An option counts more than a variable, a variable more than clouds.yaml.

use super::clouds::{Clouds, Values};
use super::connection::Connection;
use super::entry::{Entry, entry};
use super::problem::{Problem, Result};
use super::surroundings::Surroundings;
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
    /// What settings come to.
    pub(crate) fn of(values: &Values) -> Result<Settings> {
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

/// All settings by name, from options, variables and clouds.yaml.
pub(crate) fn values(connection: &Connection, surroundings: &Surroundings) -> Result<Values> {
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
        let Settings { choice, transport, .. } = Settings::of(&values).unwrap();
        let expected = Choice {
            service: "orchestration".into(),
            interface: "internal".into(),
            region: Some("r".into()),
        };
        assert_eq!((choice, transport.insecure), (expected, true));
    }
}
