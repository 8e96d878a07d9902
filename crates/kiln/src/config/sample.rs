//! A configuration file with all options, which the package installs as `/etc/kiln/kiln.conf`.

use super::option::OptionRow;
use super::options::rows;
use std::fmt::Write;

/// The options that an operator has to set, with what stands for their values in the sample.
const REQUIRED: &[(&str, &str, &str)] = &[
    ("database", "connection", "sqlite:////var/lib/kiln/kiln.db"),
    ("keystone_authtoken", "auth_url", "http://keystone.example:5000"),
    ("keystone_authtoken", "password", "PASSWORD"),
    ("keystone_authtoken", "username", "heat"),
    ("kiln", "keys_file", "/var/lib/kiln/kiln.keys"),
];

/// The file: every option is commented out, except those that have to be set.
pub(crate) fn sample() -> String {
    let mut text = "\
# The configuration of Kiln. Every option has a comment with its meaning, type and default; those that have to be
# set for a first start are not commented out. `kiln doctor --config FILE` checks the file and everything that it
# names. The names are those of Heat; section [kiln] has what Heat does not have.
"
    .to_owned();
    let mut all: Vec<&OptionRow> = rows().collect();
    all.sort_by_key(|row| (row.section != "DEFAULT", row.section, row.name));
    let mut section = "";
    for row in all {
        if row.section != section {
            section = row.section;
            // Writing to a string does not fail.
            _ = write!(text, "\n[{section}]\n");
        }
        text.push_str(&option(row));
    }
    text
}

/// An option with its comment.
fn option(row: &OptionRow) -> String {
    let kind = row.setting.type_name();
    let range = row.setting.range().map(|range| format!(", {range}")).unwrap_or_default();
    let comment = wrapped(&format!("{} ({kind}{range})", row.help));
    let required = REQUIRED.iter().find(|it| (it.0, it.1) == (row.section, row.name));
    let value = match required {
        Some((_, name, value)) => format!("{name} = {value}"),
        None => format!("#{} = {}", row.name, row.setting.default()),
    };
    format!("\n{comment}{}\n", value.trim_end())
}

/// A text in lines of comments.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 110;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last().map_or(0, String::len);
        if last > 0 && last + 1 + word.len() > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ConfigFile, Settings};

    /// A value that the sample shows as a default is accepted where it is set.
    #[test]
    fn the_sample_is_a_configuration() {
        let file = ConfigFile::parse(&sample()).unwrap();
        let settings = Settings::from_file(&file).unwrap();
        assert_eq!(settings.notices, crate::config::Notices::default());
        assert_eq!(settings.database, "sqlite:///var/lib/kiln/kiln.db");
        assert_eq!(settings.keys.to_str(), Some("/var/lib/kiln/kiln.keys"));
        for (section, name, _) in REQUIRED {
            assert!(rows().any(|row| (row.section, row.name) == (*section, *name)), "{name}");
        }
    }
}
