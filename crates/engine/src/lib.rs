//! The engine of Kiln.
//!
//! A template becomes a graph, the graph is compared with the record to a plan, and the plan is
//! carried out by a machine that is a pure function: state and input in, new state and effects out.
//! Everything that touches the world is done by the driver, and only after the machine's records of
//! it are durable.
#![forbid(unsafe_code)]

pub mod alarms;
pub mod blueprint;
pub mod codec;
mod commands;
pub mod config;
mod decide;
mod delegation;
mod drift;
mod event_sinks;
pub mod export;
pub mod failure;
pub mod ids;
mod load_balancing;
pub mod machine;
pub mod memory;
pub mod notification;
pub mod objects;
pub mod owner;
pub mod partial_tree;
pub mod preview;
mod resolver;
mod rows;
pub mod runtime;
pub mod service;
pub mod snapshot;
pub mod state;
pub mod store;
pub mod template_cache;
pub mod time;
pub mod tree;
pub mod view;
