//! Logs: to standard error, as text or as JSON objects.

use crate::config::LogSettings;
use tracing_subscriber::EnvFilter;

/// The variable that overrides all options.
const VARIABLE: &str = "KILN_LOG";

/// Starts to log. `KILN_LOG` overrides the levels of the settings.
pub(crate) fn start(settings: &LogSettings) {
    let filter = EnvFilter::try_from_env(VARIABLE);
    let filter = filter.unwrap_or_else(|_| EnvFilter::new(directives(settings)));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A subscriber that is installed already stays.
    _ = if settings.is_json {
        log.json().flatten_event(true).with_span_list(false).try_init()
    } else {
        log.try_init()
    };
}

/// What is logged: by default, Kiln's own messages of level INFO, warnings of libraries, and notifications if they
/// go to the log.
fn directives(settings: &LogSettings) -> String {
    let usual = if settings.is_debug { "info,kiln=debug" } else { "warn,kiln=info" };
    let mut all = vec![usual.to_owned(), "notification=debug".to_owned()];
    all.extend(settings.levels.iter().filter_map(|level| directive(level)));
    all.join(",")
}

/// The directive for an entry of `default_log_levels`; `None` for names that no Rust module has.
fn directive(level: &str) -> Option<String> {
    let (module, level) = level.split_once('=')?;
    let module = module.trim();
    let is_module = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == ':';
    if module.is_empty() || !module.chars().all(is_module) {
        return None;
    }
    let level = match level.trim().to_ascii_uppercase().as_str() {
        "TRACE" => "trace",
        "DEBUG" => "debug",
        "INFO" => "info",
        "WARN" | "WARNING" => "warn",
        "ERROR" | "CRITICAL" | "FATAL" => "error",
        _ => return None,
    };
    Some(format!("{module}={level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_the_options() {
        let mut settings = LogSettings::default();
        assert_eq!(directives(&settings), "warn,kiln=info,notification=debug");
        settings.is_debug = true;
        settings.levels = ["amqp=WARN", "kiln_engine=WARNING", "oslo.messaging=INFO", "x=LOUD"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(
            directives(&settings),
            "info,kiln=debug,notification=debug,amqp=warn,kiln_engine=warn"
        );
        assert!(EnvFilter::try_new(directives(&settings)).is_ok());
    }
}
