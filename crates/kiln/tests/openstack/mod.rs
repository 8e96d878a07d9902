//! Stacks on a real OpenStack, from end to end: `kiln server`, its API, and what is left in every service.
//!
//! `dev/openstack up` starts one; `KILN_OPENSTACK` names a `clouds.yaml` in JSON with the entries `admin`, `demo` (a
//! member of a project) and `kiln` (whom users trust). Without it these tests say that they are skipped.

mod books;
mod keys;
mod kills;
mod real;
mod reference;
mod stacks;
mod tutorial;
mod types;

pub(crate) use real::{Real, served};
