//! The engine of Kiln.
//!
//! A template becomes a graph. A machine, which is a pure function of state and input, compares each node of the graph
//! with the record and decides what is done: new state and effects come out. The driver carries the effects out, and
//! only after the machine's records of them are durable.
#![forbid(unsafe_code)]

/// Stores rows in the form of the version before, as a database has them after an upgrade.
#[cfg(feature = "simulation")]
pub use record::v0::downgrade;

mod activity;
pub mod alarms;
pub mod blueprint;
pub mod config;
mod decide;
mod delegation;
mod drift;
pub mod error_type;
mod event_sinks;
pub mod export;
pub mod failure;
pub mod ids;
mod load_balancing;
pub mod loopback;
pub mod machine;
pub mod memory;
pub mod metrics;
pub mod notification;
pub mod objects;
pub mod owner;
pub mod partial_tree;
pub mod preview;
mod record;
pub mod request_id;
mod resolver;
pub mod runtime;
pub mod service;
mod signal_check;
pub mod snapshot;
pub mod state;
pub mod store;
pub mod template_cache;
pub mod time;
pub mod tree;
pub mod view;
