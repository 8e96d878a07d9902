//! The machine that the program runs on: where its files are, what it was told by its surroundings, where it
//! writes what it has to say. The only place that asks for the time or prints.

use crate::files;
use crate::time::Moment;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The variable that names the root.
pub(crate) const ROOT: &str = "KILN_GUEST_ROOT";

/// How important something is that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

/// How often and how patiently something is tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How often it is tried.
    pub(crate) tries: u32,
    /// The first pause; each one is twice the one before.
    pub(crate) first: Duration,
    /// No pause is longer.
    pub(crate) longest: Duration,
}

impl Patience {
    /// The pause before a try; the first one is number 1.
    pub(crate) fn pause(&self, attempt: u32) -> Duration {
        self.first.saturating_mul(1 << attempt.saturating_sub(1).min(16)).min(self.longest)
    }
}

/// The machine.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    root: PathBuf,
    environment: BTreeMap<String, String>,
    /// The tool that speaks.
    pub(crate) tool: String,
    /// Less important things are not said.
    pub(crate) level: Level,
    /// Where it is written as well.
    pub(crate) log_file: Option<PathBuf>,
}

impl Host {
    /// The machine as the surroundings describe it.
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

    /// Has all paths lie below a folder.
    pub(crate) fn set_root(&mut self, root: &str) {
        let root = std::path::absolute(root).unwrap_or_else(|_| PathBuf::from(root));
        self.environment.insert(ROOT.into(), root.display().to_string());
        self.root = root;
    }

    /// A path of the machine: below the root, unless it is there already.
    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        if self.is_whole() || path.starts_with(&self.root) || path.is_relative() {
            return path.to_path_buf();
        }
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether the root is that of the system.
    pub(crate) fn is_whole(&self) -> bool {
        self.root == Path::new("/")
    }

    /// A variable of the surroundings that says something.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// A path that a variable names, or where it usually is.
    pub(crate) fn path_of(&self, variable: &str, usual: &str) -> PathBuf {
        self.path(self.variable(variable).unwrap_or(usual))
    }

    /// What programs that are started get from the surroundings: the same root, and its programs first.
    pub(crate) fn surroundings(&self) -> BTreeMap<String, String> {
        let mut all = self.environment.clone();
        if !self.is_whole() {
            let own = self.path("/usr/bin").display().to_string();
            let known = all.get("PATH").map_or("/usr/bin:/bin", String::as_str);
            if !known.starts_with(&own) {
                let path = format!("{own}:{known}");
                all.insert("PATH".into(), path);
            }
        }
        all
    }

    /// How patiently others are asked again: `KILN_GUEST_PATIENCE` is tries and the first pause in milliseconds.
    pub(crate) fn patience(&self) -> Patience {
        let told = self.variable("KILN_GUEST_PATIENCE").and_then(|it| it.split_once(','));
        let told = told.and_then(|(tries, first)| Some((tries.parse().ok()?, first.parse().ok()?)));
        let (tries, first) = told.unwrap_or((10, 500));
        Patience { tries, first: Duration::from_millis(first), longest: Duration::from_secs(120) }
    }

    /// The seconds since the beginning of 1970.
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

    /// Prints without ending the line.
    #[expect(clippy::print_stdout, reason = "this is the edge")]
    pub(crate) fn print_part(&self, text: &str) {
        print!("{text}");
    }

    /// Says something to whoever reads logs.
    #[expect(clippy::print_stderr, reason = "this is the edge")]
    pub(crate) fn say(&self, level: Level, text: &str) {
        if level < self.level {
            return;
        }
        let word = match level {
            Level::Debug => "DEBUG",
            Level::Info => "INFO",
            Level::Warning => "WARNING",
            Level::Error => "ERROR",
        };
        let time = Moment::since_1970(self.now()).for_logs();
        eprintln!("[{time}] ({}) [{word}] {text}", self.tool);
        if let Some(file) = &self.log_file {
            // Somebody without the right to write there is told on the screen alone.
            _ = files::append(file, &format!("{word} [{time}] {text}\n"), 0o640);
        }
    }

    /// Says something ordinary.
    pub(crate) fn info(&self, text: impl AsRef<str>) {
        self.say(Level::Info, text.as_ref());
    }

    /// Says something that only those want to know who look for a mistake.
    pub(crate) fn debug(&self, text: impl AsRef<str>) {
        self.say(Level::Debug, text.as_ref());
    }

    /// Says something that may be wrong.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        self.say(Level::Warning, text.as_ref());
    }

    /// Says something that is wrong.
    pub(crate) fn error(&self, text: impl AsRef<str>) {
        self.say(Level::Error, text.as_ref());
    }
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
        assert!(host.surroundings()["PATH"].starts_with("/srv/guest/usr/bin:"));
    }

    #[test]
    fn pauses_double_and_are_bounded() {
        let patience = Host::new(BTreeMap::new()).patience();
        let pauses: Vec<_> = (1..=9).map(|attempt| patience.pause(attempt).as_millis()).collect();
        assert_eq!(pauses, [500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 120_000]);
    }
}
