//! The configuration of os-collect-config: from files, from arguments and, for the agent, from the metadata itself.

use crate::files;
use crate::host::Host;
use crate::ini::Ini;
use crate::json;
use crate::options::{Args, Flag, switch, value};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) const FLAGS: &[Flag] = &[
    value("config-file", None, "A configuration file; may be repeated."),
    value("config-dir", None, "A directory of configuration files."),
    switch("debug", Some('d'), "Print debug messages."),
    value("command", Some('c'), "The command to run when the metadata changes."),
    value("cachedir", None, "The cache directory."),
    value("backup-cachedir", None, "The directory for a copy of the cache."),
    value("collectors", None, "A source; may be repeated."),
    switch("one-time", None, "Exit after one round."),
    switch("force", None, "Run the command even without a change, then exit."),
    switch("print", None, "Print the metadata instead of running the command."),
    switch("print-cachedir", None, "Print the cache directory, and exit."),
    value("polling-interval", Some('i'), "The maximal pause in seconds."),
    value("min-polling-interval", None, "The minimal pause in seconds."),
    value("splay", None, "The maximal random delay in seconds before the first round."),
    value("deployment-key", None, "A key with deployments; may be repeated."),
    value("heat-local-path", None, "A file with metadata from the first boot."),
    value("ec2-metadata-url", None, "The URL of the EC2 metadata service."),
    value("ec2-timeout", None, "The time limit in seconds for this source."),
    value("cfn-metadata-url", None, "The URL of the CloudFormation API."),
    value("cfn-heat-metadata-hint", None, "A file with the URL of the CloudFormation API."),
    value("cfn-stack-name", None, "The stack."),
    value("cfn-path", None, "The path of the metadata: Resource.Metadata[.key]."),
    value("cfn-access-key-id", None, "The access key."),
    value("cfn-secret-access-key", None, "The secret of the access key."),
    value("cfn-ca-certificate", None, "A file with the trusted certificates."),
    value("cfn-deployment-key", None, "The older name of --deployment-key."),
    value("cfn-timeout", None, "The time limit in seconds for this source."),
    value("heat-auth-url", None, "The URL of the identity service."),
    value("heat-user-id", None, "The id of the user."),
    value("heat-password", None, "The password of the user."),
    value("heat-project-id", None, "The id of the project."),
    value("heat-stack-id", None, "The stack as name/id."),
    value("heat-resource-name", None, "The resource."),
    value("heat-region-name", None, "The region."),
    value("request-metadata-url", None, "The URL of the metadata."),
    value("request-timeout", None, "The time limit in seconds for this source."),
    value("zaqar-auth-url", None, "The URL of the identity service."),
    value("zaqar-user-id", None, "The id of the user."),
    value("zaqar-password", None, "The password of the user."),
    value("zaqar-project-id", None, "The id of the project."),
    value("zaqar-queue-id", None, "The queue."),
    value("zaqar-region-name", None, "The region."),
    switch(
        "zaqar-use-websockets",
        None,
        "Accepted for compatibility: the queue is polled over HTTP.",
    ),
    switch("zaqar-ssl-certificate-validation", None, "Require a valid TLS certificate."),
    value("zaqar-ca-file", None, "A file with the trusted certificates."),
    value("local-path", None, "A directory with metadata."),
    value("keystone-cache-dir", None, "Accepted for compatibility: tokens are kept in memory."),
    value("keystone-cache-ttl", None, "Accepted for compatibility and ignored."),
];

/// The sections, longer names first.
const SECTIONS: [&str; 8] =
    ["heat_local", "keystone", "request", "zaqar", "local", "heat", "cfn", "ec2"];

/// The maximal pause or time limit.
const MAX_SECONDS: u64 = 24 * 3600;

/// The merged configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Config {
    files: BTreeMap<(String, String), Vec<String>>,
    arguments: BTreeMap<(String, String), Vec<String>>,
}

impl Config {
    /// Reads the files and applies the arguments over them.
    pub(crate) fn read(host: &Host, args: &Args) -> Config {
        let mut config = Config::default();
        for path in paths(host, args) {
            let text = files::text(&path).unwrap_or_default();
            let mut of_file: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
            for (section, key, value) in Ini::parse(&text).rows() {
                let key = (section.to_owned(), key.replace('-', "_"));
                of_file.entry(key).or_default().push(value.to_owned());
            }
            config.files.extend(of_file);
        }
        for (flag, value) in args.flags() {
            config.arguments.entry(target(flag)).or_default().push(value.to_owned());
        }
        if !args.rest.is_empty() {
            config.arguments.insert(("DEFAULT".into(), "collectors".into()), args.rest.clone());
        }
        config
    }

