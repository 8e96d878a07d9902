//! A simulated OpenStack over HTTP.
//!
//! It follows OpenStack's documentation, not our client, and depends on no other crate of this workspace.

#![forbid(unsafe_code)]

pub mod cloud;
pub mod identity;
mod python;
