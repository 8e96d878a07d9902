//! Options of logs and metrics.

use crate::config::LogSettings;
use crate::config::option::{OptionRow, Setting};

/// The values.
#[derive(Default)]
pub(in crate::config) struct LoggingOptions {
    debug: bool,
    levels: Vec<String>,
    use_json: bool,
    format: String,
    metrics_host: String,
    metrics_port: Option<u16>,
}

pub(super) const ROWS: &[OptionRow] = &[
    OptionRow::new(
        "DEFAULT",
        "debug",
        "Whether messages of level DEBUG are logged.",
        Setting::Flag(false, |it| &mut it.logging.debug),
    ),
    OptionRow::new(
        "DEFAULT",
        "default_log_levels",
        "Levels of single modules, such as kiln_engine=DEBUG; names of Python modules match nothing.",
        Setting::List(&[], |it| &mut it.logging.levels),
    ),
    OptionRow::new(
        "DEFAULT",
        "use_json",
        "Whether every log line is a JSON object.",
        Setting::Flag(false, |it| &mut it.logging.use_json),
    ),
    OptionRow::new(
        "kiln",
        "log_format",
        "The format of log lines; the same as use_json.",
        Setting::Choice("text", &["text", "json"], |it| &mut it.logging.format),
    ),
    OptionRow::new(
        "kiln",
        "metrics_host",
        "The address on which metrics are served.",
        Setting::Text("127.0.0.1", |it| &mut it.logging.metrics_host),
    ),
    OptionRow::new(
        "kiln",
        "metrics_port",
        "The port on which metrics are served, at /metrics; without a port there are no metrics.",
        Setting::Port(None, |it| &mut it.logging.metrics_port),
    ),
];

impl LoggingOptions {
    /// The address of metrics, if they are served.
    pub(in crate::config) fn metrics(&self) -> Option<(String, u16)> {
        self.metrics_port.map(|port| (self.metrics_host.clone(), port))
    }

    /// What is logged, and how.
    pub(in crate::config) fn settings(&self) -> LogSettings {
        LogSettings {
            is_json: self.use_json || self.format == "json",
            is_debug: self.debug,
            levels: self.levels.clone(),
        }
    }
}
