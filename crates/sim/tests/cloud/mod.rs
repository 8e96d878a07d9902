//! Tests of the simulated cloud, by way of its router.

mod compute;
mod frame;
mod network;
mod plugins;
mod storage;
mod world;
