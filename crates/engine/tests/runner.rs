//! Tests of the engine.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod alarms;
mod balanced;
mod exhaustive;
mod export;
mod hooks;
mod lifecycle;
mod lifecycle_rules;
mod notifications;
mod preview;
mod runtime;
mod seeds;
mod simulation;
mod snapshots;
