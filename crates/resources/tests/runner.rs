//! Tests of the resource types as a whole.
#![allow(clippy::expect_used, clippy::panic, clippy::print_stderr, reason = "a test may fail")]

mod compute;
mod conformance;
mod corpus;
mod declarations;
mod driving;
mod durability;
mod golden;
mod groups;
mod guests;
mod language;
mod local_types;
mod neutron;
mod plugins;
mod properties;
mod remote_stack;
mod rest_world;
mod sample;
mod scaling;
mod services;
mod stack;
mod translations;
mod values;
mod world;

/// A folder of the record of the reference, where it is at hand.
fn shared(folder: &str) -> Option<std::path::PathBuf> {
    let all = match std::env::var_os("KILN_SHARED") {
        Some(folder) => std::path::PathBuf::from(folder),
        None => concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").into(),
    };
    Some(all.join(folder)).filter(|path| path.exists())
}
