//! What a server says about its configuration file when it starts.

use super::file::ConfigFile;
use super::options;
use super::options::accepted::{self, Acceptance};
use kiln_template::suggest;

/// Messages about a file: warnings of what is lost, one line about what is not needed, and its details.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Notices {
    /// What does not work as the file says.
    pub(crate) warnings: Vec<String>,
    /// The options that need no attention, in one line.
    pub(crate) summary: Option<String>,
    /// Why each of them needs none.
    pub(crate) details: Vec<String>,
}

impl Notices {
    /// Logs them.
    pub(crate) fn tell(&self) {
        for warning in &self.warnings {
            tracing::warn!("{warning}");
        }
        if let Some(summary) = &self.summary {
            tracing::info!("{summary}");
        }
        for detail in &self.details {
            tracing::debug!("{detail}");
        }
    }
}

impl ConfigFile {
    /// The messages about the options that set nothing. Sections of other programs are not looked at.
    pub(super) fn notices(&self) -> Notices {
        let mut notices = Notices::default();
        let mut needless = Vec::new();
        for (section, name, origin) in self.written() {
            let table = options::table_section(section);
            let of_section = |key: &super::OptionKey| key.0 == table || key.0 == section;
            if options::keys().any(|key| of_section(&key) && key.1 == name) {
                continue;
            }
            let place = format!("{}: [{section}] {name}", self.line(origin));
            match accepted::find(section, name).map(|row| (row.acceptance, row.reason)) {
                Some((Acceptance::NotSupported(harmless), reason)) => {
                    let value = self.last_value(section, name);
                    if !harmless.iter().any(|it| it.eq_ignore_ascii_case(value.trim())) {
                        notices.warnings.push(format!("{place} is not supported. {reason}"));
                    }
                }
                Some((acceptance, reason)) => {
                    needless.push(format!("[{section}] {name}"));
                    notices.details.push(format!("{place} is {acceptance}. {reason}"));
                }
                None => notices.warnings.extend(unknown(&place, section, name)),
            }
        }
        if !needless.is_empty() {
            let count = crate::render::counted(needless.len(), "option");
            let sets = if needless.len() == 1 { "sets" } else { "set" };
            notices.summary = Some(format!(
                "{}: {count} {sets} nothing because Kiln needs no such setting: {}; `kiln config list` gives the \
                 reasons",
                self.path(),
                needless.join(", ")
            ));
        }
        notices
    }
}

/// The warning about an option that nobody knows, in a section that is Kiln's.
fn unknown(place: &str, section: &str, name: &str) -> Option<String> {
    let table = options::table_section(section);
    let known: Vec<&str> =
        options::keys().filter(|key| key.0 == table || key.0 == section).map(|key| key.1).collect();
    if known.is_empty() {
        return None;
    }
    let warning = format!("{place} is not known and is ignored");
    let elsewhere = options::keys().find(|key| key.1 == name && key.0 != "DEFAULT");
    let help = suggest::did_you_mean(name, known.iter().copied())
        .or_else(|| elsewhere.map(|(section, name)| format!("did you mean `[{section}] {name}`?")));
    Some(help.map_or(warning.clone(), |help| format!("{warning}; {help}")))
}