    /// Applies the collector's section of the metadata over the files; null values are ignored.
    pub(crate) fn overlay(&mut self, block: &Value) {
        for (key, value) in json::map(block).into_iter().flatten() {
            match value {
                Value::Object(section) => {
                    for (inner, value) in section {
                        self.set(key, inner, value);
                    }
                }
                value => self.set("DEFAULT", key, value),
            }
        }
    }

    fn set(&mut self, section: &str, key: &str, value: &Value) {
        let entry = (section.to_owned(), key.to_owned());
        let values = match value {
            Value::Null => {
                self.files.remove(&entry);
                return;
            }
            Value::Array(items) => items.iter().map(json::plain).collect(),
            value => vec![json::plain(value)],
        };
        self.files.insert(entry, values);
    }

    /// Returns the value of a key, if it is not empty.
    pub(crate) fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.all(section, key).last().map(String::as_str).filter(|it| !it.is_empty())
    }

    /// Returns all values of a key.
    pub(crate) fn all(&self, section: &str, key: &str) -> &[String] {
        let entry = (section.to_owned(), key.to_owned());
        let found = self.arguments.get(&entry).or_else(|| self.files.get(&entry));
        found.map_or(&[], Vec::as_slice)
    }

    /// Reports whether a key is true.
    pub(crate) fn is(&self, section: &str, key: &str) -> bool {
        let value = self.get(section, key).unwrap_or_default().to_lowercase();
        ["true", "yes", "on", "1"].contains(&value.as_str())
    }

    /// Returns a number of seconds, at most a day.
    pub(crate) fn seconds(&self, section: &str, key: &str, default: u64) -> u64 {
        let configured = self.get(section, key).and_then(|it| it.parse().ok());
        configured.unwrap_or(default).min(MAX_SECONDS)
    }

    /// Returns the values of several keys; `None` if one is missing.
    pub(crate) fn every<const N: usize>(
        &self,
        section: &str,
        keys: [&str; N],
    ) -> Option<[&str; N]> {
        let mut values = [""; N];
        for (value, key) in values.iter_mut().zip(keys) {
            *value = self.get(section, key)?;
        }
        Some(values)
    }
}

/// Returns the configuration files, in order.
pub(crate) fn paths(host: &Host, args: &Args) -> Vec<PathBuf> {
    let configured: Vec<PathBuf> = args.all("config-file").map(|path| host.path(path)).collect();
    let mut all = configured.clone();
    if configured.is_empty() {
        let home = host.variable("HOME").unwrap_or("/root");
        for base in ["/etc", home] {
            let file = host.path(format!("{base}/os-collect-config.conf"));
            all.push(file.clone());
            all.extend(with_timeout(&PathBuf::from(format!("{}.d", file.display()))));
        }
    }
    for folder in args.all("config-dir") {
        all.extend(with_timeout(&host.path(folder)));
    }
    all.retain(|path| path.is_file());
    all
}

fn with_timeout(folder: &std::path::Path) -> Vec<PathBuf> {
    let names = files::names(folder).into_iter().filter(|name| name.ends_with(".conf"));
    names.map(|name| folder.join(name)).collect()
}

/// Returns the section and the key that a flag sets.
fn target(flag: &str) -> (String, String) {
    let flag = flag.replace('-', "_");
    for section in SECTIONS {
        if let Some(key) = flag.strip_prefix(section).and_then(|rest| rest.strip_prefix('_')) {
            return (section.into(), key.into());
        }
    }
    ("DEFAULT".into(), flag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn flags_stand_for_keys_of_sections() {
        let is = |flag: &str, section: &str, key: &str| {
            assert_eq!(target(flag), (section.to_owned(), key.to_owned()));
        };
        is("cfn-stack-name", "cfn", "stack_name");
        is("heat-local-path", "heat_local", "path");
        is("heat-auth-url", "heat", "auth_url");
        is("polling-interval", "DEFAULT", "polling_interval");
    }

    #[test]
    fn what_is_null_in_metadata_is_not_there() {
        let mut config = Config::default();
        config.overlay(
            &json!({"collectors": ["ec2", "cfn"], "cfn": {"stack_name": "web", "path": "x"}}),
        );
        assert_eq!(config.all("DEFAULT", "collectors"), ["ec2", "cfn"]);
        config.overlay(&json!({"cfn": {"stack_name": null}, "polling_interval": 5}));
        assert_eq!(config.every("cfn", ["stack_name", "path"]), None);
        assert_eq!(config.seconds("DEFAULT", "polling_interval", 30), 5);
        config.overlay(&json!({"polling_interval": u64::MAX}));
        assert_eq!(config.seconds("DEFAULT", "polling_interval", 30), MAX_SECONDS);
    }
}
