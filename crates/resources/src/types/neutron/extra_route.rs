//! OS::Neutron::ExtraRoute: one static route added to a router.

use crate::declare::*;

pub(super) fn extra_route() -> ResourceType {
    ResourceType::new("OS::Neutron::ExtraRoute")
        .about("One static route added to a router.")
        .service(Service::Network)
        .extension("extraroute")
        .unsupported(None)
        .props([
            prop("destination", Str).required(),
            prop("nexthop", Str).required(),
            prop("router_id", Str).required().is("neutron.router"),
        ])
}
