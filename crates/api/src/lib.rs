//! Kiln's HTTP front ends: who asks, whether they may, and what they get.
//!
//! Parse, ask the service, render. Nothing here knows how stacks are planned or stored.

#![forbid(unsafe_code)]

mod app;
pub mod auth;
pub mod aws;
mod body;
pub mod caller;
pub mod cfn;
pub mod cloudwatch;
mod cors;
pub mod fault;
mod long_poll;
mod metrics;
mod native;
pub mod openapi;
mod own;
pub mod policy;
mod query;
mod rate_limit;
mod request;
mod response;
pub mod routes;
mod serve;
mod url_policy;

pub use app::{App, Options};
pub use aws::Scheme;
pub use long_poll::LongPolls;
pub use metrics::Metrics;
pub use own::Own;
pub use rate_limit::RateLimit;
pub use request::Request;
pub use response::Response;
pub use serve::answer;
pub use url_policy::WebhookSender;
