//! os-collect-config: collects metadata from its sources, caches it, and runs a command when it changes.

mod cache;
mod config;
mod ec2;
mod explode;
mod local;
pub(crate) mod source;

pub(crate) use cache::Cache;
pub(crate) use config::{Config, FLAGS, paths};
pub(crate) use source::queue_request;

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::{Host, Level};
use crate::http::Http;
use crate::json::{self, Style};
use crate::options::Args;
use crate::process;
use serde_json::{Map, Value};
use source::{SourceError, SourceState};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The sources in the default order: later ones take precedence.
const SOURCES: [&str; 7] = ["heat_local", "ec2", "cfn", "heat", "request", "local", "zaqar"];

/// The sources whose deployments may be metadata.
pub(crate) const EXPLODED: [&str; 4] = ["cfn", "heat", "request", "zaqar"];

/// The time for which an unreachable source is skipped.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// The collector and its state.
pub(crate) struct Collector {
    http: Http,
    states: BTreeMap<&'static str, SourceState>,
}

/// The result of one round.
pub(crate) struct Round {
    /// The metadata of each source, in order.
    pub(crate) content: Vec<(String, Value)>,
    /// The files with the metadata.
    pub(crate) paths: Vec<PathBuf>,
    /// The keys that differ from the last applied version.
    pub(crate) changed: Vec<String>,
}

impl Collector {
    /// Returns a collector without any state.
    pub(crate) fn new(host: &Host, config: &Config) -> Collector {
        let authorities = config.get("cfn", "ca_certificate");
        let authorities = authorities.or(config.get("zaqar", "ca_file"));
        let http = Http::new(host).trusting(authorities);
        let states = SOURCES.map(|name| (name, SourceState::default()));
        Collector { http, states: states.into() }
    }

    /// Queries every source.
    pub(crate) fn query_all(
        &mut self,
        host: &Host,
        config: &Config,
        cache: Option<&Cache>,
    ) -> Result<Vec<(String, Value)>> {
        let configured = config.all("DEFAULT", "collectors");
        let names: Vec<&str> = if configured.is_empty() {
            SOURCES.to_vec()
        } else {
            // One line may name several sources.
            configured.iter().flat_map(|it| it.split([',', ' ', '\n'])).collect()
        };
        let mut keys = config.all("DEFAULT", "deployment_key").to_vec();
        keys.extend_from_slice(config.all("cfn", "deployment_key"));
        if keys.is_empty() {
            keys.push("deployments".into());
        }
        let mut content = Vec::new();
        for name in names.into_iter().filter(|name| !name.is_empty()) {
            let Some(known) = SOURCES.iter().find(|known| **known == name) else {
                return Err(GuestError::new(format!("unknown collector {name:?}")));
            };
            match self.query(host, config, known, cache) {
                Ok(found) if EXPLODED.contains(known) => {
                    let found = found.into_iter();
                    content.extend(
                        found.flat_map(|(key, value)| explode::explode(&key, value, &keys)),
                    );
                }
                Ok(found) => content.extend(found),
                Err(SourceError::NotConfigured) => {
                    host.debug(format!("Source [{name}] Not configured."));
                }
                Err(SourceError::NotAvailable(why)) => {
                    host.debug(why);
                    host.warn(format!("Source [{name}] Unavailable."));
                }
            }
        }
        Ok(content)
    }

    fn query(
        &mut self,
        host: &Host,
        config: &Config,
        name: &'static str,
        cache: Option<&Cache>,
    ) -> std::result::Result<Vec<(String, Value)>, SourceError> {
        let state = self.states.entry(name).or_default();
        let one = |value: Value| vec![(name.to_owned(), value)];
        match name {
            "heat_local" => local::at_boot(host, config).map(one),
            "local" => local::in_image(host, config),
            "ec2" => {
                // The metadata of EC2 does not change during the life of the server.
                if let Some(known) = cache.and_then(|cache| cache.stored("ec2")) {
                    return Ok(one(known));
                }
                if state.failed.is_some_and(|at| at.elapsed() < RETRY_AFTER) {
                    return Err(SourceError::NotConfigured);
                }
                let found = ec2::collect(host, &self.http, config);
                state.failed = found.is_err().then(Instant::now);
                found.map(one)
            }
            "cfn" => source::cfn(host, &self.http, config, state, None).map(one),
            "heat" => source::heat(&self.http, config, state, None).map(one),
            "request" => source::request(&self.http, config, state).map(one),
            _ => source::zaqar(&self.http, config, state).map(one),
        }
    }

    /// Queries every source and caches the results.
    pub(crate) fn round(&mut self, host: &Host, config: &Config, cache: &Cache) -> Result<Round> {
        let content = self.query_all(host, config, Some(cache))?;
        let mut round = Round { content: Vec::new(), paths: Vec::new(), changed: Vec::new() };
        for (key, value) in content {
            match cache.store(&key, &value) {
                Ok((path, is_changed)) => {
                    if is_changed {
                        round.changed.push(key.clone());
                    }
                    round.paths.push(path);
                    round.content.push((key, value));
                }
                Err(error) => host.error(error.to_string()),
            }
        }
        if !round.changed.is_empty() {
            cache.list(&round.paths)?;
            let default = "/var/run/os-collect-config";
            let copy = config.get("DEFAULT", "backup_cachedir").unwrap_or(default);
            if let Err(error) = cache.copy_to(&host.path(copy)) {
                host.warn(error.to_string());
            }
        }
        Ok(round)
    }

