//! Tools for working on Kiln: `cargo xtask NAME …`.

#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool prints")]

mod bench;
mod bench_api;
mod bench_cloud;
mod bench_engine;
mod bench_guests;
mod bench_scale;
mod bench_servers;
mod bench_store;
mod facts;
mod scaffold;

use std::process::ExitCode;

/// The allocator of the binary that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What a subcommand ends with: a sentence to show, or what went wrong.
type Outcome = Result<String, String>;

const USAGE: &str = "\
usage: xtask NAME ...
  bench [NAME]                      run the benchmarks, or those whose name contains NAME
  facts RESOURCE_TYPES_JSON         refresh the facts that the resource types are tested against
  scaffold [--force] [--about TSV] [TYPE...]
                                    write declarations of resource types from those facts";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match args.split_first() {
        Some((name, rest)) if name == "bench" => {
            let filter = rest.first().map_or("", String::as_str);
            let done = bench::run(filter, &mut std::io::stdout().lock());
            done.map(|()| String::new()).map_err(|error| error.to_string())
        }
        Some((name, rest)) if name == "facts" => facts::run(rest),
        Some((name, rest)) if name == "scaffold" => scaffold::run(rest),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(said) => {
            eprintln!("{said}");
            ExitCode::FAILURE
        }
    }
}
