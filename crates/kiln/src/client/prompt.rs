//! Prompts for secrets without echo.

use super::error::Result;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, IsTerminal, Write};

/// Prompts for a secret; `None` without a terminal or for an empty answer.
pub(crate) async fn hidden(question: &str) -> Result<Option<String>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let silent = EchoOff::new();
    write!(io::stderr(), "{question}")?;
    let read = || {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    };
    // The blocking read has its own thread, so that Ctrl-C still works.
    let line = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    drop(silent);
    // The line feed was not echoed either.
    writeln!(io::stderr())?;
    let answer = line.trim_end_matches(['\r', '\n']);
    Ok(Some(answer.to_owned()).filter(|answer| !answer.is_empty()))
}

/// Switches the echo of the terminal off as long as this value lives, also if the prompt is cancelled.
struct EchoOff(Option<Termios>);

impl EchoOff {
    fn new() -> EchoOff {
        let Ok(before) = tcgetattr(io::stdin()) else { return EchoOff(None) };
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        let is_off = tcsetattr(io::stdin(), OptionalActions::Flush, &silent).is_ok();
        EchoOff(is_off.then_some(before))
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}
