//! Kiln's HTTP front ends: who asks, whether they may, and what they get.
//!
//! Parse, ask the service, render. Nothing here knows how stacks are planned or stored.

#![forbid(unsafe_code)]

mod answer;
mod app;
mod ask;
pub mod auth;
pub mod aws;
mod body;
pub mod caller;
pub mod cfn;
pub mod cloudwatch;
mod cors;
pub mod fault;
mod metrics;
mod native;
pub mod openapi;
mod outgoing;
mod own;
pub mod policy;
mod query;
mod rate;
pub mod routes;
mod serve;
mod waiting;

pub use answer::Answer;
pub use app::{App, Options};
pub use ask::Ask;
pub use aws::Scheme;
pub use metrics::Metrics;
pub use outgoing::Outgoing;
pub use own::Own;
pub use rate::Rate;
pub use serve::answer;
pub use waiting::Waiting;
