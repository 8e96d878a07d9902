//! Kiln's agent inside servers: one program for what heat-cfntools, os-collect-config, os-refresh-config,
//! os-apply-config and the agents of deployments do.
//!
//! What is to be done is decided by functions that do nothing (plans, orders, renderings), and done by few that
//! do no more than they are told. Every path lies below a root, so that a server can be played in a folder.
//! Nothing of Kiln is used here: the program is copied into images.

#![forbid(unsafe_code)]

mod agent;
mod apply;
mod boot;
mod cfn;
mod collect;
mod deploy;
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
mod problem;
mod process;
mod refresh;
mod run_parts;
mod sign;
mod time;
mod tools;
mod users;
mod xml;

pub use tools::main;
