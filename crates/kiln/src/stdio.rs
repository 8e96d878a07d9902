//! Standard output and error, and exit statuses.

use crate::cli::Color;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

/// The default width of text.
const USUAL_WIDTH: usize = 120;

/// The output streams of a command.
pub(crate) struct Streams<'a> {
    /// The result.
    pub(crate) out: &'a mut dyn Write,
    /// Messages and findings beside the result.
    pub(crate) err: &'a mut dyn Write,
    /// Whether `out` may contain colours.
    pub(crate) out_styled: bool,
    /// Whether `err` may contain colours.
    pub(crate) err_styled: bool,
    /// Whether `out` is a terminal.
    pub(crate) out_is_terminal: bool,
    /// The width of the terminal in columns.
    pub(crate) width: usize,
}

/// The result of a command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Success.
    Good,
    /// The input is invalid.
    Bad,
    /// A specific exit status.
    Ended(u8),
}

impl Verdict {
    /// The verdict for a boolean.
    pub(crate) fn of(good: bool) -> Verdict {
        if good { Verdict::Good } else { Verdict::Bad }
    }
}

/// The error of a command that could not run.
#[derive(Debug)]
pub(crate) enum CommandError {
    /// An error message for the user.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// The reader of the output closed the pipe; with the verdict, if it was known by then.
    Unread(Option<Verdict>),
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CommandError::Unread(None),
            _ => CommandError::Output(error),
        }
    }
}

impl CommandError {
    /// A failure with a message.
    pub(crate) fn usage(message: impl Into<String>) -> CommandError {
        CommandError::Usage(message.into())
    }

    /// The same failure of a command whose verdict was known before the output.
    pub(crate) fn after(self, verdict: Verdict) -> CommandError {
        match self {
            CommandError::Unread(None) => CommandError::Unread(Some(verdict)),
            other => other,
        }
    }
}

/// Runs a command on standard output and error and returns its exit status.
pub(crate) fn with_standard(
    color: Color,
    command: impl FnOnce(&mut Streams<'_>) -> Result<Verdict, CommandError>,
) -> ExitCode {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let out_is_terminal = stdout.is_terminal();
    let styled = |is_terminal: bool| match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && wants_color(),
    };
    let (out_styled, err_styled) = (styled(out_is_terminal), styled(stderr.is_terminal()));
    // Standard error is not locked, because other threads log to it.
    let (mut out, mut err) = (BufWriter::new(stdout.lock()), BufWriter::new(stderr));
    let mut streams = Streams {
        out: &mut out,
        err: &mut err,
        out_styled,
        err_styled,
        out_is_terminal,
        width: width(),
    };
    let ended = command(&mut streams);
    let ended = match (out.flush().map_err(CommandError::from), ended) {
        (Err(failure), Ok(verdict)) => Err(failure.after(verdict)),
        (_, ended) => ended,
    };
    let told = match &ended {
        Err(CommandError::Usage(message)) => writeln!(err, "kiln: {message}"),
        Err(CommandError::Output(error)) => writeln!(err, "kiln: cannot write the output: {error}"),
        Ok(_) | Err(CommandError::Unread(_)) => Ok(()),
    };
    // If standard error cannot be written either, only the exit status is left.
    _ = told.and_then(|()| err.flush());
    match ended {
        Ok(verdict) | Err(CommandError::Unread(Some(verdict))) => verdict.into(),
        Err(CommandError::Unread(None)) => ExitCode::SUCCESS,
        Err(CommandError::Usage(_) | CommandError::Output(_)) => ExitCode::from(2),
    }
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> ExitCode {
        match verdict {
            Verdict::Good => ExitCode::SUCCESS,
            Verdict::Bad => ExitCode::from(1),
            Verdict::Ended(status) => ExitCode::from(status),
        }
    }
}

/// Whether the environment allows colours.
fn wants_color() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The width of the terminal according to the environment.
fn width() -> usize {
    let told = std::env::var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    told.unwrap_or(USUAL_WIDTH).clamp(40, 1000)
}
