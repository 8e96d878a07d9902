//! The errors of the client: a message and advice.

use std::io;

/// The result of a client function.
pub(crate) type Result<T, E = ClientError> = std::result::Result<T, E>;

/// An error of a client command.
#[derive(Debug)]
pub(crate) struct ClientError {
    /// The message; scripts search for some of these.
    pub(crate) text: String,
    /// Advice on how to fix it.
    pub(crate) next: Option<Advice>,
    /// The category.
    pub(crate) kind: ClientErrorKind,
}

/// Advice on how to fix an error.
#[derive(Debug)]
pub(crate) enum Advice {
    /// Always printed.
    Told(String),
    /// Printed on terminals only: programs expect the message and nothing else.
    Hinted(String),
}

/// The categories of problems that callers distinguish.
#[derive(Debug)]
pub(crate) enum ClientErrorKind {
    /// Any other problem.
    Other,
    /// The service refused a request with this status.
    Refused(u16),
    /// The connection failed or broke.
    Lost,
    /// The user's timeout expired.
    TimedOut,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// The output could not be written.
    Output(io::Error),
}

impl ClientError {
    /// A problem with this message.
    pub(crate) fn new(text: impl Into<String>) -> ClientError {
        ClientError { text: text.into(), next: None, kind: ClientErrorKind::Other }
    }

    /// Adds advice.
    pub(crate) fn next(self, next: impl Into<String>) -> ClientError {
        ClientError { next: Some(Advice::Told(next.into())), ..self }
    }

    /// Adds advice that is printed on terminals only.
    pub(crate) fn hint(self, next: impl Into<String>) -> ClientError {
        ClientError { next: Some(Advice::Hinted(next.into())), ..self }
    }

    /// Sets the category.
    pub(crate) fn of(self, kind: ClientErrorKind) -> ClientError {
        ClientError { kind, ..self }
    }

    /// Whether the service answered 404.
    pub(crate) fn is_not_found(&self) -> bool {
        matches!(self.kind, ClientErrorKind::Refused(404))
    }

    /// Whether the service answered 403.
    pub(crate) fn is_forbidden(&self) -> bool {
        matches!(self.kind, ClientErrorKind::Refused(403))
    }

    /// Whether the same request may succeed a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self.kind, ClientErrorKind::Lost | ClientErrorKind::Refused(502..=504))
    }

    /// The exit status.
    pub(crate) fn exit_status(&self) -> u8 {
        match self.kind {
            ClientErrorKind::TimedOut => 4,
            ClientErrorKind::Interrupted => 130,
            _ => 1,
        }
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> ClientError {
        ClientError::new(format!("cannot write the output: {error}"))
            .of(ClientErrorKind::Output(error))
    }
}

/// Replaces the message of a 404 answer by the command's own.
pub(crate) trait OrNotFound<T> {
    /// The same result, but a 404 has this message.
    fn or_not_found(self, words: impl FnOnce() -> String) -> Result<T>;
}

impl<T> OrNotFound<T> for Result<T> {
    fn or_not_found(self, words: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|problem| match problem.is_not_found() {
            true => ClientError { text: words(), ..problem },
            false => problem,
        })
    }
}
