//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod corpus;
pub(crate) mod life;
pub(crate) mod types;
pub(crate) mod world;
