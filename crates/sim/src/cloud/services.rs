//! The services: one row each.

use serde_json::Value;

use super::alarming;
use super::baremetal;
use super::compute;
use super::container;
use super::container_infra;
use super::database;
use super::dialect::Dialect;
use super::dns;
use super::image;
use super::key_manager;
use super::load_balancer;
use super::messaging;
use super::metric;
use super::network;
use super::object_store;
use super::request::{Answer, RequestContext};
use super::reservation;
use super::schema::Collection;
use super::share;
use super::state::CloudState;
use super::volume;
use super::workflow;

/// A service of the cloud.
pub(super) struct Service {
    /// The first word of its path.
    pub(super) prefix: &'static str,
    /// Its types in the catalogue.
    pub(super) types: &'static [&'static str],
    /// Its name in the catalogue.
    pub(super) name: &'static str,
    /// What its address in the catalogue ends with.
    pub(super) address: &'static str,
    /// The name in `OpenStack-API-Version` and the oldest and newest minor version, if it has microversions.
    pub(super) microversions: Option<Microversions>,
    /// How it words refusals.
    pub(super) dialect: &'static dyn Dialect,
    /// What it keeps.
    pub(super) collections: &'static [&'static [&'static Collection]],
    /// Answers a request.
    pub(super) serve: fn(&mut RequestContext<'_>) -> Answer,
    /// What clients find at its root, and at the roots of its versions: by the address of the service and the path.
    pub(super) versions: Versions,
    /// What is there from the beginning.
    pub(super) seed: fn(&mut CloudState),
}

/// The documents that say which versions there are.
pub(super) type Versions = fn(&str, &[&str]) -> Option<(u16, Value)>;

/// Which microversions a service speaks.
pub(super) struct Microversions {
    /// The name of the service in the header.
    pub(super) name: &'static str,
    pub(super) major: u32,
    pub(super) oldest: u32,
    pub(super) newest: u32,
    /// An older header that says the same, without the name.
    pub(super) old_header: Option<&'static str>,
}

/// All of them, by prefix.
pub(super) static SERVICES: &[&Service] = &[
    &alarming::SERVICE,
    &baremetal::SERVICE,
    &compute::SERVICE,
    &container::SERVICE,
    &container_infra::SERVICE,
    &database::SERVICE,
    &dns::SERVICE,
    &image::SERVICE,
    &key_manager::SERVICE,
    &load_balancer::SERVICE,
    &messaging::SERVICE,
    &metric::SERVICE,
    &network::SERVICE,
    &object_store::SERVICE,
    &reservation::SERVICE,
    &share::SERVICE,
    &volume::SERVICE,
    &workflow::SERVICE,
];

/// What services do with an object when its time has come: the name of the step, and what it does.
pub(super) type Step = (&'static str, fn(&mut CloudState, &str));

static STEPS: &[&[Step]] = &[
    compute::STEPS,
    container::STEPS,
    container_infra::STEPS,
    image::STEPS,
    key_manager::STEPS,
    load_balancer::STEPS,
    volume::STEPS,
];

/// Carries out a step that was noted earlier.
pub(super) fn step(state: &mut CloudState, name: &str, key: &str) {
    let row = STEPS.iter().flat_map(|steps| steps.iter()).find(|(step, _)| *step == name);
    if let Some((_, act)) = row {
        act(state, key);
    }
}

/// The service that answers below this prefix.
pub(super) fn find(prefix: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|service| service.prefix == prefix).copied()
}
