//! The table of options: every option that a configuration file may set, with the fields that they set.
//!
//! The file reader, the warnings about unknown options, `kiln config list`, the defaults and `docs/configuration.md` all
//! come from these rows. Each file has the options of one area: a struct with their values, its rows, and the functions
//! that build settings of other crates from it.

pub(super) mod accepted;
pub(super) mod api;
pub(super) mod cloud;
pub(super) mod engine;
pub(super) mod identity;
pub(super) mod logging;
mod login;
pub(super) mod notifications;
pub(super) mod services;
pub(super) mod signatures;

use super::option::{OptionKey, OptionRow};

/// The values of all options.
#[derive(Default)]
pub(crate) struct OptionValues {
    pub(super) api: api::ApiOptions,
    pub(super) cloud: cloud::CloudOptions,
    pub(super) engine: engine::EngineOptions,
    pub(super) identity: identity::IdentityOptions,
    pub(super) logging: logging::LoggingOptions,
    pub(super) notifications: notifications::NotificationOptions,
    pub(super) services: services::ServiceOptions,
    pub(super) signatures: signatures::SignatureOptions,
}

/// All rows.
pub(crate) fn rows() -> impl Iterator<Item = &'static OptionRow> {
    let areas: [&'static [OptionRow]; 8] = [
        api::ROWS,
        cloud::ROWS,
        engine::ROWS,
        identity::ROWS,
        logging::ROWS,
        notifications::ROWS,
        services::ROWS,
        signatures::ROWS,
    ];
    areas.into_iter().flatten()
}

/// The current and older names of all options.
pub(super) fn keys() -> impl Iterator<Item = OptionKey> {
    rows().flat_map(OptionRow::keys)
}

/// The section of the table that describes a section of a file: `[ec2authtoken.NAME]` has the options of
/// `[ec2authtoken]`, and `[clients_nova]` those of `[clients_SERVICE]`.
pub(super) fn table_section(section: &str) -> &str {
    match section.split_once('.') {
        Some((signatures::SIGNATURES, _)) => signatures::SIGNATURES,
        _ if services::service_of(section).is_some() => services::SERVICE,
        _ => section,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_option_is_in_the_table_once() {
        let mut seen = BTreeSet::new();
        for key in keys() {
            assert!(seen.insert(key), "{key:?} occurs twice");
        }
    }

    #[test]
    fn every_default_is_a_value_that_the_option_takes() {
        for row in rows() {
            let default = row.setting.default();
            let values: Vec<String> = if default.is_empty() { vec![] } else { vec![default] };
            let applied = row.setting.apply(&mut OptionValues::default(), &values);
            assert_eq!(applied, Ok(()), "[{}] {}", row.section, row.name);
        }
    }

    #[test]
    fn help_is_a_sentence() {
        for row in rows() {
            let is_sentence = row.help.ends_with('.') && row.help.starts_with(char::is_uppercase);
            assert!(is_sentence, "[{}] {}: {}", row.section, row.name, row.help);
        }
    }
}
