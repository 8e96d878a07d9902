//! `kiln completions`: shell completion scripts.

use crate::cli::{Cli, Completions};
use crate::stdio::{CommandError, Streams, Verdict};
use clap::CommandFactory;

pub(super) fn run(
    arguments: &Completions,
    streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "kiln", &mut script);
    streams.out.write_all(&script)?;
    Ok(Verdict::Good)
}
