//! The tests of the crate from outside.

// What helps tests may fail as they do.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, unreachable_pub)]

#[path = "suite/cases.rs"]
mod cases;
#[path = "suite/conformance.rs"]
mod conformance;
#[path = "suite/json.rs"]
mod json;
#[path = "suite/language.rs"]
mod language;
#[path = "suite/limits.rs"]
mod limits;
#[path = "suite/patterns.rs"]
mod patterns;
#[path = "suite/properties.rs"]
mod properties;
