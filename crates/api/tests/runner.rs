//! Tests of the front ends.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]
#![allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]

mod abandon;
mod advisories;
mod auth;
mod bodies;
mod cfn;
mod cloudwatch;
mod counting_store;
mod edges;
mod faults;
mod hidden;
mod life;
mod long_poll;
mod observability;
mod plans;
mod policy;
mod printed;
mod remote;
mod request_checks;
mod rights;
mod sizes;
mod software;
mod stacks;
mod streams;
mod test_api;
mod tree_size;
mod workers;

/// A file of the record of the reference, where it is at hand.
fn shared(file: &str) -> Option<std::path::PathBuf> {
    let all = match std::env::var_os("KILN_SHARED") {
        Some(folder) => std::path::PathBuf::from(folder),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into(),
    };
    Some(all.join(file)).filter(|path| path.exists())
}

/// A client of HTTP.
fn client() -> reqwest::Client {
    kiln_cloud::client_builder().build().expect("a client")
}
