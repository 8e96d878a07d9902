//! The host: the root directory, the environment, and the logs. Only this module reads the clock and prints.

use crate::files;
use crate::time::Timestamp;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// The environment variable with the root directory.
pub(crate) const ROOT: &str = "KILN_GUEST_ROOT";

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// How often and with which delays an operation is retried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RetryPolicy {
    /// The maximal number of attempts.
    pub(crate) attempts: u32,
    /// The first delay; each one is twice the previous one.
    pub(crate) first: Duration,
    /// The maximal delay.
    pub(crate) max_delay: Duration,
}

impl RetryPolicy {
    /// Returns the delay after an attempt, counted from 1.
    pub(crate) fn delay(&self, attempt: u32) -> Duration {
        self.first.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(self.max_delay)
    }
}

/// The host.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    root: PathBuf,
    environment: BTreeMap<String, String>,
    /// The name of the tool in log lines.
    pub(crate) tool: String,
    /// The minimal severity of log lines.
    pub(crate) level: Level,
    /// An additional log file.
    pub(crate) log_file: Option<PathBuf>,
}

impl Host {
    /// Returns the host for an environment.
    pub(crate) fn new(environment: BTreeMap<String, String>) -> Host {
        let root = environment.get(ROOT).filter(|it| !it.is_empty());
        Host {
            root: PathBuf::from(root.map_or("/", String::as_str)),
            environment,
            tool: "kiln-guest".into(),
            level: Level::Info,
            log_file: None,
        }
    }

    /// Sets the root directory for all paths.
    pub(crate) fn set_root(&mut self, root: &str) {
        let root = std::path::absolute(root).unwrap_or_else(|_| PathBuf::from(root));
        self.environment.insert(ROOT.into(), root.display().to_string());
        self.root = root;
    }

    /// Returns a path below the root, unless it is already there. As in the root directory of a system, `..` does not
    /// lead out of it.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.is_system_root() || path.is_relative() {
            return path.to_path_buf();
        }
        let mut below = self.root.clone();
        for component in path.strip_prefix(&self.root).unwrap_or(path).components() {
            match component {
                Component::Normal(part) => below.push(part),
                Component::ParentDir if below != self.root => _ = below.pop(),
                _ => {}
            }
        }
        below
    }

    /// Reports whether the root is that of the system.
    pub(crate) fn is_system_root(&self) -> bool {
        self.root == Path::new("/")
    }

    /// Returns an environment variable, if it is not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// Returns the path in a variable, or the default.
    pub(crate) fn path_of(&self, variable: &str, default: &str) -> PathBuf {
        self.path(self.variable(variable).unwrap_or(default))
    }

    /// Returns the environment of child processes: the same root, with its programs first.
    pub(crate) fn child_environment(&self) -> BTreeMap<String, String> {
        let mut all = self.environment.clone();
        if !self.is_system_root() {
            let own = self.path("/usr/bin").display().to_string();
            let known = all.get("PATH").map_or("/usr/bin:/bin", String::as_str);
            if !known.starts_with(&own) {
                let path = format!("{own}:{known}");
                all.insert("PATH".into(), path);
            }
        }
        all
    }

    /// Returns the policy for retries: `KILN_GUEST_PATIENCE` is the number of attempts and the first delay in
    /// milliseconds.
    pub(crate) fn retry_policy(&self) -> RetryPolicy {
        let configured = self.variable("KILN_GUEST_PATIENCE").and_then(|it| it.split_once(','));
        let configured = configured
            .and_then(|(attempts, first)| Some((attempts.parse().ok()?, first.parse().ok()?)));
        let (attempts, first) = configured.unwrap_or((10, 500));
        RetryPolicy {
            attempts,
            first: Duration::from_millis(first),
            max_delay: Duration::from_secs(120),
        }
    }

    /// Returns the seconds since 1970.
    #[expect(clippy::disallowed_methods, reason = "this is the edge")]
    pub(crate) fn now(&self) -> u64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.map_or(0, |it| it.as_secs())
    }

    /// Prints a line.
    #[expect(clippy::print_stdout, reason = "this is the edge")]
    pub(crate) fn print(&self, text: &str) {
        println!("{text}");
    }

    /// Prints without a line end.
    #[expect(clippy::print_stdout, reason = "this is the edge")]
    pub(crate) fn print_part(&self, text: &str) {
        print!("{text}");
    }

    /// Writes a log line.
    #[expect(clippy::print_stderr, reason = "this is the edge")]
    pub(crate) fn log(&self, level: Level, text: &str) {
        if level < self.level {
            return;
        }
        let word = match level {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
        };
        let text = printable(text);
        let time = Timestamp::from_unix(self.now()).for_logs();
        eprintln!("[{time}] ({}) [{word}] {text}", self.tool);
        if let Some(file) = &self.log_file {
            // Without permission for the file, the line only goes to standard error.
            _ = files::append(file, &format!("{word} [{time}] {text}\n"), 0o640);
        }
    }

    /// Logs at level INFO.
    pub(crate) fn info(&self, text: impl AsRef<str>) {
        self.log(Level::Info, text.as_ref());
    }

    /// Logs at level DEBUG.
    pub(crate) fn debug(&self, text: impl AsRef<str>) {
        self.log(Level::Debug, text.as_ref());
    }

    /// Logs at level WARNING.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        self.log(Level::Warning, text.as_ref());
    }

    /// Logs at level ERROR.
    pub(crate) fn error(&self, text: impl AsRef<str>) {
        self.log(Level::Error, text.as_ref());
    }
}

/// Returns a text for a log: further lines are indented, so that they cannot be taken for lines of the log, and
/// control characters are escaped, so that they cannot command a terminal.
fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => shown.push_str("\n    "),
            '\t' => shown.push(char),
            char if char.is_control() => shown.extend(char.escape_default()),
            char => shown.push(char),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lie_below_the_root_once() {
        let mut host = Host::new(BTreeMap::new());
        assert_eq!(host.path("/etc/motd"), Path::new("/etc/motd"));
        host.set_root("/srv/guest");
        assert_eq!(host.path("/etc/motd"), Path::new("/srv/guest/etc/motd"));
        assert_eq!(host.path("/srv/guest/etc/motd"), Path::new("/srv/guest/etc/motd"));
        for path in ["/../../etc/motd", "/etc/x/../motd", "/srv/guest/../../etc/motd"] {
            assert_eq!(host.path(path), Path::new("/srv/guest/etc/motd"), "{path}");
        }
        assert!(host.child_environment()["PATH"].starts_with("/srv/guest/usr/bin:"));
    }

    #[test]
    fn pauses_double_and_are_bounded() {
        let retry_policy = Host::new(BTreeMap::new()).retry_policy();
        let pauses: Vec<_> =
            (1..=9).map(|attempt| retry_policy.delay(attempt).as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 120_000]);
    }
}
