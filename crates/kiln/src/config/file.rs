//! Configuration files, and the values that they give to options.
//!
//! Several files count as one: a value of a later file takes precedence.

use super::ini::{Ini, IniValue, Origin};
use super::option::{OptionKey, OptionRow};
use super::options::{self, OptionValues};
use crate::stdio::CommandError;
use kiln_template::suggest;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The section of the policy.
const POLICY: &str = "oslo_policy";

/// The configuration files that were read.
pub(crate) struct ConfigFile {
    ini: Ini,
    /// The paths, as they were given.
    paths: Vec<String>,
}

/// Where the value of an option comes from.
pub(crate) enum ValueSource {
    /// The table.
    Default,
    /// A line of a file, under this name.
    File { section: String, name: &'static str, origin: Origin },
}

impl ConfigFile {
    /// Reads a file; without one, every option has its default.
    pub(crate) fn load(path: Option<&Path>) -> Result<ConfigFile, CommandError> {
        let paths: Vec<PathBuf> = path.into_iter().map(Path::to_owned).collect();
        ConfigFile::load_all(&paths)
    }

    /// Reads files. Those of a directory are its `*.conf`, in the order of their names.
    pub(crate) fn load_all(paths: &[PathBuf]) -> Result<ConfigFile, CommandError> {
        let mut file = ConfigFile { ini: Ini::default(), paths: Vec::new() };
        for path in paths {
            let path_error = |error: std::io::Error| {
                CommandError::usage(format!("cannot read {}: {error}", path.display()))
            };
            match path.is_dir() {
                true => {
                    conf_files(path).map_err(path_error)?.iter().try_for_each(|it| file.read(it))?
                }
                false => file.read(path)?,
            }
        }
        Ok(file)
    }

    /// Reads one more file.
    fn read(&mut self, path: &Path) -> Result<(), CommandError> {
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| CommandError::usage(format!("cannot read {shown}: {error}")))?;
        let read = self.ini.read(self.paths.len(), &text);
        read.map_err(|error| CommandError::usage(format!("{shown}: {error}")))?;
        self.paths.push(shown);
        Ok(())
    }

    /// Sets an option as if a last line of the files did.
    pub(crate) fn set(&mut self, (section, name): OptionKey, value: &str, given_as: &str) {
        // A value on the command line has no section or line that could be wrong.
        let value = value.lines().next().unwrap_or_default();
        if self.ini.read(self.paths.len(), &format!("[{section}]\n{name} = {value}\n")).is_ok() {
            self.paths.push(given_as.to_owned());
        }
    }

    /// A file with this text.
    #[cfg(test)]
    pub(super) fn parse(text: &str) -> Result<ConfigFile, String> {
        let ini = Ini::parse(text).map_err(|error| error.to_string())?;
        Ok(ConfigFile { ini, paths: vec!["kiln.conf".into()] })
    }

    /// The paths, as they were given.
    pub(crate) fn path(&self) -> String {
        self.paths.join(", ")
    }

    /// The number of options that the files set.
    pub(crate) fn count(&self) -> usize {
        self.ini.options().count()
    }

    /// The file of a line.
    pub(crate) fn path_of(&self, origin: Origin) -> &str {
        self.paths.get(origin.file).map_or("", String::as_str)
    }

    /// The directory of the first file, if there is one.
    pub(super) fn directory(&self) -> Option<&Path> {
        Path::new(self.paths.first()?).parent()
    }

    /// The values of all options.
    pub(super) fn options(&self) -> Result<OptionValues, CommandError> {
        let mut options = OptionValues::default();
        for row in options::rows() {
            self.apply(row, row.section, &mut options)?;
        }
        Ok(options)
    }

    /// The values of the options of a section, read from another one.
    pub(super) fn options_as(
        &self,
        section: &str,
        from: &str,
    ) -> Result<OptionValues, CommandError> {
        let mut options = OptionValues::default();
        for row in options::rows().filter(|row| row.section == section) {
            self.apply(row, from, &mut options)?;
        }
        Ok(options)
    }

