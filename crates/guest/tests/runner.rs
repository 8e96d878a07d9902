//! Runs the built program in directories that stand in for servers.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]

mod apply;
mod cfn;
mod collect;
mod deploy;
mod hooks;
mod hostile;
mod ignition;
mod image;
mod server;
mod service;
