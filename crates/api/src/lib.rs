//! Kiln's HTTP front ends: who asks, whether they may, and what they get.
//!
//! Parse, ask the service, render. Nothing here knows how stacks are planned or stored.

#![forbid(unsafe_code)]

pub mod auth;
pub mod caller;
pub mod policy;
