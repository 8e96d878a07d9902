//! `clouds.yaml`: named clouds and their credentials.
//!
//! The first file found is used. `secure.yaml` overrides it; a cloud's `profile` supplies defaults.

use super::environment::ProcessEnvironment;
use super::error::{ClientError, Result};
use kiln_template::{FileId, Limits, Members, Value, print, read, suggest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Settings by name, as the variables `OS_…` name them in lower case: `auth_url`, `region_name`.
pub(crate) type Values = BTreeMap<String, String>;

/// The clouds of the configuration files.
#[derive(Debug, Default)]
pub(crate) struct Clouds {
    /// The `clouds.yaml` that was found.
    file: Option<PathBuf>,
    clouds: Members,
    profiles: Members,
}

impl Clouds {
    /// Reads the files that exist.
    pub(crate) fn read(environment: &ProcessEnvironment) -> Result<Clouds> {
        let file = find(environment, "OS_CLIENT_CONFIG_FILE", "clouds");
        let mut document = file.as_deref().map_or(Ok(Value::Null), document)?;
        if let Some(file) = find(environment, "OS_CLIENT_SECURE_FILE", "secure") {
            document = overlaid(&document, &self::document(&file)?);
        }
        let public = find(environment, "OS_CLIENT_VENDOR_FILE", "clouds-public");
        let public = public.as_deref().map_or(Ok(Value::Null), self::document)?;
        let section = |document: &Value, name: &str| {
            let section = document.as_map().and_then(|document| document.get(name));
            section.and_then(Value::as_map).cloned().unwrap_or_default()
        };
        Ok(Clouds {
            file,
            clouds: section(&document, "clouds"),
            profiles: section(&public, "public-clouds"),
        })
    }

    /// The default cloud: the only one that is configured.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.clouds.len() {
            1 => self.clouds.keys().next().map(|name| &**name),
            _ => None,
        }
    }

    /// The names of all clouds.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.clouds.keys().map(|name| &**name)
    }

    /// The settings of a cloud.
    pub(crate) fn get(&self, name: &str) -> Result<Values> {
        let Some(cloud) = self.clouds.get(name) else { return Err(self.unknown(name)) };
        let member = |key: &str| cloud.as_map().and_then(|cloud| cloud.get(key));
        let mut whole = cloud.clone();
        if let Some(profile) = member("profile").and_then(Value::as_text) {
            let Some(known) = self.profiles.get(profile) else {
                let text = format!("The profile {profile} of cloud {name} was not found.");
                let next = "Write it into clouds-public.yaml under public-clouds, or write what it \
                            stands for, such as auth_url, into the cloud's own entry.";
                return Err(ClientError::new(text).next(next));
            };
            whole = overlaid(known, cloud);
        }
        Ok(flat(&whole))
    }

    fn unknown(&self, name: &str) -> ClientError {
        let problem = ClientError::new(format!("Cloud {name} was not found."));
        let Some(file) = &self.file else {
            return problem.next(
                "There is no clouds.yaml in this directory, in ~/.config/openstack or in \
                 /etc/openstack.",
            );
        };
        let file = file.display();
        let known: Vec<&str> = self.names().collect();
        problem.next(match suggest::did_you_mean(name, known.iter().copied()) {
            Some(help) => format!("{help} (in {file})"),
            None => format!("{file} has: {}", known.join(", ")),
        })
    }
}

/// The file that a variable names, or the first one in the usual directories.
fn find(environment: &ProcessEnvironment, variable: &str, stem: &str) -> Option<PathBuf> {
    if let Some(named) = environment.get(variable) {
        return Some(environment.directory.join(named));
    }
    let names = |directory: PathBuf| {
        ["yaml", "yml", "json"].map(|kind| directory.join(format!("{stem}.{kind}")))
    };
    environment.config_directories().into_iter().flat_map(names).find(|file| file.is_file())
}

fn document(file: &Path) -> Result<Value> {
    let refused = |why: &str| {
        ClientError::new(format!("cannot use {}: {why}", file.display()))
            .next("Fix the file, or select another one with OS_CLIENT_CONFIG_FILE.")
    };
    let bytes = std::fs::read(file).map_err(|error| refused(&error.to_string()))?;
    let (node, found) = read::read_bytes(FileId::default(), &bytes, &Limits::default());
    match node {
        Some(node) => Ok(Value::from(&node)),
        None => Err(refused(found.last().map_or("it is no YAML", |last| &last.message))),
    }
}

/// Merges two documents: maps key by key, other values replace each other.
fn overlaid(below: &Value, above: &Value) -> Value {
    let (Value::Map(below), Value::Map(above)) = (below, above) else {
        return if above.is_null() { below.clone() } else { above.clone() };
    };
    let mut merged = (**below).clone();
    for (key, value) in above.iter() {
        let value = merged.get(key).map_or_else(|| value.clone(), |old| overlaid(old, value));
        merged.insert(key.clone(), value);
    }
    Value::Map(Arc::new(merged))
}

/// The settings of a cloud as a flat map; members of `auth` move to the top level.
fn flat(cloud: &Value) -> Values {
    let mut values = Values::new();
    let members = cloud.as_map().into_iter().flatten();
    for (key, value) in members.clone() {
        match (&**key, value) {
            ("auth", _) => {}
            // The first of several regions is the default.
            ("regions", Value::List(regions)) => {
                let first = regions.first();
                let name = first.and_then(|region| region.as_map()?.get("name")).or(first);
                if let Some(name) = name.and_then(Value::as_text) {
                    values.entry("region_name".into()).or_insert(name.to_string());
                }
            }
            (_, Value::Null | Value::Map(_) | Value::List(_)) => {}
            (key, value) => _ = values.insert(key.to_owned(), print::plain(value)),
        }
    }
    let auth = members.filter(|(key, _)| &***key == "auth").filter_map(|(_, auth)| auth.as_map());
    for (key, value) in auth.flatten().filter(|(_, value)| !value.is_null()) {
        values.insert(key.to_string(), print::plain(value));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        let (node, _) = read::read(FileId::default(), text, &Limits::default());
        Value::from(&node.unwrap())
    }

    #[test]
    fn a_cloud_is_its_entry_over_its_profile() {
        let cloud = value(
            "{profile: big, verify: false, regions: [{name: a}, b], \
             auth: {username: me, user_domain_id: null}}",
        );
        let profile = value("{auth: {auth_url: 'http://k', username: x}, interface: public}");
        let clouds = Clouds {
            file: None,
            clouds: [("mine".into(), cloud)].into_iter().collect(),
            profiles: [("big".into(), profile)].into_iter().collect(),
        };
        assert_eq!(clouds.only(), Some("mine"));
        let found = clouds.get("mine").unwrap();
        let expected = [
            ("auth_url", "http://k"),
            ("interface", "public"),
            ("profile", "big"),
            ("region_name", "a"),
            ("username", "me"),
            ("verify", "False"),
        ];
        assert_eq!(found, expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        assert_eq!(clouds.get("yours").unwrap_err().text, "Cloud yours was not found.");
    }
}
