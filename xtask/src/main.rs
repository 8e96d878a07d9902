//! Tools for working on Kiln: `cargo xtask NAME …`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark ends with its runtime, and so do its tasks"
)]

mod bench;
mod bench_api;
mod bench_attacker;
mod bench_cloud;
mod bench_engine;
mod bench_guests;
mod bench_hostile;
mod bench_scale;
mod bench_servers;
mod bench_service;
mod bench_signals;
mod bench_store;
mod chaos;
mod facts;
#[cfg(test)]
mod licences;
#[cfg(test)]
mod names;
mod scaffold;

/// The declarations that scaffold writes name this module.
#[cfg(test)]
use kiln_resources::declare;
use std::process::ExitCode;

/// The same allocator as in the measured binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The result of a subcommand: the text to print, or an error message.
type Outcome = Result<String, String>;

const USAGE: &str = "\
usage: xtask NAME ...
  bench [NAME]                      run all benchmarks, or those whose name contains NAME:
                                    template, linear, nested, yaql, documents, engine, cloud, servers,
                                    scale, store, start, load, guests, hostile, signals
  chaos [OPTION...]                 the service under faults (docs/chaos.md); --help for its options
  facts RESOURCE_TYPES_JSON         update the facts about Heat's resource types that the tests compare with
  scaffold [--force] [--about TSV] [TYPE...]
                                    generate declarations of resource types from these facts";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.split_first() {
        Some((name, rest)) if name == "bench" => {
            let filter = rest.first().map_or("", String::as_str);
            let done = bench::run(filter, &mut std::io::stdout().lock());
            done.map(|()| String::new()).map_err(|error| error.to_string())
        }
        // A part of `bench hostile`.
        Some((name, rest)) if name == "attack" => {
            bench_attacker::run(rest).map_err(|error| error.to_string())
        }
        Some((name, rest)) if name == "chaos" => chaos::run(rest),
        // A part of `chaos`.
        Some((name, rest)) if name == "chaos-cloud" => chaos::serve_cloud(rest),
        Some((name, rest)) if name == "facts" => facts::run(rest),
        Some((name, rest)) if name == "scaffold" => scaffold::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
