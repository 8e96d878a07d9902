//! The table of services.

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
    /// The first segment of the path.
    pub(super) prefix: &'static str,
    /// The types of the service in the catalogue.
    pub(super) types: &'static [&'static str],
    /// The name of the service in the catalogue.
    pub(super) name: &'static str,
    /// The suffix of the URL in the catalogue.
    pub(super) address: &'static str,
    /// The range of microversions, if the service has them.
    pub(super) microversions: Option<Microversions>,
    /// The wording of errors.
    pub(super) dialect: &'static dyn Dialect,
    /// The collections of the service.
    pub(super) collections: &'static [&'static [&'static Collection]],
    /// Handles a request.
    pub(super) serve: fn(&mut RequestContext<'_>) -> Answer,
    /// Returns the version documents at the root of the service and of its versions, from the URL of the service and
    /// the path.
    pub(super) versions: Versions,
    /// Creates the objects that a new cloud has.
    pub(super) seed: fn(&mut CloudState),
}

/// Returns the status and the body of a version document.
pub(super) type Versions = fn(&str, &[&str]) -> Option<(u16, Value)>;

/// The microversions of a service.
pub(super) struct Microversions {
    /// The name of the service in the header.
    pub(super) name: &'static str,
    pub(super) major: u32,
    pub(super) oldest: u32,
    pub(super) newest: u32,
    /// An older header with the version alone.
    pub(super) old_header: Option<&'static str>,
}

impl Microversions {
    /// Returns the range from `oldest` to `newest`, requested by `OpenStack-API-Version` only.
    pub(super) const fn new(
        name: &'static str,
        major: u32,
        oldest: u32,
        newest: u32,
    ) -> Microversions {
        Microversions { name, major, oldest, newest, old_header: None }
    }

    /// Adds the older header of the service.
    pub(super) const fn or_header(self, header: &'static str) -> Microversions {
        Microversions { old_header: Some(header), ..self }
    }
}

/// The services, by prefix.
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

/// A delayed step of a service: its name, and the function that carries it out on an object.
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

/// Carries out a delayed step.
pub(super) fn step(state: &mut CloudState, name: &str, key: &str) {
    let row = STEPS.iter().flat_map(|steps| steps.iter()).find(|(step, _)| *step == name);
    if let Some((_, act)) = row {
        act(state, key);
    }
}

/// Finds the service with this prefix.
pub(super) fn find(prefix: &str) -> Option<&'static Service> {
    SERVICES.iter().find(|service| service.prefix == prefix).copied()
}
