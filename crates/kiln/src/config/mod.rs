//! The configuration file: oslo's form and Heat's names, so that a `heat.conf` does as it is.

mod cloud;
mod ini;
mod known;
mod notifications;
mod options;
mod signatures;
mod sockets;

pub(crate) use options::{Flavor, Login, Settings};
pub(crate) use sockets::Socket;

use crate::streams::Failure;
use ini::{Given, Ini};
use std::path::Path;

/// A configuration file that was read.
pub(crate) struct Config {
    ini: Ini,
    path: String,
}

impl Config {
    /// Reads a file; without one, everything has its default.
    pub(crate) fn load(path: Option<&Path>) -> Result<Config, Failure> {
        let Some(path) = path else {
            return Ok(Config { ini: Ini::default(), path: String::new() });
        };
        let shown = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("cannot read {shown}: {error}")))?;
        let ini =
            Ini::parse(&text).map_err(|problem| Failure::usage(format!("{shown}: {problem}")))?;
        Ok(Config { ini, path: shown })
    }

    /// A file with this text.
    #[cfg(test)]
    fn read(text: &str) -> Result<Config, String> {
        let ini = Ini::parse(text).map_err(|problem| problem.to_string())?;
        Ok(Config { ini, path: "kiln.conf".into() })
    }

    /// The text of an option.
    fn text(&self, section: &str, option: &str) -> Option<String> {
        self.ini.get(section, option).map(|given| given.value).filter(|value| !value.is_empty())
    }

    /// All values that were given to an option.
    fn all(&self, section: &str, option: &str) -> Vec<String> {
        self.ini.all(section, option)
    }

    fn parsed<T>(
        &self,
        section: &str,
        option: &str,
        what: &str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let Some(Given { value, line }) = self.ini.get(section, option) else { return Ok(None) };
        match read(&value) {
            Some(value) => Ok(Some(value)),
            None => Err(Failure::usage(format!(
                "{}: line {line}: [{section}] {option} must be {what}, not {value:?}",
                self.path
            ))),
        }
    }

    /// A whole number.
    fn number(&self, section: &str, option: &str, default: i64) -> Result<i64, Failure> {
        let read = |value: &str| value.trim().parse().ok();
        Ok(self.parsed(section, option, "a whole number", read)?.unwrap_or(default))
    }

    /// A number of which -1 means that there is no limit.
    fn limit(&self, section: &str, option: &str, default: u64) -> Result<Option<u64>, Failure> {
        let default = i64::try_from(default).unwrap_or(i64::MAX);
        Ok(u64::try_from(self.number(section, option, default)?).ok())
    }

    /// A yes or no.
    fn flag(&self, section: &str, option: &str, default: bool) -> Result<bool, Failure> {
        let read = |value: &str| match value.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "on" | "yes" => Some(true),
            "false" | "0" | "off" | "no" => Some(false),
            _ => None,
        };
        Ok(self.parsed(section, option, "true or false", read)?.unwrap_or(default))
    }

    /// Words separated by commas.
    fn list(&self, section: &str, option: &str) -> Vec<String> {
        let text = self.text(section, option).unwrap_or_default();
        let words = text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// Where in the file something is wrong.
    fn wrong(&self, section: &str, option: &str, message: &str) -> Failure {
        let line = self.ini.get(section, option).map_or(0, |given| given.line);
        Failure::usage(format!("{}: line {line}: [{section}] {option}: {message}", self.path))
    }

    /// Sections that are ours, and options in them that nobody knows.
    fn unknown(&self) -> Vec<String> {
        let known = |section: &str, name: &str| {
            known::KNOWN.iter().any(|row| row.0 == section && row.1 == name)
        };
        let ours = |section: &str| known::KNOWN.iter().any(|row| row.0 == section);
        self.ini
            .options()
            .filter(|(section, name, _)| ours(section) && !known(section, name))
            .map(|(section, name, line)| {
                format!("{}: line {line}: [{section}] {name} has no effect", self.path)
            })
            .collect()
    }
}
