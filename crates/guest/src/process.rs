//! Child processes: their environment, output and status.
//!
//! The output goes to unnamed files instead of pipes. So a background process that keeps the output open does not
//! block, and a verbose program needs no memory.

use crate::error::{GuestError, Result};
use crate::files;
use crate::host::Host;
use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The maximal amount of output that is kept, from its end.
const MAX_OUTPUT_BYTES: u64 = 8 << 20;

/// The interval at which a process with a deadline is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The status and the output of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) status: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Returns a command with the environment of the host.
pub(crate) fn program(host: &Host, name: &str) -> Command {
    let mut command = Command::new(name);
    command.env_clear().envs(host.child_environment()).stdin(Stdio::null());
    command
}

/// Returns a shell command.
pub(crate) fn shell(host: &Host, text: &str) -> Command {
    let mut command = program(host, "/bin/sh");
    command.arg("-c").arg(text);
    command
}

/// Runs a program and returns its exit status; its output is not captured.
pub(crate) fn run(command: &mut Command) -> Result<i32> {
    let status = command.status().map_err(|error| cannot_run(command, &error))?;
    Ok(code(status))
}

/// Runs a program in a process group of its own until a deadline; then the group is killed.
pub(crate) fn run_until(command: &mut Command, deadline: Instant) -> Result<i32> {
    let mut child = command.spawn().map_err(|error| cannot_run(command, &error))?;
    let limit = deadline.saturating_duration_since(Instant::now());
    Ok(wait(&mut child, Some(limit))?.unwrap_or(124))
}

/// Runs a program and captures its output. After the limit its process group is killed.
pub(crate) fn capture(
    command: &mut Command,
    input: Option<&[u8]>,
    limit: Option<Duration>,
) -> Result<Captured> {
    let folder = std::env::temp_dir();
    let (mut out, mut err) = (files::nameless(&folder)?, files::nameless(&folder)?);
    let unreadable =
        |error: std::io::Error| GuestError::new(format!("cannot capture the output: {error}"));
    if let Some(input) = input {
        let mut stdin = files::nameless(&folder)?;
        stdin.write_all(input).and_then(|()| stdin.rewind()).map_err(unreadable)?;
        command.stdin(stdin);
    }
    command
        .stdout(out.try_clone().map_err(unreadable)?)
        .stderr(err.try_clone().map_err(unreadable)?);
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| cannot_run(command, &error))?;
    let status = wait(&mut child, limit)?;
    let mut output = Captured {
        status: status.unwrap_or(124),
        out: files::end_of(&mut out, MAX_OUTPUT_BYTES).map_err(unreadable)?,
        err: files::end_of(&mut err, MAX_OUTPUT_BYTES).map_err(unreadable)?,
    };
    if let (None, Some(limit)) = (status, limit) {
        output
            .err
            .push_str(&format!("The program was stopped after {} seconds.\n", limit.as_secs()));
    }
    Ok(output)
}

/// Waits for the end; `None` after the limit.
fn wait(child: &mut Child, limit: Option<Duration>) -> Result<Option<i32>> {
    let unreadable =
        |error: std::io::Error| GuestError::new(format!("cannot wait for the process: {error}"));
    let Some(limit) = limit else {
        return child.wait().map(|it| Some(code(it))).map_err(unreadable);
    };
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(unreadable)? {
            return Ok(Some(code(status)));
        }
        if started.elapsed() >= limit {
            if let Some(group) = rustix::process::Pid::from_raw(child.id().cast_signed()) {
                // The process may have ended by itself.
                _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait().map_err(unreadable)?;
            return Ok(None);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the exit status, or 128 plus the number of the signal.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

fn cannot_run(command: &Command, error: &std::io::Error) -> GuestError {
    GuestError::new(format!("cannot run {}: {error}", command.get_program().display()))
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
        let output = capture(&mut command, Some(b"yes"), None).unwrap();
        assert_eq!(output, Captured { status: 3, out: "yes".into(), err: "no\n".into() });
    }

    #[test]
    fn somebody_left_behind_keeps_nobody_waiting() {
        let mut command = shell(&host(), "sleep 600 & echo $!");
        let output = capture(&mut command, None, None).unwrap();
        let left: i32 = output.out.trim().parse().unwrap();
        let left = rustix::process::Pid::from_raw(left).unwrap();
        rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    }

    #[test]
    fn what_takes_too_long_is_stopped() {
        let mut command = shell(&host(), "trap '' TERM; echo begins; while :; do sleep 600; done");
        let output = capture(&mut command, None, Some(Duration::from_millis(100))).unwrap();
        assert_eq!(output.status, 124);
        assert!(output.err.contains("stopped after"), "{}", output.err);
    }
}
