//! Talking to an OpenStack cloud: a call is a value, and carrying it out is somebody else's work.
//!
//! Nothing here knows of stacks or templates.
#![forbid(unsafe_code)]

mod call;
mod http;
mod service;
mod transport;

pub use call::{
    Author, Behalf, Call, CallError, Marker, Method, Reply, delete, get, no_such_region, patch,
    post, put,
};
pub use http::{Http, client_builder};
pub use service::Service;
pub use transport::{NoCloud, Transport};
