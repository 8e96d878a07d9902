//! Metadata in local files: from the first boot, and from the image.

use super::Config;
use super::source::SourceError;
use crate::files;
use crate::host::Host;
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// Returns the metadata from the first boot.
pub(crate) fn at_boot(host: &Host, config: &Config) -> Result<Value, SourceError> {
    let configured = config.all("heat_local", "path");
    let default = ["/var/lib/heat-cfntools/cfn-init-data".to_owned()];
    let mut merged = Map::new();
    for path in if configured.is_empty() { &default } else { configured } {
        let path = host.path(path);
        let Some(text) = files::text(&path) else {
            host.debug(format!("{} does not exist", path.display()));
            continue;
        };
        match serde_json::from_str(&text) {
            Ok(Value::Object(read)) => merged.extend(read),
            Ok(_) => host.info(format!("{} does not contain a map", path.display())),
            Err(error) => host.info(format!("{}: {error}", path.display())),
        }
    }
    if merged.is_empty() {
        Err(SourceError::NotAvailable("no metadata from the first boot".into()))
    } else {
        Ok(Value::Object(merged))
    }
}

/// Returns the metadata in directories of the image; each file is a key of its own.
pub(crate) fn in_image(host: &Host, config: &Config) -> Result<Vec<(String, Value)>, SourceError> {
    let configured = config.all("local", "path");
    let default = ["/var/lib/os-collect-config/local-data".to_owned()];
    let mut all = Vec::new();
    for folder in if configured.is_empty() { &default } else { configured } {
        let folder = host.path(folder);
        if !folder.is_dir() {
            return Err(SourceError::NotAvailable(format!("{} does not exist", folder.display())));
        }
        check(&folder)?;
        let names = files::names(&folder).into_iter().filter(|name| !name.starts_with('.'));
        for name in names {
            let path = folder.join(&name);
            if !path.is_file() {
                continue;
            }
            check(&path)?;
            let text = files::text(&path).unwrap_or_default();
            let read = serde_json::from_str(&text);
            let read = read.map_err(|error| {
                SourceError::NotAvailable(format!("{} is not valid JSON: {error}", path.display()))
            })?;
            all.push((name, read));
        }
    }
    Ok(all)
}

/// Rejects files that other users can write.
fn check(path: &PathBuf) -> Result<(), SourceError> {
    let refused = |why: &str| Err(SourceError::NotAvailable(format!("{} {why}", path.display())));
    let Ok(known) = std::fs::metadata(path) else { return refused("cannot be looked at") };
    if known.mode() & 0o002 != 0 {
        return refused("can be written by everybody");
    }
    let me = rustix::process::geteuid().as_raw();
    if known.is_dir() && known.uid() != me { refused("belongs to another user") } else { Ok(()) }
}
