//! The key ring: a file that only its owner can read.
//!
//! Each line is a word and 32 bytes in hexadecimal. `key` is a key that bodies are encrypted with: the
//! last one encrypts, any decrypts. `lookup` is the key of the hashes that texts are found by; it stays.

use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, chown};
use std::path::{Path, PathBuf};

/// Why there are no keys to work with.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file is not there, but the store was encrypted with its keys.
    #[error(
        "the key file {0} is missing, and the store was encrypted with its keys: restore it from a \
         backup, or copy it from another machine that uses this store"
    )]
    Missing(PathBuf),
    /// Others can read the file.
    #[error("the key file {path} can be read by others (mode {mode:o}): chmod 600 '{path}'", path = path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file is not a key ring.
    #[error("the key file {path}, line {line}: {why}", path = path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// The mistake in the file.
        why: &'static str,
    },
    /// The file has other keys than those that the store was encrypted with.
    #[error(
        "the key file {0} has not the keys that the store was encrypted with: restore it from a backup, or \
         copy it from another machine that uses this store"
    )]
    Wrong(PathBuf),
    /// The file cannot be read or written.
    #[error("the key file {path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no randomness to make a key of.
    #[error("the system gives no random numbers: {0}")]
    Random(getrandom::Error),
}

/// A key, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) [u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({:08x})", self.id())
    }
}

impl Key {
    fn random() -> Result<Key, KeyError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(KeyError::Random)?;
        Ok(Key(bytes))
    }

    /// The id by which bodies name their key. It follows from the key, so that no two rings disagree about it.
    pub(crate) fn id(&self) -> u32 {
        let digest = Sha256::new().chain_update(b"kiln key ").chain_update(self.0).finalize();
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

/// The keys of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub(crate) lookup: Key,
    /// The newest last; never empty.
    pub(crate) keys: Vec<Key>,
}

/// How a file looks from outside: if this changes, the file has changed.
pub(crate) type Stamp = (u64, i64, i64, u64);

/// How the file looks now.
pub(crate) fn stamp(path: &Path) -> Result<Stamp, KeyError> {
    let seen = fs::metadata(path).map_err(|source| io_error(path, source))?;
    Ok((seen.ino(), seen.mtime(), seen.mtime_nsec(), seen.size()))
}

