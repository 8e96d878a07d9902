//! What the client takes from around the process: variables, the home and the working directory.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Variables and directories.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    /// The environment variables that are text and not empty.
    pub(crate) variables: BTreeMap<String, String>,
    /// The working directory.
    pub(crate) directory: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Surroundings {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables = std::env::vars_os().filter_map(text).filter(|(_, value)| !value.is_empty());
        Surroundings {
            variables: variables.collect(),
            directory: std::env::current_dir().unwrap_or_default(),
        }
    }

    /// A variable that is set and not empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// The directories in which configuration of OpenStack is looked for, the most special first.
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
