//! Talking to an OpenStack cloud: a call is a value, and a [`Transport`] makes it.
//!
//! This crate knows nothing of stacks or templates.
#![forbid(unsafe_code)]

mod bounded;
mod call;
mod credential;
mod entity;
mod fence;
mod http;
mod limits;
pub mod metrics;
mod openstack;
mod outage;
mod path;
mod request_id;
mod secret;
mod service;
mod tls;
mod transport;

pub use bounded::BoundedMap;
pub use call::{
    ActingFor, Call, CallError, CreatedBy, HttpRequest, Identity, Marker, Method, Recovery, Reply,
    Sharing, delete, get, head, no_such_region, patch, post, put,
};
pub use credential::{Auth, Credential, PendingDelegation, UserToken};
pub use entity::{DomainRef, EntityRef};
pub use fence::{Fence, pass_fence, with_fence};
pub use http::{Http, client_builder};
pub use limits::{Admission, CallLimits, DEFAULT_MAX_CALLS, Lane};
pub use openstack::{
    Login, OpenStack, ServiceEndpoint, ServiceSettings, Settings, StackDomain, version_of,
};
pub use path::{CallPath, InvalidId, PathTemplate};
pub use request_id::{
    REQUEST_ID_HEADER, current_request_id, in_current_request, is_request_id, new_request_id,
    with_request_id,
};
pub use secret::Secret;
pub use service::Service;
pub use tls::Tls;
pub use transport::{NoCloud, Transport};
