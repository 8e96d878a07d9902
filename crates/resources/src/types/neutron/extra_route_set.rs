//! OS::Neutron::ExtraRouteSet: a set of static routes added to a router as one.

use crate::declare::*;

pub(super) fn extra_route_set() -> ResourceType {
    ResourceType::new("OS::Neutron::ExtraRouteSet")
        .about("A set of static routes added to a router as one.")
        .service(Service::Network)
        .extension("extraroute-atomic")
        .since("14.0.0")
        .props([
            prop("router", Str).required().is("neutron.router"),
            prop("routes", List).updatable().default_empty().each(record([
                prop("destination", Str).required().is("net_cidr"),
                prop("nexthop", Str).required().is("ip_addr"),
            ])),
        ])
}