impl Ring {
    /// Reads the ring.
    pub(crate) fn read(path: &Path) -> Result<Ring, KeyError> {
        let seen = fs::metadata(path).map_err(|source| io_error(path, source))?;
        let mode = seen.mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed { path: path.to_owned(), mode });
        }
        let text = fs::read_to_string(path).map_err(|source| io_error(path, source))?;
        Ring::parse(&text).map_err(|(line, why)| KeyError::Malformed {
            path: path.to_owned(),
            line,
            why,
        })
    }

    /// Makes a ring with one key, unless another process just did; gives the one that is there.
    pub(crate) fn create(path: &Path) -> Result<Ring, KeyError> {
        let ring = Ring { lookup: Key::random()?, keys: vec![Key::random()?] };
        let draft = ring.write_draft(path)?;
        // A link never replaces a file, unlike a renaming.
        let linked = fs::hard_link(&draft, path);
        _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => sync_folder(path)?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(io_error(path, error)),
        }
        Ring::read(path)
    }

    /// Adds a new key to the file, which encrypts from then on.
    pub(crate) fn add_key(path: &Path) -> Result<Ring, KeyError> {
        let mut ring = Ring::read(path)?;
        ring.keys.push(Key::random()?);
        ring.replace(path)?;
        Ok(ring)
    }

    /// Writes the ring in place of the file that is there, which keeps its owner, its group and its mode: the
    /// user who changes the keys need not be the user who reads them.
    pub(crate) fn replace(&self, path: &Path) -> Result<(), KeyError> {
        let failed = |source| io_error(path, source);
        // The file itself, not a link to it.
        let file = fs::canonicalize(path).map_err(failed)?;
        let former = fs::metadata(&file).map_err(failed)?;
        let draft = self.write_draft(&file)?;
        let own = |draft: &Path| {
            let made = fs::metadata(draft)?;
            if (made.uid(), made.gid()) != (former.uid(), former.gid()) {
                chown(draft, Some(former.uid()), Some(former.gid()))?;
            }
            fs::set_permissions(draft, former.permissions())?;
            fs::rename(draft, &file)
        };
        if let Err(error) = own(&draft) {
            _ = fs::remove_file(&draft);
            return Err(failed(error));
        }
        sync_folder(&file)
    }

    fn write_draft(&self, path: &Path) -> Result<PathBuf, KeyError> {
        let Key(salt) = Key::random()?;
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{}", &hex(&salt)[..16]));
        let draft = PathBuf::from(name);
        let written = || {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
            file.write_all(self.to_text().as_bytes())?;
            file.sync_all()
        };
        written().map_err(|source| io_error(path, source))?;
        Ok(draft)
    }

    fn to_text(&self) -> String {
        let mut text =
            "# The keys of a Kiln store. Without them nothing in it can be read: keep a copy.\n"
                .to_owned();
        text.push_str(&format!("lookup {}\n", hex(&self.lookup.0)));
        for key in &self.keys {
            text.push_str(&format!("key {}\n", hex(&key.0)));
        }
        text
    }

    fn parse(text: &str) -> Result<Ring, (usize, &'static str)> {
        let (mut lookup, mut keys, mut last) = (None, Vec::new(), 1);
        for (number, line) in (1..).zip(text.lines()) {
            last = number;
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (word, key) =
                line.split_once(' ').ok_or((number, "a word and a key are expected"))?;
            let key = unhex(key.trim()).ok_or((number, "a key has 64 hexadecimal digits"))?;
            match word {
                "key" => keys.push(Key(key)),
                "lookup" if lookup.is_none() => lookup = Some(Key(key)),
                "lookup" => return Err((number, "there is a second lookup key")),
                _ => return Err((number, "only 'key' and 'lookup' are known words")),
            }
        }
        let lookup = lookup.ok_or((last, "there is no lookup key"))?;
        if keys.is_empty() {
            return Err((last, "there is no key"));
        }
        Ok(Ring { lookup, keys })
    }
}

fn io_error(path: &Path, source: io::Error) -> KeyError {
    KeyError::Io { path: path.to_owned(), source }
}

fn sync_folder(path: &Path) -> Result<(), KeyError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|source| io_error(path, source))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_read_as_it_was_written() {
        let ring = Ring { lookup: Key([1; 32]), keys: vec![Key([2; 32]), Key([0xfe; 32])] };
        assert_eq!(Ring::parse(&ring.to_text()), Ok(ring));
    }

    #[test]
    fn what_is_wrong_with_a_ring_is_said_with_its_line() {
        let wrong = |text: &str| Ring::parse(text).unwrap_err();
        assert_eq!(wrong("# nothing\n"), (1, "there is no lookup key"));
        assert_eq!(wrong("\nkey 12"), (2, "a key has 64 hexadecimal digits"));
        let lookup = format!("lookup {}\n", "0".repeat(64));
        assert_eq!(wrong(&lookup), (1, "there is no key"));
        assert_eq!(wrong(&lookup.repeat(2)), (2, "there is a second lookup key"));
    }

    #[test]
    fn a_new_key_leaves_owner_group_and_mode_as_they_are() {
        use std::os::unix::fs::PermissionsExt;
        let Key(salt) = Key::random().unwrap();
        let folder = std::env::temp_dir().join(format!("kiln-keys-{}", &hex(&salt)[..16]));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("keys");
        Ring::create(&path).unwrap();
        let look = || {
            let seen = fs::metadata(&path).unwrap();
            (seen.uid(), seen.gid(), seen.mode() & 0o777)
        };
        let is_root = look().0 == 0;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        if is_root {
            // A service has its own user, and root rotates its keys.
            chown(&path, Some(4711), Some(4712)).unwrap();
        }
        let before = look();
        assert_eq!(Ring::add_key(&path).unwrap().keys.len(), 2);
        assert_eq!(look(), before);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn keys_are_not_shown() {
        assert!(!format!("{:?}", Key([7; 32])).contains("0707"));
    }
}
