//! os-collect-config: asks sources for metadata, keeps it, and has something done when it changed.

mod cache;
mod ec2;
mod explode;
mod local;
mod settings;
mod source;

pub(crate) use cache::Cache;
pub(crate) use settings::{FLAGS, Settings, paths};
pub(crate) use source::queue_request;

use crate::files;
use crate::host::{Host, Level};
use crate::http::Http;
use crate::json::{self, Style};
use crate::options::Given;
use crate::problem::{Problem, Result};
use crate::process;
use serde_json::{Map, Value};
use source::{Memory, Missing};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Every source, in the usual order: later ones win.
const SOURCES: [&str; 7] = ["heat_local", "ec2", "cfn", "heat", "request", "local", "zaqar"];

/// The sources whose deployments may be metadata by themselves.
pub(crate) const EXPLODED: [&str; 4] = ["cfn", "heat", "request", "zaqar"];

/// A source that failed for want of anybody there is left alone for so long.
const LEFT_ALONE: Duration = Duration::from_secs(60);

/// What asks sources.
pub(crate) struct Collector {
    http: Http,
    memories: BTreeMap<&'static str, Memory>,
}

/// What a round of asking came to.
pub(crate) struct Round {
    /// What there is, in order.
    pub(crate) content: Vec<(String, Value)>,
    /// The same as files.
    pub(crate) paths: Vec<PathBuf>,
    /// What is not as it was when it was last acted on.
    pub(crate) changed: Vec<String>,
}

impl Collector {
    /// One that has asked nobody yet.
    pub(crate) fn new(host: &Host, settings: &Settings) -> Collector {
        let authorities = settings.get("cfn", "ca_certificate");
        let authorities = authorities.or(settings.get("zaqar", "ca_file"));
        let http = Http::new(host).trusting(authorities);
        let memories = SOURCES.map(|name| (name, Memory::default()));
        Collector { http, memories: memories.into() }
    }

    /// Asks every source.
    pub(crate) fn ask(
        &mut self,
        host: &Host,
        settings: &Settings,
        cache: Option<&Cache>,
    ) -> Result<Vec<(String, Value)>> {
        let told = settings.all("DEFAULT", "collectors");
        let told: Vec<&str> = match told.is_empty() {
            true => SOURCES.to_vec(),
            // Several may be written on one line.
            false => told.iter().flat_map(|it| it.split([',', ' ', '\n'])).collect(),
        };
        let mut keys = settings.all("DEFAULT", "deployment_key").to_vec();
        keys.extend_from_slice(settings.all("cfn", "deployment_key"));
        if keys.is_empty() {
            keys.push("deployments".into());
        }
        let mut content = Vec::new();
        for name in told.into_iter().filter(|name| !name.is_empty()) {
            let Some(known) = SOURCES.iter().find(|known| **known == name) else {
                return Err(Problem::new(format!("there is no collector {name:?}")));
            };
            match self.ask_one(host, settings, known, cache) {
                Ok(found) if EXPLODED.contains(known) => {
                    let found = found.into_iter();
                    content.extend(
                        found.flat_map(|(key, value)| explode::explode(&key, value, &keys)),
                    );
                }
                Ok(found) => content.extend(found),
                Err(Missing::NotConfigured) => {
                    host.debug(format!("Source [{name}] Not configured."));
                }
                Err(Missing::NotAvailable(why)) => {
                    host.debug(why);
                    host.warn(format!("Source [{name}] Unavailable."));
                }
            }
        }
        Ok(content)
    }

    fn ask_one(
        &mut self,
        host: &Host,
        settings: &Settings,
        name: &'static str,
        cache: Option<&Cache>,
    ) -> std::result::Result<Vec<(String, Value)>, Missing> {
        let memory = self.memories.entry(name).or_default();
        let one = |value: Value| vec![(name.to_owned(), value)];
        match name {
            "heat_local" => local::at_boot(host, settings).map(one),
            "local" => local::in_image(host, settings),
            "ec2" => {
                // It does not change while the server lives.
                if let Some(known) = cache.and_then(|cache| cache.stored("ec2")) {
                    return Ok(one(known));
                }
                if memory.failed.is_some_and(|at| at.elapsed() < LEFT_ALONE) {
                    return Err(Missing::NotConfigured);
                }
                let found = ec2::collect(host, &self.http, settings);
                memory.failed = found.is_err().then(Instant::now);
                found.map(one)
            }
            "cfn" => source::cfn(host, &self.http, settings, memory, None).map(one),
            "heat" => source::heat(&self.http, settings, memory, None).map(one),
            "request" => source::request(&self.http, settings, memory).map(one),
            _ => source::zaqar(&self.http, settings, memory).map(one),
        }
    }

