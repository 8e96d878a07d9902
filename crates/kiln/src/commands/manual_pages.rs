//! `kiln manual-pages`: a page of the manual for every command, for packages.

use crate::cli::{Cli, ManualPages};
use crate::stdio::{CommandError, Streams, Verdict};
use clap::CommandFactory;

pub(super) fn run(
    arguments: &ManualPages,
    _streams: &mut Streams<'_>,
) -> Result<Verdict, CommandError> {
    let directory = &arguments.directory;
    let written = std::fs::create_dir_all(directory)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), directory));
    match written {
        Ok(_) => Ok(Verdict::Good),
        Err(error) => Err(CommandError::usage(format!(
            "cannot write the manual pages to {}: {error}",
            directory.display()
        ))),
    }
}