    /// Waits for the next round: for a change at a source that supports long polling, or for the pause.
    pub(crate) fn wait_for_change(
        &mut self,
        host: &Host,
        config: &Config,
        pause: Duration,
        is_over: &AtomicBool,
    ) {
        let max_delay = config.seconds("DEFAULT", "polling_interval", 30);
        for name in ["heat", "cfn"] {
            let state = self.states.entry(name).or_default();
            let Some(max_wait) = state.max_wait else { continue };
            let (http, seconds) = (&self.http, max_wait.min(max_delay).max(1));
            let waited = match name {
                "heat" => source::wait(
                    |state, wait| source::heat(http, config, state, wait),
                    state,
                    seconds,
                ),
                _ => source::wait(
                    |state, wait| source::cfn(host, http, config, state, wait),
                    state,
                    seconds,
                ),
            };
            match waited {
                Ok(()) => return,
                Err(_) => state.max_wait = None,
            }
        }
        // A random reduction keeps many servers from polling at the same time.
        let until = Instant::now() + pause - (pause / 5).mul_f64(random());
        while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(500)));
        }
    }
}

/// Pauses that double, and start again from the shortest after a change.
pub(crate) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(config: &Config) -> Backoff {
        Backoff { next: Backoff::shortest(config) }
    }

    fn shortest(config: &Config) -> Duration {
        Duration::from_secs(config.seconds("DEFAULT", "min_polling_interval", 1).max(1))
    }

    /// Returns the next pause.
    pub(crate) fn next(&mut self, config: &Config, has_changed: bool) -> Duration {
        if has_changed {
            self.next = Backoff::shortest(config);
        }
        let max_delay =
            Duration::from_secs(config.seconds("DEFAULT", "polling_interval", 30).max(1));
        let pause = self.next.min(max_delay);
        self.next = (self.next * 2).min(max_delay);
        pause
    }
}

/// Runs the tool. Returns the exit status, or `None` to restart.
pub(crate) fn main(host: &mut Host, args: &Args) -> Option<i32> {
    run(host, args, serve)
}

/// Runs a tool with the options of this one.
pub(crate) fn run(
    host: &mut Host,
    args: &Args,
    serve: fn(&Host, &Args) -> Result<Option<i32>>,
) -> Option<i32> {
    if args.has("debug") {
        host.level = Level::Debug;
    }
    match serve(host, args) {
        Ok(status) => status,
        Err(error) => {
            host.error(error.to_string());
            Some(1)
        }
    }
}

/// Returns the directory of the cache.
pub(crate) fn cache_folder(host: &Host, config: &Config) -> PathBuf {
    host.path(config.get("DEFAULT", "cachedir").unwrap_or("/var/lib/os-collect-config"))
}

/// Reports whether SIGHUP was received, which requests a restart.
pub(crate) fn sighup_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    // Without the handler the signal ends the program, and the service manager restarts it.
    _ = signal_hook::flag::register(signal_hook::consts::SIGHUP, flag.clone());
    flag
}

fn serve(host: &Host, args: &Args) -> Result<Option<i32>> {
    let config = Config::read(host, args);
    let is_set = |key: &str| config.is("DEFAULT", key);
    let folder = cache_folder(host, &config);
    if is_set("print_cachedir") {
        host.print(&folder.display().to_string());
        return Ok(Some(0));
    }
    let mut collector = Collector::new(host, &config);
    let command = config.get("DEFAULT", "command");
    let Some(command) = command.filter(|_| !is_set("print")) else {
        let content: Map<String, Value> =
            collector.query_all(host, &config, None)?.into_iter().collect();
        host.print(&json::print(&content.into(), Style::Indented(1)));
        return Ok(Some(0));
    };
    let is_once = is_set("one_time") || is_set("force");
    let (asked_to_end, before) = (sighup_flag(), read_config_files(host, args));
    if !is_once {
        std::thread::sleep(splay(&config));
    }
    let cache = Cache::open(folder)?;
    let mut pauses = Backoff::new(&config);
    loop {
        let round = collector.round(host, &config, &cache)?;
        let has_changed = !round.changed.is_empty();
        let mut status = 0;
        if has_changed || is_set("force") {
            status = act(host, command, &round, &cache)?;
            if !is_once && read_config_files(host, args) != before {
                return Ok(None);
            }
        }
        if is_once {
            return Ok(Some(status));
        }
        if !asked_to_end.load(Ordering::Relaxed) {
            let pause = pauses.next(&config, has_changed && status == 0);
            collector.wait_for_change(host, &config, pause, &asked_to_end);
        }
        if asked_to_end.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

/// Runs the command for the changes, and marks them as applied.
fn act(host: &Host, command: &str, round: &Round, cache: &Cache) -> Result<i32> {
    let paths: Vec<String> = round.paths.iter().map(|path| path.display().to_string()).collect();
    let mut shell = process::shell(host, command);
    shell.env("OS_CONFIG_FILES", paths.join(":"));
    let status = process::run(&mut shell)?;
    match status {
        0 => round.changed.iter().try_for_each(|key| cache.commit(key))?,
        _ => host.error(format!(
            "Command failed, will not cache new data. {command:?} ended with {status}"
        )),
    }
    Ok(status)
}

/// Returns the content of the configuration files, to detect changes.
fn read_config_files(host: &Host, args: &Args) -> Vec<(PathBuf, Option<String>)> {
    paths(host, args).into_iter().map(|path| (path.clone(), files::text(&path))).collect()
}

/// Returns a random delay that keeps many servers from polling at the same time.
fn splay(config: &Config) -> Duration {
    Duration::from_secs(config.seconds("DEFAULT", "splay", 0)).mul_f64(random())
}

/// Returns a random number between 0 and 1.
fn random() -> f64 {
    let mut bytes = [0; 4];
    let read = std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_or(0.5, |()| f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}
