//! Talking to an OpenStack cloud: a call is a value, and carrying it out is somebody else's work.
//!
//! Nothing here knows of stacks or templates.
#![forbid(unsafe_code)]

mod budget;
mod call;
mod credential;
mod http;
mod openstack;
mod service;
mod transport;

pub use budget::{Budgets, CALLS, For, Place};
pub use call::{
    Author, Behalf, Call, CallError, Marker, Method, Reply, delete, get, head, no_such_region,
    patch, post, put,
};
pub use credential::{Credential, Promise, Proof, Secret, Visitor};
pub use http::{Http, client_builder};
pub use openstack::{Login, OpenStack, Settings, StackDomain};
pub use service::Service;
pub use transport::{NoCloud, Transport};
