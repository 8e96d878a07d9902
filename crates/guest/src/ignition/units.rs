//! Systemd units and network configuration: files, and links that enable them.

use super::plan::Unit;
use super::resolve_path;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::process;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const UNITS: &str = "/etc/systemd/system";
const NETWORK: &str = "/etc/systemd/network";

/// The directories of the units in images.
const SHIPPED: [&str; 3] = [UNITS, "/usr/lib/systemd/system", "/lib/systemd/system"];

/// Writes a unit and its drop-ins, and enables or masks it.
pub(super) fn write(host: &Host, unit: &Unit) -> Result<()> {
    let name = &unit.name;
    let path = inside(host, UNITS, name)?;
    if unit.is_masked {
        return replace_link(&path, Path::new("/dev/null"));
    }
    if let Some(text) = &unit.text {
        files::write(&path, text.as_bytes(), 0o644)?;
    }
    for (part, text) in &unit.dropins {
        let path = inside(host, &format!("{UNITS}/{name}.d"), part)?;
        files::write(&path, text.as_bytes(), 0o644)?;
    }
    let Some(is_enabled) = unit.is_enabled else { return Ok(()) };
    let wanted_by = wanted_by(&text_of(host, unit));
    if wanted_by.is_empty() && is_enabled {
        host.warn(format!("{name} has no WantedBy: it is not enabled"));
    }
    for folder in wanted_by {
        let link = inside(host, &format!("{UNITS}/{folder}"), name)?;
        if is_enabled {
            replace_link(&link, Path::new(&format!("{UNITS}/{name}")))?
        } else {
            files::remove(&link)?
        }
    }
    Ok(())
}

/// Writes a network configuration.
pub(super) fn write_network(host: &Host, name: &str, text: &str) -> Result<()> {
    files::write(&inside(host, NETWORK, name)?, text.as_bytes(), 0o644)
}

/// Makes systemd reload its units and start the enabled ones, if this is a whole system.
pub(super) fn start<'u>(host: &Host, units: impl Iterator<Item = &'u Unit>) {
    let units: Vec<&Unit> = units.collect();
    if units.is_empty() || !host.is_system_root() || !Path::new("/run/systemd/system").is_dir() {
        return;
    }
    let started = units.iter().filter(|it| it.is_enabled == Some(true) && !it.is_masked);
    let names: Vec<&str> = started.map(|it| it.name.as_str()).collect();
    let mut calls = vec![vec!["daemon-reload"]];
    if !names.is_empty() {
        // The started unit may wait for this program.
        calls.push([&["start", "--no-block", "--"], &names[..]].concat());
    }
    for arguments in calls {
        let mut command = process::program(host, "systemctl");
        match process::capture(command.args(&arguments), None, None) {
            Ok(output) if output.status == 0 => {}
            Ok(output) => host.error(format!("systemctl {}: {}", arguments[0], output.err.trim())),
            Err(error) => host.error(error.to_string()),
        }
    }
}

/// Returns the path of a file in a directory, which is created if necessary.
fn inside(host: &Host, folder: &str, name: &str) -> Result<PathBuf> {
    files::inside(Path::new(folder), name)?;
    let path = resolve_path(host, &format!("{folder}/{name}"))?;
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    Ok(path)
}

fn replace_link(link: &Path, target: &Path) -> Result<()> {
    files::remove(link)?;
    symlink(target, link).map_err(|error| GuestError::at(link, error))
}

/// Returns the text of a unit: from the configuration, or from the image.
fn text_of(host: &Host, unit: &Unit) -> String {
    let shipped = || {
        let mut paths = SHIPPED.iter().map(|folder| host.path(folder).join(&unit.name));
        paths.find_map(|path| files::text(&path))
    };
    unit.text.clone().or_else(shipped).unwrap_or_default()
}

/// Returns the directories of links for the targets that want the unit.
fn wanted_by(text: &str) -> Vec<String> {
    let mut is_install = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_install = line == "[Install]";
        }
        let Some((key, value)) = line.split_once('=').filter(|_| is_install) else { continue };
        let ending = match key.trim() {
            "WantedBy" => "wants",
            "RequiredBy" => "requires",
            _ => continue,
        };
        found.extend(value.split_whitespace().map(|name| format!("{name}.{ending}")));
    }
    // A name becomes part of a path.
    found.retain(|name| files::inside(Path::new("/"), name).is_ok());
    found
}
