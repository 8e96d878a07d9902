//! os-refresh-config: runs the phases of configuration in order, one instance at a time.

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::{Host, Level};
use crate::options::{Args, Flag, switch, value};
use crate::run_parts;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(crate) const FLAGS: &[Flag] = &[
    switch("print-base", None, "Print the directory of the phases, and exit."),
    switch("print-phases", None, "Print the phases, and exit."),
    value("log-level", None, "The log level: ERROR, WARN, CRITICAL, INFO or DEBUG."),
    value("lockfile", None, "The lock file."),
    value("timeout", None, "The time limit in seconds for the whole run."),
];

const PHASES: [&str; 4] = ["pre-configure", "configure", "post-configure", "migration"];

/// The exit status if another instance has the lock, the number of that error.
const BUSY: i32 = 11;

/// Runs the tool.
pub(crate) fn main(host: &mut Host, args: &Args) -> i32 {
    host.level = match args.get("log-level") {
        Some("ERROR" | "CRITICAL") => Level::Error,
        Some("WARN") => Level::Warning,
        Some("DEBUG") => Level::Debug,
        _ => Level::Info,
    };
    if args.has("print-base") {
        host.print(&base(host).display().to_string());
        return 0;
    }
    if args.has("print-phases") {
        host.print(&PHASES.join("\t"));
        return 0;
    }
    let lock = host.path(args.get("lockfile").unwrap_or("/var/run/os-refresh-config.lock"));
    let limit = args.get("timeout").and_then(|it| it.parse().ok()).map(Duration::from_secs);
    let locked = match take(host, &lock) {
        Ok(Some(locked)) => locked,
        Ok(None) => {
            host.error(format!("{} is locked by another instance", lock.display()));
            return BUSY;
        }
        Err(error) => {
            host.error(error.to_string());
            return 1;
        }
    };
    let status = phases(host, &[], limit.map(|limit| Instant::now() + limit));
    // The content of the lock file must not name a finished process.
    _ = locked.set_len(0);
    status
}

/// Returns the directory of the phases.
pub(crate) fn base(host: &Host) -> PathBuf {
    let (default, older) = ("/usr/libexec/os-refresh-config", "/opt/stack/os-config-refresh");
    match host.variable("OS_REFRESH_CONFIG_BASE_DIR") {
        Some(configured) => host.path(configured),
        None if host.path(older).is_dir() && !host.path(default).is_dir() => host.path(older),
        None => host.path(default),
    }
}

/// Runs all phases; after a failure, those for errors.
pub(crate) fn phases(host: &Host, left_out: &[&str], deadline: Option<Instant>) -> i32 {
    let base = base(host);
    for phase in PHASES {
        let folder = base.join(format!("{phase}.d"));
        if !folder.is_dir() {
            host.debug(format!("{} does not exist", folder.display()));
            continue;
        }
        host.info(format!("Starting phase {phase}"));
        let why = match run_parts::run(host, &folder, left_out, deadline) {
            Ok(0) => continue,
            Ok(status) => format!("status {status}"),
            Err(error) => error.to_string(),
        };
        host.error(format!("during {phase} phase: {why}"));
        let errors = base.join("error.d");
        if errors.is_dir()
            && let Err(error) = run_parts::run(host, &errors, left_out, deadline)
        {
            host.error(error.to_string());
        }
        return 1;
    }
    0
}

/// Takes the lock; `None` if another instance has it.
fn take(host: &Host, path: &std::path::Path) -> Result<Option<File>> {
    if let Some(folder) = path.parent() {
        files::folder(folder, 0o755)?;
    }
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(path);
    let mut file = opened.map_err(|error| GuestError::at(path, error))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(GuestError::at(path, error)),
    }
    let text = format!("Locked by pid=={} at {}\n", std::process::id(), host.now());
    let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
    written.map_err(|error| GuestError::at(path, error))?;
    Ok(Some(file))
}
