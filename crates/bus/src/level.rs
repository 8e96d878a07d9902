//! How important a notification is.

/// How important a notification is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Of interest to whoever keeps records.
    Audit,
    /// Of interest to whoever looks for a mistake.
    Debug,
    /// Of interest.
    #[default]
    Info,
    /// Something may be wrong.
    Warn,
    /// Something went wrong.
    Error,
    /// Something is badly wrong.
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
    /// Its name in messages, such as `INFO`.
    pub fn name(self) -> &'static str {
        LEVELS[self as usize].1
    }

    /// Its name in the names of queues, such as `info`.
    pub fn word(self) -> &'static str {
        LEVELS[self as usize].2
    }

    /// The level of a name, however it is written.
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
