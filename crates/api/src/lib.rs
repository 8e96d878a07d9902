//! Kiln's HTTP APIs: authentication, authorisation, and the rendering of responses.
//!
//! Each handler parses the request, calls the service and renders the result. This crate knows nothing of how stacks
//! are planned or stored.

#![forbid(unsafe_code)]

mod app;
pub mod auth;
pub mod aws;
mod body;
pub mod caller;
pub mod cfn;
pub mod cloudwatch;
mod cors;
mod event_streams;
pub mod fault;
mod fetch;
mod list_response;
mod long_poll;
mod loopback;
mod metrics;
mod native;
mod openapi;
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
pub use body::BodyBytes;
pub use event_streams::EventStreams;
pub use fetch::UrlFetcher;
pub use long_poll::LongPolls;
pub use metrics::Metrics;
pub use rate_limit::RateLimit;
pub use request::Request;
pub use response::Response;
pub use serve::answer;
pub use url_policy::WebhookSender;
