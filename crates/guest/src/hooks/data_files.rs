//! Hooks that only write files.

use super::report;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::json::{self, Style};
use crate::process::{self, Captured};
use serde_json::Value;
use std::path::Path;

/// Writes data to the files that it names.
pub(super) fn json_file(host: &Host, deployment: &Value) -> Result<Value> {
    let config = config(deployment)?;
    for (path, data) in config.as_object().into_iter().flatten() {
        if !Path::new(path).is_absolute() {
            return Err(GuestError::new(format!("{path} is not an absolute path")));
        }
        let path = host.path(path);
        if let Some(folder) = path.parent() {
            files::folder(folder, 0o755)?;
        }
        // The data may contain passwords.
        let text = json::print(data, Style::Sorted(4));
        files::write(&path, text.as_bytes(), 0o600)?;
    }
    Ok(report(deployment, None, &Captured::default()))
}

/// Writes data and configuration for Hiera, the database of Puppet.
pub(super) fn hiera(host: &Host, deployment: &Value) -> Result<Value> {
    if let Some(check) = host.variable("HEAT_HIERA_ELEMENT_CHECK_CMD") {
        let output = process::capture(&mut process::shell(host, check), None, None)?;
        if !output.out.trim().is_empty() && output.status == 0 {
            let err = "The older hiera.datafiles of the metadata are in use.\n".to_owned();
            let refused = Captured { status: 1, out: String::new(), err };
            return Ok(report(deployment, None, &refused));
        }
    }
    let config = config(deployment)?;
    let folder = host.path_of("HEAT_PUPPET_HIERA_DATADIR", "/etc/puppet/hieradata");
    files::folder(&folder, 0o755)?;
    let data_dir = host.variable("HEAT_PUPPET_HIERA_DATADIR").unwrap_or("/etc/puppet/hieradata");
    let mut text =
        format!("---\n:backends:\n  - json\n:json:\n  :datadir: {data_dir}\n:hierarchy:\n");
    for name in config["hierarchy"].as_array().into_iter().flatten() {
        text.push_str(&format!("  - {}\n", name));
    }
    let file = host.path_of("HEAT_HIERA_CONFIG", "/etc/puppet/hiera.yaml");
    if let Some(folder) = file.parent() {
        files::folder(folder, 0o755)?;
    }
    files::write(&file, text.as_bytes(), 0o644)?;
    for (name, data) in config["datafiles"].as_object().into_iter().flatten() {
        let path = files::inside(&folder, &format!("{name}.json"))?;
        files::write(&path, json::print(data, Style::Sorted(4)).as_bytes(), 0o600)?;
    }
    Ok(report(deployment, None, &Captured::default()))
}

/// Returns the configuration as a map; it may come as text.
fn config(deployment: &Value) -> Result<Value> {
    let config = match &deployment["config"] {
        Value::String(text) => serde_json::from_str(text).map_err(|error| {
            GuestError::new(format!("the configuration is not valid JSON: {error}"))
        })?,
        config => config.clone(),
    };
    if config.is_object() {
        Ok(config)
    } else {
        Err(GuestError::new("the configuration is not a map"))
    }
}
