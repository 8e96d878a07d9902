//! Files: written atomically, and private from the start where necessary.

use crate::error::{GuestError, Result};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Reads a file; `None` if it does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(GuestError::at(path, error)),
    }
}

/// Reads a file, if that is possible.
pub(crate) fn text(path: &Path) -> Option<String> {
    read(path).ok().flatten()
}

/// Returns the last bytes of a file, as text.
pub(crate) fn end_of(file: &mut File, most: u64) -> io::Result<String> {
    use std::io::{Seek, SeekFrom};
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    // Another process may still be writing.
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Creates a directory and its parents.
pub(crate) fn folder(path: &Path, mode: u32) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(mode).create(path);
    made.map_err(|error| GuestError::at(path, error))
}

/// Creates a private directory, or makes an existing one private.
pub(crate) fn private_folder(path: &Path) -> Result<()> {
    folder(path, 0o700)?;
    set_mode(path, 0o700)
}

/// Sets the mode of a file.
pub(crate) fn set_mode(path: &Path, mode: u32) -> Result<()> {
    let set = fs::set_permissions(path, fs::Permissions::from_mode(mode));
    set.map_err(|error| GuestError::at(path, error))
}

/// Replaces a file by renaming a temporary one, so that no reader sees half of it.
pub(crate) fn write(path: &Path, content: &[u8], mode: u32) -> Result<()> {
    write_owned(path, content, mode, None)
}

/// Replaces a file and sets its owner.
pub(crate) fn write_owned(
    path: &Path,
    content: &[u8],
    mode: u32,
    owner: Option<(Option<u32>, Option<u32>)>,
) -> Result<()> {
    let beside = beside(path)?;
    // A link that another user of the machine has placed there is not followed: the file must be new.
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside);
    let mut file = created.map_err(|error| GuestError::at(&beside, error))?;
    let written = (|| {
        file.write_all(content)?;
        if let Some((user, group)) = owner {
            std::os::unix::fs::fchown(&file, user, group)?;
        }
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    written.map_err(|error| {
        // An incomplete file is useless.
        _ = fs::remove_file(&beside);
        GuestError::at(path, error)
    })
}

/// The path of a temporary file in the directory of a file. Nobody can guess its name, so nobody can occupy it.
fn beside(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| GuestError::at(path, "the path has no file name"))?;
    let random = RandomState::new().build_hasher().finish();
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.{random:016x}.new", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Appends to a file.
pub(crate) fn append(path: &Path, text: &str, mode: u32) -> Result<()> {
    let opened = OpenOptions::new().append(true).create(true).mode(mode).open(path);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| GuestError::at(path, error))
}

/// Removes a file, if it exists.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(GuestError::at(path, error)),
        _ => Ok(()),
    }
}

/// Returns the names in a directory, sorted; none if it does not exist.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Reports whether any user may execute a file.
pub(crate) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Joins a directory and a name. The name may come from outside and must not leave the directory.
pub(crate) fn inside(folder: &Path, name: &str) -> Result<PathBuf> {
    let is_plain = !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != "..";
    if is_plain {
        Ok(folder.join(name))
    } else {
        Err(GuestError::new(format!("{name:?} is not a valid file name")))
    }
}

/// Creates an unnamed file that no other process can open, for the output of a program or for a download.
pub(crate) fn nameless(folder: &Path) -> Result<File> {
    let path = beside(&folder.join("caught"))?;
    let opened = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
    let file = opened.map_err(|error| GuestError::at(&path, error))?;
    remove(&path)?;
    Ok(file)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn unique() -> usize {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        COUNT.fetch_add(1, Ordering::Relaxed)
    }

    /// A directory that is removed with the test.
    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new() -> Folder {
            let name = format!("kiln-guest-{}-{}", std::process::id(), unique());
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).expect("a folder");
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn names_from_outside_stay_inside() {
        for bad in ["", "..", "../x", "a/b", "/etc/passwd", "."] {
            assert!(inside(Path::new("/cache"), bad).is_err(), "{bad}");
        }
        assert_eq!(inside(Path::new("/cache"), "a..b").unwrap(), Path::new("/cache/a..b"));
    }

    #[test]
    fn a_file_is_written_whole_and_private() {
        let folder = Folder::new();
        let path = folder.0.join("x");
        write(&path, b"one", 0o600).unwrap();
        write(&path, b"two", 0o600).unwrap();
        assert_eq!(text(&path).as_deref(), Some("two"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(&folder.0), ["x"]);
    }

    #[test]
    fn a_link_that_others_placed_beside_a_file_is_not_followed() {
        let folder = Folder::new();
        let (path, victim) = (folder.0.join("x"), folder.0.join("victim"));
        fs::write(&victim, "untouched").unwrap();
        let guessed = folder.0.join(format!(".x.{}.new", std::process::id()));
        std::os::unix::fs::symlink(&victim, &guessed).unwrap();
        write(&path, b"new", 0o600).unwrap();
        assert_eq!(text(&victim).as_deref(), Some("untouched"));
        assert_eq!(text(&path).as_deref(), Some("new"));
        assert_ne!(beside(&path).unwrap(), beside(&path).unwrap());
    }
}
