//! Notifications and a real broker.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]

mod bell;
mod broker;
mod publishing;
