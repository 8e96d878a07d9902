//! The output of client commands, and the properties of the terminal.

use super::environment::ProcessEnvironment;
use super::error::Result;
use super::format::options::{Columns, ListArgs, ListFormat, Screen, ShowArgs, ShowFormat};
use super::format::{Details, Listing, raw};
use crate::stdio::Streams;
use serde_json::Value;
use std::io::{self, IsTerminal};

/// Standard output and error, and the terminal behind them.
pub(crate) struct Console<'a, 'b> {
    streams: &'a mut Streams<'b>,
    screen: Screen,
}

impl<'a, 'b> Console<'a, 'b> {
    /// The console of this process.
    pub(crate) fn new(
        streams: &'a mut Streams<'b>,
        environment: &ProcessEnvironment,
    ) -> Console<'a, 'b> {
        let number = |name: &str| environment.get(name).and_then(|text| text.parse().ok());
        let columns = if streams.out_is_terminal { terminal_size::terminal_size() } else { None };
        let screen = Screen {
            columns: columns.map(|(width, _)| usize::from(width.0)),
            max_width: number("CLIFF_MAX_TERM_WIDTH").unwrap_or(0),
            fit_width: number("CLIFF_FIT_WIDTH").is_some_and(|on: usize| on != 0),
        };
        Console { streams, screen }
    }

    /// Writes text unchanged.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        Ok(self.streams.out.write_all(text.as_bytes())?)
    }

    /// Flushes what was written so far.
    pub(crate) fn flush(&mut self) -> Result<()> {
        Ok(self.streams.out.flush()?)
    }

    /// Writes a line and flushes it.
    pub(crate) fn line(&mut self, line: &str) -> Result<()> {
        writeln!(self.streams.out, "{line}")?;
        Ok(self.streams.out.flush()?)
    }

    /// Writes a line to standard error.
    pub(crate) fn note(&mut self, line: &str) -> Result<()> {
        writeln!(self.streams.err, "{line}")?;
        Ok(self.streams.err.flush()?)
    }

    /// Writes a list.
    pub(crate) fn list(&mut self, listing: Listing, options: &ListArgs) -> Result<()> {
        self.list_as(listing, options.form, &options.columns)
    }

    /// Writes a list in this form.
    pub(crate) fn list_as(
        &mut self,
        listing: Listing,
        form: ListFormat,
        columns: &Columns,
    ) -> Result<()> {
        let text = listing.render(form, columns, &self.screen)?;
        self.write(&text)
    }

    /// Writes an object, as a table unless the options say otherwise.
    pub(crate) fn show(&mut self, details: Details, options: &ShowArgs) -> Result<()> {
        let text = details.render(options, ShowFormat::Table, &self.screen)?;
        self.write(&text)
    }

    /// Writes a document unchanged.
    pub(crate) fn raw(
        &mut self,
        document: &Value,
        options: &ShowArgs,
        default: ShowFormat,
    ) -> Result<()> {
        self.write(&raw(document, options, default, &self.screen))
    }

    /// Whether the output is a terminal.
    pub(crate) fn is_live(&self) -> bool {
        self.streams.out_is_terminal
    }

    /// Whether the output may contain colours.
    pub(crate) fn is_styled(&self) -> bool {
        self.streams.out_styled
    }

    /// The columns and lines of the terminal.
    pub(crate) fn size(&self) -> (usize, usize) {
        let size = terminal_size::terminal_size();
        size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()))
    }

    /// Asks for confirmation; without a terminal, the answer is yes.
    pub(crate) async fn confirm(&mut self, question: &str) -> Result<bool> {
        if !io::stdin().is_terminal() {
            return Ok(true);
        }
        self.write(question)?;
        self.streams.out.flush()?;
        let read = || {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|_| line)
        };
        // The blocking read has its own thread, so that Ctrl-C still works.
        let line = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        Ok(line.trim().to_lowercase().starts_with('y'))
    }
}
