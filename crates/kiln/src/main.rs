//! Kiln's command line.
//!
//! The only crate that reads the surroundings of the process or writes to a terminal. Commands get
//! writers handed down and give an exit status back: 0 all is well, 1 the input is wrong, 2 the
//! command could not be carried out.

#![forbid(unsafe_code)]

mod cli;
mod client;
mod commands;
mod config;
mod explain;
mod load;
mod render;
mod serving;
mod streams;

use clap::Parser;
use std::process::ExitCode;

/// Templates are many small allocations, made and dropped together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Whoever encrypts does it with this; there is no other.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut arguments = std::env::args_os();
    if client::is_heat(arguments.next()) {
        return client::classic::main(std::env::args_os());
    }
    let cli = cli::Cli::parse_from(client::reordered(std::env::args_os()));
    streams::with_standard(cli.color, |streams| commands::run(cli.command, streams))
}
