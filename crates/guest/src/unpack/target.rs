//! The directory that an archive is unpacked into.

use super::Limits;
use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use crate::users;
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, fchown, symlink};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The bits of a mode with which a program runs as its owner or its group.
const SET_ID: u32 = 0o6000;

/// The part of the free space that an archive may fill, in tenths.
const TENTHS_OF_FREE_SPACE: u64 = 9;

/// The reason why an entry is not unpacked.
#[derive(Debug)]
pub(crate) enum UnpackError {
    /// The entry is skipped.
    Refused(String),
    /// Unpacking ends: the archive is damaged, or the files cannot be written.
    Failed(GuestError),
    /// Unpacking ends: the archive exceeds the limits.
    OverLimit(GuestError),
}

/// The result of unpacking.
pub(crate) type Unpacked<T> = std::result::Result<T, UnpackError>;

/// The attributes of an entry.
pub(super) struct Attributes {
    pub(super) mode: u32,
    /// The name and the number of the owner.
    pub(super) user: (String, Option<u32>),
    /// The name and the number of the group.
    pub(super) group: (String, Option<u32>),
    /// The time of the last change, in seconds since 1970.
    pub(super) modified: Option<u64>,
}

impl Attributes {
    /// Returns attributes that keep the owner of the process.
    pub(super) fn with_mode(mode: u32) -> Attributes {
        let nobody = || (String::new(), None);
        Attributes { mode, user: nobody(), group: nobody(), modified: None }
    }
}

/// A directory that is never left, and what may still be written to it.
pub(super) struct Target<'h> {
    host: &'h Host,
    /// The directory, without any symlink in its path.
    root: PathBuf,
    limits: Limits,
    bytes_left: u64,
    entries_left: u64,
    /// Owners and modes are restored as tar does it for root.
    is_root: bool,
    /// Known owners and groups, by name.
    owners: BTreeMap<(bool, String), Option<u32>>,
}

