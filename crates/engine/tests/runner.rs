//! Tests of the engine.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod alarms;
mod asleep;
mod balanced;
mod exhaustive;
mod export;
mod hooks;
mod lifecycle;
mod lifecycle_rules;
mod nested;
mod notifications;
mod planning;
mod preview;
mod refused;
mod runtime;
mod seeds;
mod simulation;
mod snapshots;
mod wakeup;

/// Reads trees without a limit that matters.
fn reader<'s>(
    store: &'s dyn kiln_engine::store::Store,
    config: &'s std::sync::Arc<kiln_engine::Config>,
) -> kiln_engine::TreeReader<'s> {
    let workers =
        std::sync::Arc::new(kiln_engine::Workers::new(Default::default(), Default::default()));
    kiln_engine::TreeReader { store, config, share: workers.share("p") }
}
