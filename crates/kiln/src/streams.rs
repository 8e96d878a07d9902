//! Standard output and error, and how a command ends.

use crate::cli::Color;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

/// How wide text is laid out when nothing says how wide the terminal is.
const USUAL_WIDTH: usize = 120;

/// Where a command writes to.
pub(crate) struct Streams<'a> {
    /// What was asked for.
    pub(crate) out: &'a mut dyn Write,
    /// What stands beside it: findings of a command that shows something else.
    pub(crate) err: &'a mut dyn Write,
    /// Whether `out` takes colours.
    pub(crate) out_styled: bool,
    /// Whether `err` takes colours.
    pub(crate) err_styled: bool,
    /// Whether a person reads `out` as it comes.
    pub(crate) out_is_terminal: bool,
    /// How many columns there are.
    pub(crate) width: usize,
}

/// How a command ended that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is well.
    Good,
    /// What was looked at is wrong.
    Bad,
    /// It ended with an exit status of its own.
    Ended(u8),
}

impl Verdict {
    /// The verdict on something of which it is known whether it is good.
    pub(crate) fn of(good: bool) -> Verdict {
        if good { Verdict::Good } else { Verdict::Bad }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something the caller can mend, in a sentence.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// The reader of the output went away; the verdict, if it was known by then.
    Unread(Option<Verdict>),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Unread(None),
            _ => Failure::Output(error),
        }
    }
}

impl Failure {
    /// A failure in a sentence.
    pub(crate) fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// The same failure of a command whose verdict was known before it wrote anything.
    pub(crate) fn after(self, verdict: Verdict) -> Failure {
        match self {
            Failure::Unread(None) => Failure::Unread(Some(verdict)),
            other => other,
        }
    }
}

/// Runs a command on standard output and error and turns its end into an exit status.
pub(crate) fn with_standard(
    color: Color,
    command: impl FnOnce(&mut Streams<'_>) -> Result<Verdict, Failure>,
) -> ExitCode {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let out_is_terminal = stdout.is_terminal();
    let styled = |is_terminal: bool| match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && wants_color(),
    };
    let (out_styled, err_styled) = (styled(out_is_terminal), styled(stderr.is_terminal()));
    // What other threads log goes there, too: whoever held it all the time would stop them.
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
    let ended = match (out.flush().map_err(Failure::from), ended) {
        (Err(failure), Ok(verdict)) => Err(failure.after(verdict)),
        (_, ended) => ended,
    };
    let told = match &ended {
        Err(Failure::Usage(message)) => writeln!(err, "kiln: {message}"),
        Err(Failure::Output(error)) => writeln!(err, "kiln: cannot write the output: {error}"),
        Ok(_) | Err(Failure::Unread(_)) => Ok(()),
    };
    // If nobody reads the errors either, the exit status has to do.
    _ = told.and_then(|()| err.flush());
    match ended {
        Ok(verdict) | Err(Failure::Unread(Some(verdict))) => verdict.into(),
        Err(Failure::Unread(None)) => ExitCode::SUCCESS,
        Err(Failure::Usage(_) | Failure::Output(_)) => ExitCode::from(2),
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

/// Whether the surroundings have nothing against colours.
fn wants_color() -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("NO_COLOR").is_none() && set("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// The columns of the terminal, as far as the surroundings tell.
fn width() -> usize {
    let told = std::env::var_os("COLUMNS").and_then(|columns| columns.to_str()?.parse().ok());
    told.unwrap_or(USUAL_WIDTH).clamp(40, 1000)
}
