//! The priority of a notification.

/// The priority of a notification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// For audit records.
    Audit,
    /// For debugging.
    Debug,
    /// Informational.
    #[default]
    Info,
    /// A warning.
    Warn,
    /// An error.
    Error,
    /// A critical error.
    Critical,
    /// A measurement.
    Sample,
}

const LEVELS: [(Level, &str, &str); 7] = [
    (Level::Audit, "AUDIT", "audit"),
    (Level::Debug, "DEBUG", "debug"),
    (Level::Info, "INFO", "info"),
    (Level::Warn, "WARN", "warn"),
    (Level::Error, "ERROR", "error"),
    (Level::Critical, "CRITICAL", "critical"),
    (Level::Sample, "SAMPLE", "sample"),
];

impl Level {
    /// Returns the name in messages, such as `INFO`.
    pub fn name(self) -> &'static str {
        LEVELS[self as usize].1
    }

    /// Returns the name in queue names, such as `info`.
    pub fn word(self) -> &'static str {
        LEVELS[self as usize].2
    }

    /// Parses a name, ignoring its case.
    pub fn parse(name: &str) -> Option<Level> {
        LEVELS.iter().find(|row| row.1.eq_ignore_ascii_case(name.trim())).map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        for (level, name, word) in LEVELS {
            assert_eq!((Level::parse(name), Level::parse(word)), (Some(level), Some(level)));
            assert_eq!((level.name(), level.word()), (name, word));
        }
        assert_eq!(Level::parse("loud"), None);
    }
}
