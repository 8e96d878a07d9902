//! A configuration file, and the values that it gives to options.

use super::ini::{Ini, IniValue};
use super::option::{OptionKey, OptionRow};
use super::options::{self, OptionValues};
use crate::stdio::CommandError;
use kiln_template::suggest;
use std::path::Path;

/// The section of the policy.
const POLICY: &str = "oslo_policy";

/// A configuration file that was read.
pub(crate) struct ConfigFile {
    ini: Ini,
    path: String,
}

/// Where the value of an option comes from.
pub(crate) enum ValueSource {
    /// The table.
    Default,
    /// A line of the file, under this name.
    File { section: String, name: &'static str, line: usize },
}

impl ConfigFile {
    /// Reads a file; without one, every option has its default.
    pub(crate) fn load(path: Option<&Path>) -> Result<ConfigFile, CommandError> {
        let Some(path) = path else {
            return Ok(ConfigFile { ini: Ini::default(), path: String::new() });
        };
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| CommandError::usage(format!("cannot read {shown}: {error}")))?;
        let ini =
            Ini::parse(&text).map_err(|error| CommandError::usage(format!("{shown}: {error}")))?;
        Ok(ConfigFile { ini, path: shown })
    }

    /// A file with this text.
    #[cfg(test)]
    pub(super) fn parse(text: &str) -> Result<ConfigFile, String> {
        let ini = Ini::parse(text).map_err(|error| error.to_string())?;
        Ok(ConfigFile { ini, path: "kiln.conf".into() })
    }

    /// The path, as it was given.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The directory of the file, if there is one.
    pub(super) fn directory(&self) -> Option<&Path> {
        if self.path.is_empty() { None } else { Path::new(&self.path).parent() }
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
            let ValueSource::File { section, name, line } = source else {
                return CommandError::usage(format!("[{section}] {} has no default", row.name));
            };
            let value = row.setting.shown(values.last().map_or("", String::as_str));
            CommandError::usage(format!(
                "{}: line {line}: [{section}] {name} must be {unfit}, not {value:?}",
                self.path
            ))
        })
    }

    /// The values that the file gives to an option, and where they stand. The first of its names that has a value
    /// counts.
    pub(crate) fn values(&self, row: &OptionRow, section: &str) -> (Vec<String>, ValueSource) {
        let keys = row.keys().map(|key| if key.0 == row.section { (section, key.1) } else { key });
        for (section, name) in keys {
            let Some(IniValue { value, line }) = self.ini.get(section, name) else { continue };
            if value.trim().is_empty() && !row.deprecated.is_empty() {
                continue;
            }
            let source = ValueSource::File { section: section.to_owned(), name, line };
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
            Some(ValueSource::File { section, name, line }) => {
                format!("{}: line {line}: [{section}] {name}: {message}", self.path)
            }
            _ => format!("{}: line 0: [{section}] {name}: {message}", self.path),
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
        let Some((section, name, line)) = unknown.next() else { return Ok(()) };
        let place = format!("{}: line {line}: [{section}] {name}", self.path);
        if name.starts_with("remote_") {
            let why = "is for checks that ask another server, which are not supported; remove it";
            return Err(CommandError::usage(format!("{place} {why}")));
        }
        let why = "is not known, and the policy must not be weaker than it was meant";
        let help = suggest::did_you_mean(name, known.iter().copied());
        let help = help.unwrap_or_else(|| "correct its name, or remove it".to_owned());
        Err(CommandError::usage(format!("{place} {why}; {help}")))
    }

    /// The options that the file sets: section, name and line.
    pub(super) fn written(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.ini.options()
    }

    /// The last value that the file gives to an option, or nothing.
    pub(super) fn last_value(&self, section: &str, name: &str) -> String {
        self.ini.get(section, name).map(|it| it.value).unwrap_or_default()
    }
}
