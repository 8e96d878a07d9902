//! Metadata in files of the machine: from the first boot, and from whoever made the image.

use super::Settings;
use super::source::Missing;
use crate::files;
use crate::host::Host;
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// What was delivered at the first boot.
pub(crate) fn at_boot(host: &Host, settings: &Settings) -> Result<Value, Missing> {
    let told = settings.all("heat_local", "path");
    let usual = ["/var/lib/heat-cfntools/cfn-init-data".to_owned()];
    let mut merged = Map::new();
    for path in if told.is_empty() { &usual } else { told } {
        let path = host.path(path);
        let Some(text) = files::text(&path) else {
            host.debug(format!("{} is not there", path.display()));
            continue;
        };
        match serde_json::from_str(&text) {
            Ok(Value::Object(read)) => merged.extend(read),
            Ok(_) => host.info(format!("{} has no map in it", path.display())),
            Err(error) => host.info(format!("{}: {error}", path.display())),
        }
    }
    if merged.is_empty() {
        Err(Missing::NotAvailable("nothing was delivered at the first boot".into()))
    } else {
        Ok(Value::Object(merged))
    }
}

/// What lies in folders of the image: each file is a key of its own.
pub(crate) fn in_image(host: &Host, settings: &Settings) -> Result<Vec<(String, Value)>, Missing> {
    let told = settings.all("local", "path");
    let usual = ["/var/lib/os-collect-config/local-data".to_owned()];
    let mut all = Vec::new();
    for folder in if told.is_empty() { &usual } else { told } {
        let folder = host.path(folder);
        if !folder.is_dir() {
            return Err(Missing::NotAvailable(format!("{} is not there", folder.display())));
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
                Missing::NotAvailable(format!("{} is no JSON: {error}", path.display()))
            })?;
            all.push((name, read));
        }
    }
    Ok(all)
}

/// Refuses what others may have written.
fn check(path: &PathBuf) -> Result<(), Missing> {
    let refused = |why: &str| Err(Missing::NotAvailable(format!("{} {why}", path.display())));
    let Ok(known) = std::fs::metadata(path) else { return refused("cannot be looked at") };
    if known.mode() & 0o002 != 0 {
        return refused("can be written by everybody");
    }
    let me = rustix::process::geteuid().as_raw();
    if known.is_dir() && known.uid() != me { refused("belongs to somebody else") } else { Ok(()) }
}
