//! os-refresh-config: the phases of configuration, one after another, by one at a time.

use crate::files;
use crate::host::{Host, Level};
use crate::options::{Flag, Given, switch, value};
use crate::problem::{Problem, Result};
use crate::run_parts;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) const FLAGS: &[Flag] = &[
    switch("print-base", None, "Print the folder of the phases, and end."),
    switch("print-phases", None, "Print the phases, and end."),
    value("log-level", None, "What is said: ERROR, WARN, CRITICAL, INFO or DEBUG."),
    value("lockfile", None, "The file that keeps others away."),
    value("timeout", None, "After so many seconds everything is stopped."),
];

const PHASES: [&str; 4] = ["pre-configure", "configure", "post-configure", "migration"];

/// What others get told who find the lock taken: the number of that error.
const BUSY: i32 = 11;

/// The tool.
pub(crate) fn main(host: &mut Host, given: &Given) -> i32 {
    host.level = match given.get("log-level") {
        Some("ERROR" | "CRITICAL") => Level::Error,
        Some("WARN") => Level::Warning,
        Some("DEBUG") => Level::Debug,
        _ => Level::Info,
    };
    if given.has("print-base") {
        host.print(&base(host).display().to_string());
        return 0;
    }
    if given.has("print-phases") {
        host.print(&PHASES.join("\t"));
        return 0;
    }
    let lock = host.path(given.get("lockfile").unwrap_or("/var/run/os-refresh-config.lock"));
    let limit = given.get("timeout").and_then(|it| it.parse().ok()).map(Duration::from_secs);
    let locked = match take(host, &lock) {
        Ok(Some(locked)) => locked,
        Ok(None) => {
            host.error(format!("{} is locked by another one", lock.display()));
            return BUSY;
        }
        Err(problem) => {
            host.error(problem.to_string());
            return 1;
        }
    };
    let status = phases(host, &[], limit.map(|limit| Instant::now() + limit));
    // Whoever reads it is not to be told of somebody who is gone.
    _ = locked.set_len(0);
    status
}

/// Where the phases are.
pub(crate) fn base(host: &Host) -> PathBuf {
    let (usual, older) = ("/usr/libexec/os-refresh-config", "/opt/stack/os-config-refresh");
    match host.variable("OS_REFRESH_CONFIG_BASE_DIR") {
        Some(told) => host.path(told),
        None if host.path(older).is_dir() && !host.path(usual).is_dir() => host.path(older),
        None => host.path(usual),
    }
}

/// Runs all phases; after one that failed, those for errors.
pub(crate) fn phases(host: &Host, left_out: &[&str], deadline: Option<Instant>) -> i32 {
    let base = base(host);
    for phase in PHASES {
        let folder = base.join(format!("{phase}.d"));
        if !folder.is_dir() {
            host.debug(format!("there is no {}", folder.display()));
            continue;
        }
        host.info(format!("Starting phase {phase}"));
        let why = match run_parts::run(host, &folder, left_out, deadline) {
            Ok(0) => continue,
            Ok(status) => format!("status {status}"),
            Err(problem) => problem.to_string(),
        };
        host.error(format!("during {phase} phase: {why}"));
        let errors = base.join("error.d");
        if errors.is_dir()
            && let Err(problem) = run_parts::run(host, &errors, left_out, deadline)
        {
            host.error(problem.to_string());
        }
        return 1;
    }
    0
}

/// Takes the lock; nothing if somebody else has it.
fn take(host: &Host, path: &std::path::Path) -> Result<Option<File>> {
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = opened.map_err(|error| Problem::at(path, error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(Problem::at(path, error)),
    }
    let text = format!("Locked by pid=={} at {}\n", std::process::id(), host.now());
    let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
    written.map_err(|error| Problem::at(path, error))?;
    Ok(Some(file))
}
