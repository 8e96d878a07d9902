//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod corpus;
mod given;
mod guests;
mod life;
mod luck;
mod retired;
mod side;
mod signals;
mod templates;
mod trusts;
mod types;
mod world;
