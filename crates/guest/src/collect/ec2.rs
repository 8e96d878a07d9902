//! The EC2 metadata of the server: from a config drive, or over HTTP.

use super::Config;
use super::source::SourceError;
use crate::files;
use crate::host::Host;
use crate::http::{Http, Request};
use crate::process;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const USUAL: &str = "http://169.254.169.254/latest/meta-data";

/// The maximal depth of the tree, and the maximal number of its names.
const MAX_DEPTH: usize = 8;
const MAX_NAMES: usize = 2000;

pub(crate) fn collect(host: &Host, http: &Http, config: &Config) -> Result<Value, SourceError> {
    if let Some(found) = from_drive(host) {
        return Ok(found);
    }
    let base = config.get("ec2", "metadata_url").unwrap_or(USUAL).trim_end_matches('/');
    let timeout = config.seconds("ec2", "timeout", 10);
    let mut left = MAX_NAMES;
    walk(http, &format!("{base}/"), timeout, 0, &mut left)
}

/// Reads a tree of names: a line that ends with a slash is a map, and `0=key` stands for the tree below `0/`.
fn walk(
    http: &Http,
    url: &str,
    timeout: u64,
    depth: usize,
    left: &mut usize,
) -> Result<Value, SourceError> {
    let mut map = Map::new();
    for line in get(http, url, timeout)?.lines().filter(|line| !line.is_empty()) {
        *left = left.checked_sub(1).ok_or_else(|| {
            SourceError::NotAvailable(format!("{url}: more than {MAX_NAMES} names"))
        })?;
        if let Some(name) = line.strip_suffix('/')
            && depth < MAX_DEPTH
        {
            map.insert(name.into(), walk(http, &format!("{url}{line}"), timeout, depth + 1, left)?);
        } else if let Some((number, _)) = line.split_once('=')
            && depth < MAX_DEPTH
        {
            let below = walk(http, &format!("{url}{number}/"), timeout, depth + 1, left)?;
            map.insert(number.into(), below);
        } else {
            map.insert(line.into(), get(http, &format!("{url}{line}"), timeout)?.into());
        }
    }
    Ok(Value::Object(map))
}

fn get(http: &Http, url: &str, timeout: u64) -> Result<String, SourceError> {
    let reply = http.send(&Request::new("GET", url).with_timeout(timeout));
    let reply = reply.map_err(|failed| SourceError::NotAvailable(failed.to_string()))?;
    if reply.is_good() {
        Ok(reply.text())
    } else {
        Err(SourceError::NotAvailable(format!("{url} returned status {}", reply.status)))
    }
}

/// Reads the config drive, which is mounted temporarily if it is not mounted.
fn from_drive(host: &Host) -> Option<Value> {
    let device = Path::new("/dev/disk/by-label/config-2");
    if !host.is_system_root() || !device.exists() {
        return None;
    }
    let device = std::fs::canonicalize(device).ok()?;
    let mounts = files::text(Path::new("/proc/mounts")).unwrap_or_default();
    let mut rows = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mounted = rows.find(|row| Path::new(row[0]) == device);
    if let Some(point) = mounted.and_then(|row| row.get(1).map(PathBuf::from)) {
        return read(&point);
    }
    let point = host.path("/var/run/kiln-guest-config-drive");
    files::private_folder(&point).ok()?;
    let mut mount = process::program(host, "mount");
    mount.args(["-o", "ro"]).arg(&device).arg(&point);
    if process::run(&mut mount).ok()? != 0 {
        return None;
    }
    let found = read(&point);
    let mut unmount = process::program(host, "umount");
    if let Err(error) = process::run(unmount.arg(&point)) {
        host.warn(error.to_string());
    }
    found
}

fn read(point: &Path) -> Option<Value> {
    serde_json::from_str(&files::text(&point.join("ec2/latest/meta-data.json"))?).ok()
}