impl Target<'_> {
    /// Opens an existing directory.
    pub(super) fn open<'h>(host: &'h Host, folder: &Path, limits: Limits) -> Result<Target<'h>> {
        let root = fs::canonicalize(folder).map_err(|error| GuestError::at(folder, error))?;
        let space = rustix::fs::statvfs(&root).map_err(|error| GuestError::at(&root, error))?;
        let free = space.f_bavail.saturating_mul(space.f_frsize) / 10 * TENTHS_OF_FREE_SPACE;
        Ok(Target {
            host,
            root,
            limits,
            bytes_left: limits.bytes.min(free),
            entries_left: limits.entries,
            is_root: rustix::process::geteuid().is_root(),
            owners: BTreeMap::new(),
        })
    }

    /// Logs that an entry is skipped; other failures are returned.
    pub(super) fn skip_refused(&self, name: &str, written: Unpacked<()>) -> Unpacked<()> {
        match written {
            Err(UnpackError::Refused(why)) => {
                self.host.warn(format!("skipping {name:?} of the archive: {why}"));
                Ok(())
            }
            written => written,
        }
    }

    /// Reads the rest of the content of an entry.
    pub(super) fn discard(&mut self, content: &mut dyn Read) -> Unpacked<()> {
        self.copy(content, &mut io::sink())
    }

    /// Writes a file. An existing one, also a link, is replaced.
    pub(super) fn file(
        &mut self,
        name: &Path,
        attributes: &Attributes,
        content: &mut dyn Read,
    ) -> Unpacked<()> {
        let path = self.place(name)?;
        vacate(&path)?;
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = created.map_err(|error| failed(&path, error))?;
        let written = self.copy(content, &mut file).and_then(|()| {
            let (user, group) = self.owner(attributes);
            if user.is_some() || group.is_some() {
                fchown(&file, user, group).map_err(|error| failed(&path, error))?;
            }
            let mode = self.mode(attributes, &path);
            let permissions = fs::Permissions::from_mode(mode);
            file.set_permissions(permissions).map_err(|error| failed(&path, error))?;
            if let Some(modified) = attributes.modified.and_then(time) {
                file.set_modified(modified).map_err(|error| failed(&path, error))?;
            }
            Ok(())
        });
        if written.is_err() {
            // An incomplete file is useless.
            _ = fs::remove_file(&path);
        }
        written
    }

    /// Creates a directory, or sets the attributes of an existing one.
    pub(super) fn folder(&mut self, name: &Path, attributes: &Attributes) -> Unpacked<()> {
        // The directory itself belongs to the caller.
        if name.components().all(|it| matches!(it, Component::CurDir | Component::RootDir)) {
            return Ok(());
        }
        let place = self.place(name)?;
        let path = self.enter(&place)?;
        let (user, group) = self.owner(attributes);
        if user.is_some() || group.is_some() {
            let set = std::os::unix::fs::chown(&path, user, group);
            set.map_err(|error| failed(&path, error))?;
        }
        // The files of the directory follow, and its owner must be able to write them.
        let mode = self.mode(attributes, &path) | 0o700;
        files::set_mode(&path, mode).map_err(UnpackError::Failed)
    }

    /// Creates a symlink. It may lead anywhere, but nothing is unpacked through a link that leaves the directory.
    pub(super) fn symlink(&mut self, name: &Path, link: &Path) -> Unpacked<()> {
        let path = self.place(name)?;
        vacate(&path)?;
        symlink(link, &path).map_err(|error| refused(&path, error))
    }

    /// Creates a hard link to a file of the directory.
    pub(super) fn hard_link(&mut self, name: &Path, link: &Path) -> Unpacked<()> {
        let (path, known) = (self.place(name)?, self.place(link)?);
        if path == known {
            return Ok(());
        }
        if !known.symlink_metadata().is_ok_and(|it| it.is_file()) {
            return Err(refused(&known, "is not a file that could be linked to"));
        }
        vacate(&path)?;
        fs::hard_link(&known, &path).map_err(|error| refused(&path, error))
    }

    /// Returns the path for a name. Its directories exist afterwards and lie in the target.
    fn place(&mut self, name: &Path) -> Unpacked<PathBuf> {
        self.count_entry()?;
        let mut parts = Vec::new();
        for component in name.components() {
            match component {
                Component::Normal(part) => parts.push(part),
                // As with tar, an absolute name is relative to the directory.
                Component::RootDir | Component::CurDir => {}
                Component::ParentDir | Component::Prefix(_) => {
                    return Err(UnpackError::Refused("the name contains `..`".into()));
                }
            }
        }
        let Some((last, parents)) = parts.split_last() else {
            return Err(UnpackError::Refused("the name is empty".into()));
        };
        let mut at = self.root.clone();
        for parent in parents {
            at = self.enter(&at.join(parent))?;
        }
        Ok(at.join(last))
    }

    /// Returns the real path of a directory, which is created if necessary. Its parent has no symlink in its path.
    fn enter(&mut self, path: &Path) -> Unpacked<PathBuf> {
        let known = match path.symlink_metadata() {
            Ok(known) => known,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.count_entry()?;
                let made = DirBuilder::new().mode(0o755).create(path);
                return made.map(|()| path.to_path_buf()).map_err(|error| failed(path, error));
            }
            Err(error) => return Err(refused(path, error)),
        };
        if known.is_dir() {
            return Ok(path.to_path_buf());
        }
        let real = fs::canonicalize(path).map_err(|error| refused(path, error))?;
        if !real.starts_with(&self.root) {
            Err(refused(path, "a link leads out of the directory"))
        } else if real.is_dir() {
            Ok(real)
        } else {
            Err(refused(path, "is not a directory"))
        }
    }

    fn count_entry(&mut self) -> Unpacked<()> {
        match self.entries_left.checked_sub(1) {
            Some(left) => {
                self.entries_left = left;
                Ok(())
            }
            None => Err(UnpackError::OverLimit(GuestError::new(format!(
                "the archive has more than {} entries; KILN_GUEST_UNPACK_ENTRIES sets the limit",
                self.limits.entries
            )))),
        }
    }

    /// Copies the content of an entry, as far as there is room for it.
    fn copy(&mut self, content: &mut dyn Read, file: &mut dyn Write) -> Unpacked<()> {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) => {
                    let why = format!("the archive cannot be read: {error}");
                    return Err(UnpackError::Failed(GuestError::new(why)));
                }
            };
            let Some(left) = self.bytes_left.checked_sub(read as u64) else {
                return Err(UnpackError::OverLimit(GuestError::new(format!(
                    "the content of the archive is larger than {} bytes, or does not fit on the file system; \
                     KILN_GUEST_UNPACK_BYTES sets the limit",
                    self.limits.bytes
                ))));
            };
            self.bytes_left = left;
            file.write_all(&buffer[..read]).map_err(|error| failed(&self.root, error))?;
        }
    }

    /// Returns the owner and the group to set: as with tar, only root sets them, and names count before numbers.
    fn owner(&mut self, attributes: &Attributes) -> (Option<u32>, Option<u32>) {
        if !self.is_root {
            return (None, None);
        }
        let host = self.host;
        let mut number = |is_user: bool, (name, number): &(String, Option<u32>)| {
            let known = self.owners.entry((is_user, name.clone())).or_insert_with(|| {
                match name.is_empty() || name.bytes().all(|it| it.is_ascii_digit()) {
                    true => None,
                    false if is_user => users::user(host, name).map(|it| it.id),
                    false => users::group(host, name),
                }
            });
            known.or(*number)
        };
        (number(true, &attributes.user), number(false, &attributes.group))
    }

    /// Returns the mode to set: as with tar, only root sets the bits with which programs run as their owners.
    fn mode(&self, attributes: &Attributes, path: &Path) -> u32 {
        if !self.is_root {
            return attributes.mode & 0o777;
        }
        if attributes.mode & SET_ID != 0 {
            let (path, mode) = (path.display(), attributes.mode & 0o7777);
            self.host.warn(format!("{path} has the mode {mode:o} in the archive"));
        }
        attributes.mode & 0o7777
    }
}

/// Removes what is at the path of a new file; a directory stays.
fn vacate(path: &Path) -> Unpacked<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(path, error)),
        _ => Ok(()),
    }
}

fn time(seconds: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn refused(path: &Path, why: impl std::fmt::Display) -> UnpackError {
    UnpackError::Refused(GuestError::at(path, why).to_string())
}

/// A name that the file system cannot hold is the archive's fault; everything else ends the work.
fn failed(path: &Path, error: io::Error) -> UnpackError {
    match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidFilename => refused(path, error),
        _ => UnpackError::Failed(GuestError::at(path, error)),
    }
}
