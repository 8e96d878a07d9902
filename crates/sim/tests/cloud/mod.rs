//! Tests of the simulated cloud, by way of its router.

mod compute;
mod frame;
mod load_balancer;
mod network;
mod object_store;
mod plugins;
mod small;
mod storage;
mod test_cloud;
