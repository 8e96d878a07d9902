//! Tests of the simulated cloud, by way of its router.

mod frame;
mod network;
mod plugins;
mod world;
