//! All integration tests of the crate, in one binary.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod environment;
mod files;
mod json;
mod versions;
mod yaml;
