//! What os-collect-config is told: by files, by arguments, and for the agent by the metadata itself.

use crate::files;
use crate::host::Host;
use crate::ini::Ini;
use crate::json;
use crate::options::{Flag, Given, switch, value};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) const FLAGS: &[Flag] = &[
    value("config-file", None, "A file with settings; may be given more than once."),
    value("config-dir", None, "A folder of files with settings."),
    switch("debug", Some('d'), "Say more."),
    value("command", Some('c'), "What is run when something changed."),
    value("cachedir", None, "Where metadata is kept."),
    value("backup-cachedir", None, "Where a copy of that is kept."),
    value("collectors", None, "A source; may be given more than once."),
    switch("one-time", None, "End after one round."),
    switch("force", None, "Run the command even if nothing changed; end then."),
    switch("print", None, "Print metadata instead of running the command."),
    switch("print-cachedir", None, "Print where metadata is kept, and end."),
    value("polling-interval", Some('i'), "The longest pause, in seconds."),
    value("min-polling-interval", None, "The shortest pause, in seconds."),
    value("splay", None, "Wait at random before the first round, no longer than so many seconds."),
    value("deployment-key", None, "A key with deployments; may be given more than once."),
    value("heat-local-path", None, "A file with metadata from the first boot."),
    value("ec2-metadata-url", None, "Where the compute service tells of the server."),
    value("ec2-timeout", None, "How long that may take."),
    value("cfn-metadata-url", None, "Where the CloudFormation API is."),
    value("cfn-heat-metadata-hint", None, "A file that tells where it is."),
    value("cfn-stack-name", None, "The stack."),
    value("cfn-path", None, "Which metadata: Resource.Metadata[.key]."),
    value("cfn-access-key-id", None, "The key to sign with."),
    value("cfn-secret-access-key", None, "The secret of that key."),
    value("cfn-ca-certificate", None, "A file with the certificates to trust."),
    value("cfn-deployment-key", None, "The older name of --deployment-key."),
    value("cfn-timeout", None, "How long that may take."),
    value("heat-auth-url", None, "Where the identity service is."),
    value("heat-user-id", None, "Who asks."),
    value("heat-password", None, "Their password."),
    value("heat-project-id", None, "Their project."),
    value("heat-stack-id", None, "The stack: name/id."),
    value("heat-resource-name", None, "The resource."),
    value("heat-region-name", None, "The region."),
    value("request-metadata-url", None, "Where metadata is left."),
    value("request-timeout", None, "How long that may take."),
    value("zaqar-auth-url", None, "Where the identity service is."),
    value("zaqar-user-id", None, "Who asks."),
    value("zaqar-password", None, "Their password."),
    value("zaqar-project-id", None, "Their project."),
    value("zaqar-queue-id", None, "The queue."),
    value("zaqar-region-name", None, "The region."),
    switch("zaqar-use-websockets", None, "Taken and not needed: the queue is asked over HTTP."),
    switch("zaqar-ssl-certificate-validation", None, "Believe nobody without a certificate."),
    value("zaqar-ca-file", None, "A file with the certificates to trust."),
    value("local-path", None, "A folder with metadata."),
    value("keystone-cache-dir", None, "Taken and not needed: tokens are kept in memory."),
    value("keystone-cache-ttl", None, "Taken and not needed."),
];

/// Sections, the longer names first.
const SECTIONS: [&str; 8] =
    ["heat_local", "keystone", "request", "zaqar", "local", "heat", "cfn", "ec2"];

/// Everything that was told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Settings {
    files: BTreeMap<(String, String), Vec<String>>,
    arguments: BTreeMap<(String, String), Vec<String>>,
}

impl Settings {
    /// Reads files, and lays arguments over them.
    pub(crate) fn read(host: &Host, given: &Given) -> Settings {
        let mut settings = Settings::default();
        for path in paths(host, given) {
            let text = files::text(&path).unwrap_or_default();
            let mut of_file: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
            for (section, key, value) in Ini::parse(&text).rows() {
                let key = (section.to_owned(), key.replace('-', "_"));
                of_file.entry(key).or_default().push(value.to_owned());
            }
            settings.files.extend(of_file);
        }
        for (flag, value) in given.flags() {
            settings.arguments.entry(target(flag)).or_default().push(value.to_owned());
        }
        if !given.rest.is_empty() {
            settings.arguments.insert(("DEFAULT".into(), "collectors".into()), given.rest.clone());
        }
        settings
    }

    /// Lays what metadata says of collecting over what files say; null is as if it were not there.
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
        let place = (section.to_owned(), key.to_owned());
        let values = match value {
            Value::Null => {
                self.files.remove(&place);
                return;
            }
            Value::Array(items) => items.iter().map(json::plain).collect(),
            value => vec![json::plain(value)],
        };
        self.files.insert(place, values);
    }

    /// A value that says something.
    pub(crate) fn get(&self, section: &str, key: &str) -> Option<&str> {
        self.all(section, key).last().map(String::as_str).filter(|it| !it.is_empty())
    }

    /// All values of a key.
    pub(crate) fn all(&self, section: &str, key: &str) -> &[String] {
        let place = (section.to_owned(), key.to_owned());
        let found = self.arguments.get(&place).or_else(|| self.files.get(&place));
        found.map_or(&[], Vec::as_slice)
    }

    /// Whether a key says yes.
    pub(crate) fn is(&self, section: &str, key: &str) -> bool {
        let value = self.get(section, key).unwrap_or_default().to_lowercase();
        ["true", "yes", "on", "1"].contains(&value.as_str())
    }

    /// A number.
    pub(crate) fn number(&self, section: &str, key: &str, usual: u64) -> u64 {
        self.get(section, key).and_then(|it| it.parse().ok()).unwrap_or(usual)
    }

    /// All of several keys, or nothing if one is missing.
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

/// The files that are read, in their order.
pub(crate) fn paths(host: &Host, given: &Given) -> Vec<PathBuf> {
    let told: Vec<PathBuf> = given.all("config-file").map(|path| host.path(path)).collect();
    let mut all = told.clone();
    if told.is_empty() {
        let home = host.variable("HOME").unwrap_or("/root");
        for base in ["/etc", home] {
            let file = host.path(format!("{base}/os-collect-config.conf"));
            all.push(file.clone());
            all.extend(within(&PathBuf::from(format!("{}.d", file.display()))));
        }
    }
    for folder in given.all("config-dir") {
        all.extend(within(&host.path(folder)));
    }
    all.retain(|path| path.is_file());
    all
}

fn within(folder: &std::path::Path) -> Vec<PathBuf> {
    let names = files::names(folder).into_iter().filter(|name| name.ends_with(".conf"));
    names.map(|name| folder.join(name)).collect()
}

/// The section and the key that a flag stands for.
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
        let mut settings = Settings::default();
        settings.overlay(
            &json!({"collectors": ["ec2", "cfn"], "cfn": {"stack_name": "web", "path": "x"}}),
        );
        assert_eq!(settings.all("DEFAULT", "collectors"), ["ec2", "cfn"]);
        settings.overlay(&json!({"cfn": {"stack_name": null}, "polling_interval": 5}));
        assert_eq!(settings.every("cfn", ["stack_name", "path"]), None);
        assert_eq!(settings.number("DEFAULT", "polling_interval", 30), 5);
    }
}
