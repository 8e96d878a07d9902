//! The policy files of a configuration, found where oslo.policy finds them.
//!
//! Relative names belong to the directory of the configuration file, never to the working directory. A file that is
//! named must exist; the default ones need not.

use super::option::OptionKey;
use kiln_api::policy::PolicyText;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The option that names the file.
pub(crate) const POLICY_FILE: OptionKey = ("oslo_policy", "policy_file");

/// The option that names directories.
pub(crate) const POLICY_DIRS: OptionKey = ("oslo_policy", "policy_dirs");

/// The files that are read if none is named; the first one that exists.
const DEFAULT_FILES: [&str; 2] = ["policy.yaml", "policy.json"];

/// The policy files of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PolicyFiles {
    /// The file that the configuration names.
    named: Option<PathBuf>,
    /// The files of which the first is read if none is named.
    defaults: Vec<PathBuf>,
    /// The directories whose files come after it.
    dirs: Vec<PathBuf>,
}

/// Why a policy file cannot be read.
#[derive(Debug)]
pub(crate) enum PolicyFileError {
    /// The file that the configuration names does not exist.
    Missing(String),
    /// A file or a directory cannot be read.
    Unreadable {
        /// The option that names it.
        option: OptionKey,
        /// The file or the directory.
        path: String,
        /// Why.
        source: io::Error,
    },
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PolicyFileError::Missing(path) => {
                write!(f, "{path} does not exist: correct the name, or create the file")
            }
            PolicyFileError::Unreadable { path, source, .. } => {
                write!(f, "cannot read {path}: {source}")
            }
        }
    }
}

impl PolicyFileError {
    /// The option that names the file.
    pub(crate) fn option(&self) -> OptionKey {
        match self {
            PolicyFileError::Missing(_) => POLICY_FILE,
            PolicyFileError::Unreadable { option, .. } => *option,
        }
    }
}

impl PolicyFiles {
    /// The files of a configuration in a directory; without a configuration file, there are none.
    pub(super) fn new(
        directory: Option<&Path>,
        named: Option<&Path>,
        dirs: &[String],
    ) -> PolicyFiles {
        let Some(directory) = directory else { return PolicyFiles::default() };
        let dirs = dirs.iter().filter(|name| !name.is_empty());
        PolicyFiles {
            named: named.map(|name| directory.join(name)),
            defaults: DEFAULT_FILES.iter().map(|name| directory.join(name)).collect(),
            dirs: dirs.map(|name| directory.join(name)).collect(),
        }
    }

    /// Reads all files, in the order in which they replace each other's rules.
    pub(crate) fn read(&self) -> Result<Vec<PolicyText>, PolicyFileError> {
        let mut texts = Vec::new();
        match &self.named {
            Some(path) => match read_file(path, POLICY_FILE)? {
                Some(text) => texts.push(text),
                None => return Err(PolicyFileError::Missing(path.display().to_string())),
            },
            None => {
                for path in &self.defaults {
                    if let Some(text) = read_file(path, POLICY_FILE)? {
                        texts.push(text);
                        break;
                    }
                }
            }
        }
        for directory in &self.dirs {
            for path in files_in(directory)? {
                // A file that was removed just now is not there.
                texts.extend(read_file(&path, POLICY_DIRS)?);
            }
        }
        Ok(texts)
    }

    /// The directories that do not exist, or not yet.
    pub(super) fn missing_dirs(&self) -> impl Iterator<Item = &Path> {
        self.dirs.iter().map(PathBuf::as_path).filter(|directory| !directory.exists())
    }
}

/// The regular files of a directory in the order of their names, without hidden ones; none if it does not exist.
fn files_in(directory: &Path) -> Result<Vec<PathBuf>, PolicyFileError> {
    let failed = |source| unreadable(directory, POLICY_DIRS, source);
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // Links are followed: a volume of Kubernetes consists of them.
        let is_file = fs::metadata(entry.path()).is_ok_and(|found| found.is_file());
        if is_file && !entry.file_name().as_encoded_bytes().starts_with(b".") {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a file; nothing if it does not exist.
fn read_file(path: &Path, option: OptionKey) -> Result<Option<PolicyText>, PolicyFileError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(PolicyText { name: path.display().to_string(), text })),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(path, option, source)),
    }
}

fn unreadable(path: &Path, option: OptionKey, source: io::Error) -> PolicyFileError {
    PolicyFileError::Unreadable { option, path: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with files, which goes away with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn with(files: &[&str]) -> Folder {
            let name = format!("kiln-policy-{}", crate::load::random_id().simple());
            let folder = Folder(std::env::temp_dir().join(name));
            for file in files {
                let path = folder.0.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "").unwrap();
            }
            folder
        }

        /// The names of the files that are read, relative to the directory.
        fn read(&self, named: Option<&str>, dirs: &[&str]) -> Result<Vec<String>, String> {
            let dirs: Vec<String> = dirs.iter().map(|name| (*name).to_owned()).collect();
            let files = PolicyFiles::new(Some(&self.0), named.map(Path::new), &dirs);
            let texts = files.read().map_err(|error| error.to_string())?;
            let start = format!("{}/", self.0.display());
            Ok(texts.into_iter().map(|text| text.name.replace(&start, "")).collect())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_are_read_in_the_order_of_oslo_policy() {
        let folder = Folder::with(&[
            "policy.yaml",
            "policy.json",
            "other.yaml",
            "policy.d/b.yaml",
            "policy.d/10-a.json",
            "policy.d/.hidden.yaml",
            "policy.d/below/c.yaml",
            "more/a.yaml",
        ]);
        let all = ["policy.yaml", "policy.d/10-a.json", "policy.d/b.yaml"].map(String::from);
        assert_eq!(folder.read(None, &["policy.d"]).unwrap(), all);
        let named = folder.read(Some("other.yaml"), &["more", "missing", "", "more"]).unwrap();
        assert_eq!(named, ["other.yaml", "more/a.yaml", "more/a.yaml"]);
        let absolute = folder.0.join("other.yaml").display().to_string();
        assert_eq!(folder.read(Some(&absolute), &[]).unwrap(), ["other.yaml"]);
        fs::remove_file(folder.0.join("policy.yaml")).unwrap();
        assert_eq!(folder.read(None, &[]).unwrap(), ["policy.json"]);
        fs::remove_file(folder.0.join("policy.json")).unwrap();
        assert_eq!(folder.read(None, &[]).unwrap(), Vec::<String>::new());
        let missing = folder.read(Some("policy.yaml"), &[]).unwrap_err();
        assert!(
            missing.ends_with("/policy.yaml does not exist: correct the name, or create the file")
        );
        assert_eq!(PolicyFiles::new(None, None, &["policy.d".into()]), PolicyFiles::default());
    }
}
