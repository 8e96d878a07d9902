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
mod doctor;
mod explain;
mod heat_programs;
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
    if let Some(program) = heat_programs::named(std::env::args_os().next().as_deref()) {
        return heat_programs::run(program, std::env::args_os());
    }
    let cli = cli::Cli::parse_from(client::reordered(std::env::args_os()));
    stdio::with_standard(cli.color, |streams| commands::run(cli.command, streams))
}
