//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod corpus;
mod life;
mod luck;
mod trusts;
mod types;
mod world;
