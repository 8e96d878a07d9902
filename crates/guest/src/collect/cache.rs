//! The cache of collected metadata: the current, the original and the last applied version of each source.

use crate::error::{GuestError, Result};
use crate::files;
use crate::json::{self, Style};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The cache directory.
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// Opens the cache in a directory that only its owner can read.
    pub(crate) fn open(folder: PathBuf) -> Result<Cache> {
        files::private_folder(&folder)?;
        Ok(Cache { folder })
    }

    /// Stores metadata. Returns its path, and whether it differs from the last applied version.
    pub(crate) fn store(&self, key: &str, content: &Value) -> Result<(PathBuf, bool)> {
        let path = files::inside(&self.folder, &format!("{key}.json"))?;
        let text = json::print(content, Style::Indented(1));
        let first = with_ending(&path, ".orig");
        if !first.exists() {
            files::write(&first, text.as_bytes(), 0o600)?;
        }
        if files::text(&path).as_deref() != Some(&text) {
            files::write(&path, text.as_bytes(), 0o600)?;
        }
        let last = files::text(&with_ending(&path, ".last"));
        let last: Option<Value> = last.and_then(|text| serde_json::from_str(&text).ok());
        Ok((path, last.as_ref() != Some(content)))
    }

    /// Returns the metadata stored under a key.
    pub(crate) fn stored(&self, key: &str) -> Option<Value> {
        let path = files::inside(&self.folder, &format!("{key}.json")).ok()?;
        serde_json::from_str(&files::text(&path)?).ok()
    }

    /// Marks the metadata of a key as applied.
    pub(crate) fn commit(&self, key: &str) -> Result<()> {
        let path = files::inside(&self.folder, &format!("{key}.json"))?;
        let text = files::read(&path)?.ok_or_else(|| GuestError::at(&path, "is gone"))?;
        files::write(&with_ending(&path, ".last"), text.as_bytes(), 0o600)
    }

    /// Writes the list of files of this round, in order.
    pub(crate) fn list(&self, paths: &[PathBuf]) -> Result<()> {
        let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        let text = json::print(&names.into(), Style::Line);
        files::write(&self.folder.join("os_config_files.json"), text.as_bytes(), 0o600)
    }

    /// Replaces a copy of the cache as atomically as possible: the new copy is complete before the old one is
    /// removed.
    pub(crate) fn copy_to(&self, copy: &Path) -> Result<()> {
        let new = with_ending(copy, ".new");
        // An interrupted run may have left this directory behind.
        _ = std::fs::remove_dir_all(&new);
        files::private_folder(&new)?;
        for name in files::names(&self.folder) {
            let path = self.folder.join(&name);
            if path.is_file() && !name.starts_with('.') {
                let bytes = std::fs::read(&path).map_err(|error| GuestError::at(&path, error))?;
                files::write(&new.join(&name), &bytes, 0o600)?;
            }
        }
        let old = with_ending(copy, ".old");
        _ = std::fs::remove_dir_all(&old);
        // There is no previous copy the first time.
        _ = std::fs::rename(copy, &old);
        std::fs::rename(&new, copy).map_err(|error| GuestError::at(copy, error))?;
        _ = std::fs::remove_dir_all(&old);
        Ok(())
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::tests::Folder;
    use serde_json::json;

    #[test]
    fn changed_until_it_was_acted_on() {
        let folder = Folder::new();
        let cache = Cache::open(folder.0.join("cache")).unwrap();
        let changed = |content: &Value| cache.store("a", content).unwrap().1;
        assert!(changed(&json!({"x": 1})));
        assert!(changed(&json!({"x": 1})));
        cache.commit("a").unwrap();
        assert!(!changed(&json!({"x": 1})));
        assert!(changed(&json!({"x": 2})));
        assert!(!changed(&json!({"x": 1})));
        assert_eq!(files::names(&folder.0.join("cache")), ["a.json", "a.json.last", "a.json.orig"]);
        assert!(cache.store("../a", &json!({})).is_err());
        cache.copy_to(&folder.0.join("copy")).unwrap();
        cache.copy_to(&folder.0.join("copy")).unwrap();
        assert_eq!(files::names(&folder.0), ["cache", "copy"]);
    }
}
