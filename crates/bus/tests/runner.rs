//! Notifications and a real broker.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]

mod broker;
mod publishing;
mod wakeup;
