//! Runs the built program and reads what it prints.
#![allow(clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod dev;
mod clients;
mod explain;
mod graph;
mod hostile;
mod json;
mod kills;
mod lists;
mod networks;
mod place;
mod server;
mod validate;
mod yaql;
