//! Runs the built program and reads what it prints.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test may fail")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a test may say what it does")]
#![allow(clippy::disallowed_methods, reason = "a test ends with its runtime, and so do its tasks")]

mod admin;
mod apart;
mod attacks;
mod client_auth;
mod client_classic;
mod client_fake;
mod client_inside;
mod client_login;
mod client_other;
mod client_stack;
mod client_wait;
mod clients;
mod cloud;
mod containers;
mod dashboard;
mod database;
mod dev;
mod docs;
mod doctor;
mod explain;
mod front_door;
mod graph;
mod guests;
mod heat_programs;
mod hostile;
mod json;
mod kills;
mod leases;
mod lists;
mod networks;
mod notifications;
mod openstack;
mod policy_files;
mod rolling;
mod server;
mod sharing;
mod test_directory;
mod upgrade;
mod validate;
mod yaql;
