//! The files of SQLite: only their owner may read them. Names, tags and projects are in them unencrypted.

use std::fs::{self, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What others than the owner may do.
const OTHERS: u32 = 0o077;

/// The path of the file that a URL names, if it is one of SQLite.
pub(crate) fn path_of(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("sqlite://")?;
    Some(path.split('?').next().unwrap_or(path).into())
}

/// Creates the file of a database if it does not exist, and takes the rights of others away from one that does. SQLite
/// gives its journal the mode of the file.
pub(crate) fn protect(path: &Path) {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // If it cannot be created, SQLite says why.
        _ => return,
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        tighten(Path::new(&name));
    }
}

fn tighten(path: &Path) {
    let Ok(mode) = fs::metadata(path).map(|seen| seen.mode() & 0o777) else { return };
    if mode & OTHERS == 0 {
        return;
    }
    let (file, was) = (path.display(), format!("{mode:o}"));
    match fs::set_permissions(path, Permissions::from_mode(mode & !OTHERS)) {
        Ok(()) => {
            tracing::warn!(%file, was, "a file of the database could be read by others: now only by its owner");
        }
        Err(error) => {
            tracing::warn!(%file, was, %error, "a file of the database can be read by others: make it readable for its owner alone, with chmod 600");
        }
    }
}
