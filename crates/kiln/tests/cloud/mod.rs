//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod corpus;
mod drift;
mod life;
mod plugins;
mod signals;
mod table;
mod types;
mod world;
