//! A simulated OpenStack over HTTP: what is on the other side of the wire.
//!
//! It follows OpenStack's documentation, not our client, and knows nothing of the other crates.

#![forbid(unsafe_code)]

pub mod cloud;
pub mod identity;
mod python;