    /// Asks every source, and keeps what they said.
    pub(crate) fn round(
        &mut self,
        host: &Host,
        settings: &Settings,
        cache: &Cache,
    ) -> Result<Round> {
        let content = self.ask(host, settings, Some(cache))?;
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
                Err(problem) => host.error(problem.to_string()),
            }
        }
        if !round.changed.is_empty() {
            cache.list(&round.paths)?;
            let usual = "/var/run/os-collect-config";
            let copy = settings.get("DEFAULT", "backup_cachedir").unwrap_or(usual);
            if let Err(problem) = cache.copy_to(&host.path(copy)) {
                host.warn(problem.to_string());
            }
        }
        Ok(round)
    }

    /// Waits for the next round: at a source that tells of changes by itself if there is one, or so long.
    pub(crate) fn rest(
        &mut self,
        host: &Host,
        settings: &Settings,
        pause: Duration,
        is_over: &AtomicBool,
    ) {
        let longest = settings.number("DEFAULT", "polling_interval", 30);
        for name in ["heat", "cfn"] {
            let memory = self.memories.entry(name).or_default();
            let Some(offer) = memory.offer else { continue };
            let (http, seconds) = (&self.http, offer.min(longest).max(1));
            let waited = match name {
                "heat" => source::wait(
                    |memory, wait| source::heat(http, settings, memory, wait),
                    memory,
                    seconds,
                ),
                _ => source::wait(
                    |memory, wait| source::cfn(host, http, settings, memory, wait),
                    memory,
                    seconds,
                ),
            };
            match waited {
                Ok(()) => return,
                Err(_) => memory.offer = None,
            }
        }
        // A little less, each time another bit: many servers do not ask at the same moment.
        let until = Instant::now() + pause - (pause / 5).mul_f64(random());
        while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(500)));
        }
    }
}

/// Pauses that double, and begin anew after a change.
pub(crate) struct Pauses {
    next: Duration,
}

impl Pauses {
    pub(crate) fn new(settings: &Settings) -> Pauses {
        Pauses { next: Pauses::shortest(settings) }
    }

    fn shortest(settings: &Settings) -> Duration {
        Duration::from_secs(settings.number("DEFAULT", "min_polling_interval", 1).max(1))
    }

    /// The next pause.
    pub(crate) fn next(&mut self, settings: &Settings, has_changed: bool) -> Duration {
        if has_changed {
            self.next = Pauses::shortest(settings);
        }
        let longest =
            Duration::from_secs(settings.number("DEFAULT", "polling_interval", 30).max(1));
        let pause = self.next.min(longest);
        self.next = (self.next * 2).min(longest);
        pause
    }
}

/// The tool. Gives an exit status, or nothing if it is to begin anew.
pub(crate) fn main(host: &mut Host, given: &Given) -> Option<i32> {
    run(host, given, serve)
}

/// Runs a tool with the flags of this one.
pub(crate) fn run(
    host: &mut Host,
    given: &Given,
    serve: fn(&Host, &Given) -> Result<Option<i32>>,
) -> Option<i32> {
    if given.has("debug") {
        host.level = Level::Debug;
    }
    match serve(host, given) {
        Ok(status) => status,
        Err(problem) => {
            host.error(problem.to_string());
            Some(1)
        }
    }
}

/// Where metadata is kept.
pub(crate) fn cache_folder(host: &Host, settings: &Settings) -> PathBuf {
    host.path(settings.get("DEFAULT", "cachedir").unwrap_or("/var/lib/os-collect-config"))
}

/// Whether somebody asked to begin anew, by the signal that means this.
pub(crate) fn hung_up() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    // Without it the signal ends the program, and whoever started it starts it again.
    _ = signal_hook::flag::register(signal_hook::consts::SIGHUP, flag.clone());
    flag
}

fn serve(host: &Host, given: &Given) -> Result<Option<i32>> {
    let settings = Settings::read(host, given);
    let is_set = |key: &str| settings.is("DEFAULT", key);
    let folder = cache_folder(host, &settings);
    if is_set("print_cachedir") {
        host.print(&folder.display().to_string());
        return Ok(Some(0));
    }
    let mut collector = Collector::new(host, &settings);
    let command = settings.get("DEFAULT", "command");
    let Some(command) = command.filter(|_| !is_set("print")) else {
        let content: Map<String, Value> =
            collector.ask(host, &settings, None)?.into_iter().collect();
        host.print(&json::print(&content.into(), Style::Indented(1)));
        return Ok(Some(0));
    };
    let is_once = is_set("one_time") || is_set("force");
    let (asked_to_end, before) = (hung_up(), written(host, given));
    if !is_once {
        std::thread::sleep(splay(&settings));
    }
    let cache = Cache::open(folder)?;
    let mut pauses = Pauses::new(&settings);
    loop {
        let round = collector.round(host, &settings, &cache)?;
        let has_changed = !round.changed.is_empty();
        let mut status = 0;
        if has_changed || is_set("force") {
            status = act(host, command, &round, &cache)?;
            if !is_once && written(host, given) != before {
                return Ok(None);
            }
        }
        if is_once {
            return Ok(Some(status));
        }
        if !asked_to_end.load(Ordering::Relaxed) {
            let pause = pauses.next(&settings, has_changed && status == 0);
            collector.rest(host, &settings, pause, &asked_to_end);
        }
        if asked_to_end.load(Ordering::Relaxed) {
            return Ok(None);
        }
    }
}

/// Has something done about what changed, and notes that it was.
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

/// What the files with settings say, to see whether somebody changed them.
fn written(host: &Host, given: &Given) -> Vec<(PathBuf, Option<String>)> {
    paths(host, given).into_iter().map(|path| (path.clone(), files::text(&path))).collect()
}

/// A random wait, so that many servers do not ask at the same moment.
fn splay(settings: &Settings) -> Duration {
    Duration::from_secs(settings.number("DEFAULT", "splay", 0)).mul_f64(random())
}

/// Something between 0 and 1.
fn random() -> f64 {
    let mut bytes = [0; 4];
    let read = std::fs::File::open("/dev/urandom")
        .and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_or(0.5, |()| f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}
