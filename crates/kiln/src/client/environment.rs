//! The process environment: variables, home and working directory.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Environment variables and the working directory.
#[derive(Clone, Default)]
pub(crate) struct ProcessEnvironment {
    /// The environment variables that are valid text and not empty.
    pub(crate) variables: BTreeMap<String, String>,
    /// The working directory.
    pub(crate) directory: PathBuf,
}

impl ProcessEnvironment {
    /// The environment of this process.
    pub(crate) fn from_process() -> ProcessEnvironment {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables = std::env::vars_os().filter_map(text).filter(|(_, value)| !value.is_empty());
        ProcessEnvironment {
            variables: variables.collect(),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The directories that are searched for OpenStack configuration, in order of precedence.
    pub(crate) fn config_directories(&self) -> Vec<PathBuf> {
        let mut all = vec![self.directory.clone()];
        match (self.get("XDG_CONFIG_HOME"), self.get("HOME")) {
            (Some(config), _) => all.push(PathBuf::from(config).join("openstack")),
            (None, Some(home)) => all.push(PathBuf::from(home).join(".config/openstack")),
            (None, None) => {}
        }
        let sites = self.get("XDG_CONFIG_DIRS").unwrap_or("/etc/xdg");
        all.extend(sites.split(':').map(|site| PathBuf::from(site).join("openstack")));
        all.push("/etc/openstack".into());
        all
    }
}
