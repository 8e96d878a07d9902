//! Reading the files again while the server runs (SIGHUP).
//!
//! Policy files and the global environment are watched, so their changes are in force already. The levels of the log and the
//! certificates are put in force here. For all other options, the log names those whose change takes effect at a restart.

use super::settings;
use crate::cli::Server;
use crate::config::{ConfigFile, rows};
use crate::serving::log::Logging;
use crate::serving::tls::Certificate;
use crate::stdio::CommandError;
use std::sync::Arc;

/// The options that take effect without a restart.
const RELOADED: &[(&str, &str)] = &[("DEFAULT", "debug"), ("DEFAULT", "default_log_levels")];

/// What the server started with, and what can be replaced while it runs.
pub(super) struct Reloading<'a> {
    pub(super) arguments: &'a Server,
    /// The configuration at the start.
    pub(super) file: &'a ConfigFile,
    pub(super) logging: Logging,
    pub(super) certificates: Vec<Arc<Certificate>>,
}

impl Reloading<'_> {
    /// Reads the configuration and the certificates again.
    pub(super) fn reload(&self) {
        self.certificates.iter().for_each(|certificate| certificate.reload());
        let read = ConfigFile::load_all(&self.arguments.config);
        let read = read.and_then(|file| Ok((settings(self.arguments, &file)?, file)));
        let (settings, file) = match read {
            Ok(read) => read,
            Err(CommandError::Usage(error)) => {
                tracing::error!(
                    "the configuration has an error, and a restart would fail: {error}"
                );
                return;
            }
            Err(error) => {
                tracing::error!(?error, "the configuration cannot be read again");
                return;
            }
        };
        self.logging.reload(&settings.log);
        let waiting = changed(self.file, &file);
        match waiting.is_empty() {
            true => tracing::info!("the configuration was read again: all of it is in force"),
            false => tracing::warn!(
                options = waiting.join(", "),
                "the configuration was read again: changes of these options take effect at a restart"
            ),
        }
    }
}

/// The options with other values, without those that take effect at once.
fn changed(before: &ConfigFile, after: &ConfigFile) -> Vec<String> {
    let stays = |section: &str, name: &str| {
        !RELOADED.iter().any(|(other, option)| (*other, *option) == (section, name))
    };
    let mut changed: Vec<String> = rows()
        .filter(|row| stays(row.section, row.name))
        .filter(|row| before.values(row, row.section).0 != after.values(row, row.section).0)
        .map(|row| format!("[{}] {}", row.section, row.name))
        .collect();
    changed.sort();
    changed
}
