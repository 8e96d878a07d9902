//! Tests of the engine.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod export;
mod lifecycle;
mod preview;
mod runtime;
mod seeds;
mod simulation;
