//! Stacks on the simulated cloud, over HTTP from end to end: `kiln dev`, its API, and what is left in the cloud.

mod adopting;
mod alarms;
mod attributes;
mod balanced;
mod corpus;
pub(crate) mod credentials;
mod drift;
mod given;
mod global_environment;
mod guests;
pub(crate) mod hidden;
pub(crate) mod kiln_process;
pub(crate) mod life;
mod luck;
mod owners;
mod plugins;
mod retired;
mod side;
pub(crate) mod signals;
mod sinks;
pub(crate) mod table;
mod templates;
mod trusts;
pub(crate) mod types;
pub(crate) mod users;
