//! Runs the stories of many seeds:
//!
//! ```text
//! cargo run --release -p kiln-engine --example simulate -- --seeds 1000000
//! cargo run --release -p kiln-engine --example simulate -- --seed 4711
//! cargo run --release -p kiln-engine --example simulate -- --plans 100000
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
        ["--plans", count] => return run_plans(count.parse().unwrap_or(0)),
        ["--seed", seed] => (seed.parse().unwrap_or(0), 1),
        _ => {
            println!("usage: simulate --seeds COUNT [--from SEED] | --seed SEED | --plans COUNT");
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

/// Plans updates and runs them, half of them in a world that has moved in between.
fn run_plans(count: u64) {
    match simulation::contract::planned_updates(0..count) {
        Ok(tally) => println!("{tally}"),
        Err(flaw) => {
            println!("{flaw}");
            std::process::exit(1);
        }
    }
}
