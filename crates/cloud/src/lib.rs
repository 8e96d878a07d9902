//! Talking to an OpenStack cloud: a call is a value, and a [`Transport`] makes it.
//!
//! This crate knows nothing of stacks or templates.
#![forbid(unsafe_code)]

mod call;
mod credential;
mod http;
mod limits;
mod openstack;
mod secret;
mod service;
mod transport;

pub use call::{
    ActingFor, Call, CallError, CreatedBy, Marker, Method, Reply, delete, get, head,
    no_such_region, patch, post, put,
};
pub use credential::{Auth, Credential, PendingDelegation, UserToken};
pub use http::{Http, client_builder};
pub use limits::{CallLimits, DEFAULT_MAX_CALLS, Lane, Permit};
pub use openstack::{Login, OpenStack, Settings, StackDomain};
pub use secret::Secret;
pub use service::Service;
pub use transport::{NoCloud, Transport};
