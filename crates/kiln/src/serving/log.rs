//! Logs: to standard error, as text or as JSON objects.

#[cfg(feature = "otlp")]
use super::otlp::TraceGuard;
use crate::config::LogSettings;
use crate::stdio::CommandError;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry, fmt, reload};

/// The variable that overrides all options.
const VARIABLE: &str = "KILN_LOG";

/// Nothing has to be done at the end if traces are not exported.
#[cfg(not(feature = "otlp"))]
pub(crate) struct TraceGuard;

/// The logs of a process.
pub(crate) struct Logging {
    _traces: TraceGuard,
    filter: reload::Handle<EnvFilter, Registry>,
}

impl Logging {
    /// Puts the levels of other settings in force, unless `KILN_LOG` replaces them; either is logged.
    pub(crate) fn reload(&self, settings: &LogSettings) {
        if asked().is_some() {
            tracing::info!(
                "{VARIABLE} sets the levels of the log: those of the options have no effect"
            );
            return;
        }
        let filter = EnvFilter::try_new(directives(settings)).map_err(|error| error.to_string());
        let replaced =
            filter.and_then(|filter| self.filter.reload(filter).map_err(|error| error.to_string()));
        match replaced {
            Ok(()) => tracing::info!("the levels of the log were read again and are in force"),
            Err(error) => tracing::error!(error, "the levels of the log stay as they were"),
        }
    }
}

/// The levels in `KILN_LOG`.
fn asked() -> Option<String> {
    let value = std::env::var_os(VARIABLE)?.into_string().ok()?;
    Some(value).filter(|value| !value.is_empty())
}

/// Starts to log if `KILN_LOG` is set, for commands that do not log otherwise.
#[cfg(feature = "dev")]
pub(crate) fn start_if_asked(is_styled: bool) -> Result<Option<Logging>, CommandError> {
    let is_asked = std::env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
    is_asked.then(|| start(&LogSettings::default(), is_styled)).transpose()
}

/// Starts to log, and to export traces if that is built in and configured. `KILN_LOG` overrides the levels of the
/// settings. Lines have colours if standard error is styled. Spans that are still to be exported are sent when the
/// guard is dropped.
pub(crate) fn start(settings: &LogSettings, is_styled: bool) -> Result<Logging, CommandError> {
    let filter = EnvFilter::try_new(asked().unwrap_or_else(|| directives(settings)));
    let filter = filter
        .map_err(|error| CommandError::usage(format!("the levels in {VARIABLE}: {error}")))?;
    let (filter, handle) = reload::Layer::new(filter);
    let lines = fmt::layer().with_writer(std::io::stderr).with_ansi(is_styled);
    let lines = if settings.is_json {
        lines.json().flatten_event(true).with_span_list(false).boxed()
    } else {
        lines.boxed()
    };
    let subscriber = tracing_subscriber::registry().with(filter).with(lines);
    #[cfg(feature = "otlp")]
    let (subscriber, guard) = {
        let (layer, guard) = super::otlp::layer()?;
        (subscriber.with(layer), guard)
    };
    #[cfg(not(feature = "otlp"))]
    let guard = TraceGuard;
    // A subscriber that is installed already stays.
    _ = subscriber.try_init();
    Ok(Logging { _traces: guard, filter: handle })
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
