//! Asking a person for a secret: what is typed is not shown.

use super::problem::Result;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, IsTerminal, Write};

/// Asks for a secret; nothing if there is no person to be asked, or they give none.
pub(crate) async fn hidden(question: &str) -> Result<Option<String>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let dark = Dark::make();
    write!(io::stderr(), "{question}")?;
    let read = || {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    };
    // On a thread of its own, so that Ctrl-C is heard meanwhile.
    let line = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    drop(dark);
    // The line's end was not shown either.
    writeln!(io::stderr())?;
    let answer = line.trim_end_matches(['\r', '\n']);
    Ok(Some(answer.to_owned()).filter(|answer| !answer.is_empty()))
}

/// A terminal that does not show what is typed, for as long as this lives: also if it is broken off.
struct Dark(Option<Termios>);

impl Dark {
    fn make() -> Dark {
        let Ok(before) = tcgetattr(io::stdin()) else { return Dark(None) };
        let mut dark = before.clone();
        dark.local_modes.remove(LocalModes::ECHO);
        let is_made = tcsetattr(io::stdin(), OptionalActions::Flush, &dark).is_ok();
        Dark(is_made.then_some(before))
    }
}

impl Drop for Dark {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}
