//! Units of systemd and settings of its network: files, and links that have them started.

use super::place;
use super::plan::Unit;
use crate::files;
use crate::host::Host;
use crate::problem::{Problem, Result};
use crate::process;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const UNITS: &str = "/etc/systemd/system";
const NETWORK: &str = "/etc/systemd/network";

/// Where images have units.
const SHIPPED: [&str; 3] = [UNITS, "/usr/lib/systemd/system", "/lib/systemd/system"];

/// Writes a unit, what is added to it, and whether it is started.
pub(super) fn write(host: &Host, unit: &Unit) -> Result<()> {
    let name = &unit.name;
    let path = inside(host, UNITS, name)?;
    if unit.is_masked {
        return lead(&path, Path::new("/dev/null"));
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
        host.warn(format!("{name} does not say by what it is wanted: it is not started"));
    }
    for folder in wanted_by {
        let link = inside(host, &format!("{UNITS}/{folder}"), name)?;
        if is_enabled {
            lead(&link, Path::new(&format!("{UNITS}/{name}")))?
        } else {
            files::remove(&link)?
        }
    }
    Ok(())
}

/// Writes settings of the network.
pub(super) fn write_network(host: &Host, name: &str, text: &str) -> Result<()> {
    files::write(&inside(host, NETWORK, name)?, text.as_bytes(), 0o644)
}

/// Has systemd read its units anew, and starts those that are to be started, if this is a whole system.
pub(super) fn start<'u>(host: &Host, units: impl Iterator<Item = &'u Unit>) {
    let units: Vec<&Unit> = units.collect();
    if units.is_empty() || !host.is_whole() || !Path::new("/run/systemd/system").is_dir() {
        return;
    }
    let started = units.iter().filter(|it| it.is_enabled == Some(true) && !it.is_masked);
    let names: Vec<&str> = started.map(|it| it.name.as_str()).collect();
    let mut calls = vec![vec!["daemon-reload"]];
    if !names.is_empty() {
        // What is started may wait for us.
        calls.push([&["start", "--no-block", "--"], &names[..]].concat());
    }
    for arguments in calls {
        let mut command = process::program(host, "systemctl");
        match process::caught(command.args(&arguments), None, None) {
            Ok(caught) if caught.status == 0 => {}
            Ok(caught) => host.error(format!("systemctl {}: {}", arguments[0], caught.err.trim())),
            Err(problem) => host.error(problem.to_string()),
        }
    }
}

/// A file of a name in a folder, which is made if it is not there.
fn inside(host: &Host, folder: &str, name: &str) -> Result<PathBuf> {
    files::inside(Path::new(folder), name)?;
    let path = place(host, &format!("{folder}/{name}"))?;
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    Ok(path)
}

fn lead(link: &Path, target: &Path) -> Result<()> {
    files::remove(link)?;
    symlink(target, link).map_err(|error| Problem::at(link, error))
}

/// What a unit says: here, or in the image.
fn text_of(host: &Host, unit: &Unit) -> String {
    let shipped = || {
        let mut paths = SHIPPED.iter().map(|folder| host.path(folder).join(&unit.name));
        paths.find_map(|path| files::text(&path))
    };
    unit.text.clone().or_else(shipped).unwrap_or_default()
}

/// The folders with links to what other units want.
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
    // A name is part of a path.
    found.retain(|name| files::inside(Path::new("/"), name).is_ok());
    found
}
