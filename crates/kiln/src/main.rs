//! Kiln's command line.
//!
//! The only crate that reads the process environment or writes to a terminal. Commands get
//! writers and return an exit status: 0 success, 1 the input is invalid, 2 the
//! command failed.

#![forbid(unsafe_code)]

mod cli;
mod client;
mod commands;
mod config;
mod dashboard;
mod explain;
mod load;
mod render;
mod serving;
mod stdio;

use clap::Parser;
use std::process::ExitCode;

/// Templates consist of many small allocations that are freed together.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // All TLS connections use this provider.
    _ = rustls::crypto::ring::default_provider().install_default();
    let mut arguments = std::env::args_os();
    if client::is_heat(arguments.next()) {
        return client::heat_cli::main(std::env::args_os());
    }
    let cli = cli::Cli::parse_from(client::reordered(std::env::args_os()));
    stdio::with_standard(cli.color, |streams| commands::run(cli.command, streams))
}
