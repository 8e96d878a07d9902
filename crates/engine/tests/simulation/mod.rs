//! Deterministic simulation: a world with its own clock, disk and cloud, driven by a seed.
#![allow(dead_code)]

pub mod check;
pub mod cloud;
pub mod contract;
pub mod script;
pub mod stacks;
pub mod story;
pub mod swarm;
pub mod world;
