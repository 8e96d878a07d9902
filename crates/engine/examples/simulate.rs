//! Runs the stories of many seeds:
//!
//! ```text
//! cargo run --release -p kiln-engine --example simulate -- --seeds 1000000
//! cargo run --release -p kiln-engine --example simulate -- --seed 4711
//! ```
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

#[path = "../tests/simulation/mod.rs"]
mod simulation;

use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (first, count) = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--seeds", count] => (0, count.parse().unwrap_or(0)),
        ["--seeds", count, "--from", first] => {
            (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
        }
        ["--seed", seed] => (seed.parse().unwrap_or(0), 1),
        _ => {
            println!("usage: simulate --seeds COUNT [--from SEED] | --seed SEED");
            std::process::exit(2);
        }
    };
    let start = Instant::now();
    match simulation::story::stories(first..first + count) {
        Ok(stories) => {
            let seconds = start.elapsed().as_secs_f64();
            let boundaries = stories.boundaries;
            println!("{}", stories.table());
            println!("{count} stories, {boundaries} places to die at, {seconds:.1} s: all well");
        }
        Err(flaws) => {
            println!("{flaws}");
            std::process::exit(1);
        }
    }
}