    fn apply(
        &self,
        row: &OptionRow,
        section: &str,
        options: &mut OptionValues,
    ) -> Result<(), CommandError> {
        let (values, source) = self.values(row, section);
        row.setting.apply(options, &values).map_err(|unfit| {
            let ValueSource::File { section, name, origin } = source else {
                return CommandError::usage(format!("[{section}] {} has no default", row.name));
            };
            let value = row.setting.shown(values.last().map_or("", String::as_str));
            let line = self.line(origin);
            CommandError::usage(format!(
                "{line}: [{section}] {name} must be {unfit}, not {value:?}"
            ))
        })
    }

    /// The values that the file gives to an option, and where they stand. The first of its names that has a value
    /// counts.
    pub(crate) fn values(&self, row: &OptionRow, section: &str) -> (Vec<String>, ValueSource) {
        let keys = row.keys().map(|key| if key.0 == row.section { (section, key.1) } else { key });
        for (section, name) in keys {
            let Some(IniValue { value, origin }) = self.ini.get(section, name) else { continue };
            if value.trim().is_empty() && !row.deprecated.is_empty() {
                continue;
            }
            let source = ValueSource::File { section: section.to_owned(), name, origin };
            return (self.ini.all(section, name), source);
        }
        (Vec::new(), ValueSource::Default)
    }

    /// An error at an option, under the name that the file has for it.
    pub(super) fn error_at(&self, key: OptionKey, message: &str) -> CommandError {
        CommandError::usage(self.message_at(key, message))
    }

    /// Whether the file gives an option a value.
    pub(super) fn sets(&self, (section, name): OptionKey) -> bool {
        self.ini.get(section, name).is_some()
    }

    /// A message about an option, with its place.
    pub(super) fn message_at(&self, (section, name): OptionKey, message: &str) -> String {
        let row = options::rows().find(|row| (row.section, row.name) == (section, name));
        debug_assert!(row.is_some(), "[{section}] {name} is not in the table");
        let found = row.map(|row| self.values(row, section).1);
        match found {
            Some(ValueSource::File { section, name, origin }) => {
                format!("{}: [{section}] {name}: {message}", self.line(origin))
            }
            _ => format!("{}: line 0: [{section}] {name}: {message}", self.path()),
        }
    }

    /// Refuses unknown options of the policy: to ignore one might allow what its author meant to forbid.
    pub(super) fn check_policy_options(&self) -> Result<(), CommandError> {
        let known: Vec<&str> =
            options::keys().filter(|key| key.0 == POLICY).map(|key| key.1).collect();
        let mut unknown = self
            .ini
            .options()
            .filter(|(section, name, _)| *section == POLICY && !known.contains(name));
        let Some((section, name, origin)) = unknown.next() else { return Ok(()) };
        let place = format!("{}: [{section}] {name}", self.line(origin));
        if name.starts_with("remote_") {
            let why = "is for checks that ask another server, which are not supported; remove it";
            return Err(CommandError::usage(format!("{place} {why}")));
        }
        let why = "is not known, and the policy must not be weaker than it was meant";
        let help = suggest::did_you_mean(name, known.iter().copied());
        let help = help.unwrap_or_else(|| "correct its name, or remove it".to_owned());
        Err(CommandError::usage(format!("{place} {why}; {help}")))
    }

    /// A line, with its file.
    pub(super) fn line(&self, origin: Origin) -> String {
        format!("{}: line {}", self.path_of(origin), origin.line)
    }

    /// The options that the files set: section, name and line.
    pub(super) fn written(&self) -> impl Iterator<Item = (&str, &str, Origin)> {
        self.ini.options()
    }

    /// The last value that the file gives to an option, or nothing.
    pub(super) fn last_value(&self, section: &str, name: &str) -> String {
        self.ini.get(section, name).map(|it| it.value).unwrap_or_default()
    }
}

/// The configuration files of a directory, in the order of their names.
fn conf_files(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."));
        if path.extension() == Some(OsStr::new("conf")) && !is_hidden && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}
