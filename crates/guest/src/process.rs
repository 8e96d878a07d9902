//! Programs that are started: what they are given, what they print, how they end.
//!
//! What is printed goes to files without names instead of pipes, so that a program that leaves somebody behind
//! who keeps its output open does not keep us waiting, and a talkative one costs no memory.

use crate::files;
use crate::host::Host;
use crate::problem::{Problem, Result};
use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// So much is kept of what a program prints: the end.
const KEPT: u64 = 8 << 20;

/// How often a program with a deadline is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// How a program ended, and what it printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Caught {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A program, with what it gets from the surroundings.
pub(crate) fn program(host: &Host, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().envs(host.surroundings()).stdin(Stdio::null());
    command
}

/// A text for the shell.
pub(crate) fn shell(host: &Host, text: &str) -> Command {
    let mut command = program(host, "/bin/sh");
    command.arg("-c").arg(text);
    command
}

/// Runs a program and gives its exit status; what it prints is printed.
pub(crate) fn run(command: &mut Command) -> Result<i32> {
    let status = command.status().map_err(|error| unable(command, &error))?;
    Ok(code(status))
}

/// Runs a program in a group of its own until a moment; then the group is killed.
pub(crate) fn run_until(command: &mut Command, deadline: Instant) -> Result<i32> {
    let mut child = command.spawn().map_err(|error| unable(command, &error))?;
    let limit = deadline.saturating_duration_since(Instant::now());
    Ok(wait(&mut child, Some(limit))?.unwrap_or(124))
}

/// Runs a program and catches what it prints. One that takes longer than it may is killed, with all in its group.
pub(crate) fn caught(
    command: &mut Command,
    input: Option<&[u8]>,
    limit: Option<Duration>,
) -> Result<Caught> {
    let folder = std::env::temp_dir();
    let (mut out, mut err) = (files::nameless(&folder)?, files::nameless(&folder)?);
    let lost = |error: std::io::Error| Problem::new(format!("cannot keep what it prints: {error}"));
    if let Some(input) = input {
        let mut given = files::nameless(&folder)?;
        given.write_all(input).and_then(|()| given.rewind()).map_err(lost)?;
        command.stdin(given);
    }
    command.stdout(out.try_clone().map_err(lost)?).stderr(err.try_clone().map_err(lost)?);
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| unable(command, &error))?;
    let status = wait(&mut child, limit)?;
    let mut caught = Caught {
        status: status.unwrap_or(124),
        out: files::end_of(&mut out, KEPT).map_err(lost)?,
        err: files::end_of(&mut err, KEPT).map_err(lost)?,
    };
    if let (None, Some(limit)) = (status, limit) {
        caught.err.push_str(&format!("It was stopped after {} seconds.\n", limit.as_secs()));
    }
    Ok(caught)
}

/// Waits for the end; nothing if it took too long.
fn wait(child: &mut Child, limit: Option<Duration>) -> Result<Option<i32>> {
    let lost = |error: std::io::Error| Problem::new(format!("its end cannot be seen: {error}"));
    let Some(limit) = limit else { return child.wait().map(|it| Some(code(it))).map_err(lost) };
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(lost)? {
            return Ok(Some(code(status)));
        }
        if started.elapsed() >= limit {
            if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
                // It may have ended by itself.
                _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait().map_err(lost)?;
            return Ok(None);
        }
        std::thread::sleep(LOOK);
    }
}

/// An exit status, or 128 and more for whoever was killed by a signal.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn unable(command: &Command, error: &std::io::Error) -> Problem {
    Problem::new(format!("{} cannot be run: {error}", command.get_program().display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn host() -> Host {
        Host::new(BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]))
    }

    #[test]
    fn what_is_printed_is_caught() {
        let mut command = shell(&host(), "cat; echo no >&2; exit 3");
        let caught = caught(&mut command, Some(b"yes"), None).unwrap();
        assert_eq!(caught, Caught { status: 3, out: "yes".into(), err: "no\n".into() });
    }

    #[test]
    fn somebody_left_behind_keeps_nobody_waiting() {
        let mut command = shell(&host(), "sleep 600 & echo $!");
        let caught = caught(&mut command, None, None).unwrap();
        let left: i32 = caught.out.trim().parse().unwrap();
        let left = rustix::process::Pid::from_raw(left).unwrap();
        rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        let mut command = shell(&host(), "trap '' TERM; echo begins; while :; do sleep 600; done");
        let caught = caught(&mut command, None, Some(Duration::from_millis(100))).unwrap();
        assert_eq!(caught.status, 124);
        assert!(caught.err.contains("stopped after"), "{}", caught.err);
    }
}
