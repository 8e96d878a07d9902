//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod corpus;
mod drift;
mod given;
mod guests;
mod life;
mod luck;
mod plugins;
mod retired;
mod side;
mod signals;
mod table;
mod templates;
mod trusts;
mod types;
mod world;
