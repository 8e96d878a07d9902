//! Kiln's agent inside servers: one program for the tasks of heat-cfntools, os-collect-config, os-refresh-config,
//! os-apply-config and the deployment agents.
//!
//! Pure functions decide what is to be done (plans, orders, renderings), and a few others carry it out. Every path
//! lies below a root, so that a directory can stand in for a server. The crate uses nothing of Kiln: the program is
//! copied into images.

#![forbid(unsafe_code)]

mod agent;
mod apply;
mod boot;
mod cfn;
mod collect;
mod deploy;
mod error;
mod files;
mod hooks;
mod host;
mod http;
mod identity;
mod ignition;
mod ini;
mod install;
mod json;
mod options;
mod process;
mod refresh;
mod run_parts;
mod sign;
mod time;
mod tools;
mod unpack;
mod users;

pub use tools::main;
