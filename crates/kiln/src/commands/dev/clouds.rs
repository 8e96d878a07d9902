//! The file in which clients look for clouds.

use crate::cli::Dev;
use crate::streams::Failure;
use std::path::{Path, PathBuf};

/// What our files begin with, so that they can be told from those of others.
const MARK: &str = "# Written by kiln dev; it is written anew at every start.\n";

/// Where the file is.
pub(super) struct Written {
    path: PathBuf,
    /// Whether clients find it by themselves.
    is_found: bool,
}

impl Written {
    /// What to do to use it.
    pub(super) fn advice(&self) -> String {
        let command = "openstack --os-cloud kiln stack list";
        match self.is_found {
            true => format!("Try:  {command}    (with {} in this folder)", self.path.display()),
            false => format!("Try:  OS_CLIENT_CONFIG_FILE={} {command}", self.path.display()),
        }
    }
}

/// Writes the file: where it is asked for, or into this folder; but never over somebody else's.
pub(super) fn write(arguments: &Dev, identity_url: &str) -> Result<Written, Failure> {
    let text = text(identity_url);
    let usual = Path::new("clouds.yaml");
    let path = match &arguments.clouds {
        Some(path) => path.clone(),
        None if is_ours(usual) => usual.to_owned(),
        None => "kiln-clouds.yaml".into(),
    };
    let is_found = path == usual;
    std::fs::write(&path, text)
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))?;
    Ok(Written { path, is_found })
}

/// Whether a file is ours to write: there is none, or it is one of our own.
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
