//! The `clouds.yaml` that `kiln dev` writes for clients.

use crate::cli::Dev;
use crate::stdio::CommandError;
use std::path::{Path, PathBuf};

/// The first line of files that `kiln dev` wrote.
const MARK: &str = "# Written by kiln dev; it is written anew at every start.\n";

/// The path of the file.
pub(super) struct CloudsFile {
    path: PathBuf,
    /// Whether clients find the file by default.
    is_found: bool,
}

impl CloudsFile {
    /// How to use the file.
    pub(super) fn advice(&self) -> String {
        let command = "openstack --os-cloud kiln stack list";
        match self.is_found {
            true => format!("Try:  {command}    (with {} in this directory)", self.path.display()),
            false => format!("Try:  OS_CLIENT_CONFIG_FILE={} {command}", self.path.display()),
        }
    }
}

/// Writes the file to the requested path or into the working directory, but never over a file of another program.
pub(super) fn write(arguments: &Dev, identity_url: &str) -> Result<CloudsFile, CommandError> {
    let text = text(identity_url);
    let usual = Path::new("clouds.yaml");
    let path = match &arguments.clouds {
        Some(path) => path.clone(),
        None if is_ours(usual) => usual.to_owned(),
        None => "kiln-clouds.yaml".into(),
    };
    let is_found = path == usual;
    std::fs::write(&path, text).map_err(|error| {
        CommandError::Usage(format!("cannot write {}: {error}", path.display()))
    })?;
    Ok(CloudsFile { path, is_found })
}

/// Whether a file may be written: it does not exist, or `kiln dev` wrote it.
fn is_ours(path: &Path) -> bool {
    match std::fs::read_to_string(path) {
        Ok(text) => text.starts_with(MARK),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

fn text(identity_url: &str) -> String {
    let cloud = |name: &str, user: &str| {
        format!(
            "  {name}:
    auth:
      auth_url: {identity_url}/v3
      username: {user}
      password: {user}
      project_name: {user}
      user_domain_id: default
      project_domain_id: default
    region_name: RegionOne
    identity_api_version: 3
"
        )
    };
    let (demo, admin) = (cloud("kiln", "demo"), cloud("kiln-admin", "admin"));
    format!("{MARK}clouds:\n{demo}{admin}")
}
