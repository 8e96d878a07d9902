//! A configuration file, and the values that it gives to options.

use super::ini::{Ini, IniValue};
use super::option::{OptionKey, OptionRow};
use super::options::{self, OptionValues};
use crate::stdio::CommandError;
use kiln_template::suggest;
use std::path::Path;

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
    pub(super) fn error_at(&self, (section, name): OptionKey, message: &str) -> CommandError {
        let row = options::rows().find(|row| (row.section, row.name) == (section, name));
        debug_assert!(row.is_some(), "[{section}] {name} is not in the table");
        let found = row.map(|row| self.values(row, section).1);
        CommandError::usage(match found {
            Some(ValueSource::File { section, name, line }) => {
                format!("{}: line {line}: [{section}] {name}: {message}", self.path)
            }
            _ => format!("{}: line 0: [{section}] {name}: {message}", self.path),
        })
    }

    /// Warnings about options that have no effect. Sections of other programs are not looked at.
    pub(super) fn warnings(&self) -> Vec<String> {
        let unknown = self.ini.options().filter_map(|(section, name, line)| {
            let table = options::table_section(section);
            let known: Vec<&str> =
                options::keys().filter(|key| key.0 == table).map(|key| key.1).collect();
            if known.is_empty() || known.contains(&name) {
                return None;
            }
            let warning = format!("{}: line {line}: [{section}] {name} has no effect", self.path);
            let elsewhere = options::keys().find(|key| key.1 == name && key.0 != "DEFAULT");
            let help = suggest::did_you_mean(name, known.iter().copied()).or_else(|| {
                elsewhere.map(|(section, name)| format!("did you mean `[{section}] {name}`?"))
            });
            Some(help.map_or(warning.clone(), |help| format!("{warning}; {help}")))
        });
        unknown.collect()
    }
}
