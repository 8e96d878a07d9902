//! The state directory of `kiln dev`: one that is kept, or a temporary one that ends with the process.
//!
//! A process holds a lock on its temporary directory. The lock ends with the process, however that ends, so a directory without
//! one was left behind by a process that was killed, and the next process removes it.

use crate::stdio::CommandError;
use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// How the names of temporary directories begin.
const PREFIX: &str = "kiln-dev-";
/// The file that is locked.
const LOCK: &str = "lock";

/// The state directory.
pub(super) struct StateDir {
    pub(super) path: PathBuf,
    /// The locked file of a temporary directory, which is removed on drop.
    lock: Option<File>,
}

impl Drop for StateDir {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // The directory is below the system's temporary directory, which is cleaned anyway.
            _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

impl StateDir {
    /// Whether the directory is kept when the process ends.
    pub(super) fn is_kept(&self) -> bool {
        self.lock.is_none()
    }

    /// Creates the directory that is to be kept, or a temporary one.
    pub(super) fn create(kept: Option<&Path>) -> Result<StateDir, CommandError> {
        if let Some(path) = kept {
            make(path)?;
            return Ok(StateDir { path: path.to_owned(), lock: None });
        }
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        let path = parent.join(format!("{PREFIX}{}", crate::load::random_id().simple()));
        make(&path)?;
        let lock = locked(&path).map_err(|error| cannot("lock", &path, &error))?;
        Ok(StateDir { path, lock: Some(lock) })
    }
}

/// Locks a directory. The file has its name only once it is locked, so that no other process finds it unlocked.
fn locked(path: &Path) -> std::io::Result<File> {
    let new = path.join("lock.new");
    let file = File::create_new(&new)?;
    file.lock()?;
    std::fs::rename(new, path.join(LOCK))?;
    Ok(file)
}

fn make(path: &Path) -> Result<(), CommandError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| cannot("create", path, &error))
}

fn cannot(verb: &str, path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::Usage(format!("cannot {verb} {}: {error}", path.display()))
}

/// Removes the temporary directories of processes that are gone. What cannot be removed stays for the system to clean.
fn remove_abandoned(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_named && is_abandoned(&entry.path()) {
            _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a directory of this user has a lock that nobody holds.
fn is_abandoned(path: &Path) -> bool {
    let us = rustix::process::geteuid().as_raw();
    let is_ours = path.symlink_metadata().is_ok_and(|it| it.is_dir() && it.uid() == us);
    let held = || match File::open(path.join(LOCK)).map(|file| file.try_lock()) {
        Ok(Ok(())) => false,
        Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) | Err(_) => true,
    };
    is_ours && !held()
}
