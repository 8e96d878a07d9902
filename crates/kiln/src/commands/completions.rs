//! `kiln completions`: the script that teaches a shell kiln's commands.

use crate::cli::{Cli, Completions};
use crate::streams::{Failure, Streams, Verdict};
use clap::CommandFactory;

pub(super) fn run(arguments: &Completions, streams: &mut Streams<'_>) -> Result<Verdict, Failure> {
    // The generator panics if it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "kiln", &mut script);
    streams.out.write_all(&script)?;
    Ok(Verdict::Good)
}
