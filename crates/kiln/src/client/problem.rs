//! What can go wrong for a client: a line that says what, and a next step.

use std::io;

/// What a client's work comes to.
pub(crate) type Result<T, E = Problem> = std::result::Result<T, E>;

/// Something that went wrong.
#[derive(Debug)]
pub(crate) struct Problem {
    /// What, in a line; scripts look for some of these.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) next: Option<Next>,
    /// Of which kind it is.
    pub(crate) kind: Kind,
}

/// A next step.
#[derive(Debug)]
pub(crate) enum Next {
    /// Told to everybody.
    Told(String),
    /// Told to people only: other programs expect the line above, and nothing else.
    Hinted(String),
}

/// The kinds that make a difference to those who meet them.
#[derive(Debug)]
pub(crate) enum Kind {
    /// None of the others.
    Other,
    /// The service refused a request with this status.
    Refused(u16),
    /// The service could not be asked, or its answer did not come.
    Lost,
    /// It took longer than the user wanted to wait.
    TimedOut,
    /// The user broke it off.
    Interrupted,
    /// The output could not be written.
    Output(io::Error),
}

impl Problem {
    /// Something that went wrong, in a line.
    pub(crate) fn new(text: impl Into<String>) -> Problem {
        Problem { text: text.into(), next: None, kind: Kind::Other }
    }

    /// With a next step.
    pub(crate) fn next(self, next: impl Into<String>) -> Problem {
        Problem { next: Some(Next::Told(next.into())), ..self }
    }

    /// With a next step that people are told.
    pub(crate) fn hint(self, next: impl Into<String>) -> Problem {
        Problem { next: Some(Next::Hinted(next.into())), ..self }
    }

    /// Of a kind.
    pub(crate) fn of(self, kind: Kind) -> Problem {
        Problem { kind, ..self }
    }

    /// Whether what was asked for is not there.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self.kind, Kind::Refused(404))
    }

    /// Whether the user may not do this.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self.kind, Kind::Refused(403))
    }

    /// Whether the same request may succeed a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.kind, Kind::Lost | Kind::Refused(502..=504))
    }

    /// The exit status.
    pub(crate) fn exit_status(&self) -> u8 {
        match self.kind {
            Kind::TimedOut => 4,
            Kind::Interrupted => 130,
            _ => 1,
        }
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::new(format!("cannot write the output: {error}")).of(Kind::Output(error))
    }
}

/// Says in a command's own words that what it asks for is not there.
pub(crate) trait OrNotFound<T> {
    /// The same, but if it is not there, that is told in these words.
    fn or_not_found(self, words: impl FnOnce() -> String) -> Result<T>;
}

impl<T> OrNotFound<T> for Result<T> {
    fn or_not_found(self, words: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|problem| match problem.is_not_found() {
            true => Problem { text: words(), ..problem },
            false => problem,
        })
    }
}
