//! OS::Neutron::ProviderNet: a network tied to a given physical network and segment.

use crate::declare::*;

pub(super) fn provider_net() -> ResourceType {
    ResourceType::new("OS::Neutron::ProviderNet")
        .about("A network tied to a given physical network and segment.")
        .service(Service::Network)
        .extension("provider")
        .entity("network")
        .observable()
        .since("2014.1")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone_hints", List).updatable().since("19.0.0"),
            prop("dns_domain", Str).updatable().is("dns_domain").since("15.0.0"),
            prop("name", Str).updatable(),
            prop("network_type", Str)
                .required()
                .updatable()
                .one_of(["local", "vlan", "vxlan", "gre", "geneve", "flat"]),
            prop("physical_network", Str).updatable(),
            prop("port_security_enabled", Bool).updatable().since("8.0.0"),
            prop("router_external", Bool).updatable().default(false).since("6.0.0"),
            prop("segmentation_id", Str).updatable(),
            prop("shared", Bool).updatable().default(true),
            prop("tags", List).updatable().since("12.0.0").each(item(Str)),
            prop("tenant_id", Str).since("24.0.0"),
        ])
        .attrs([attr("segments", List).since("16.0.0"), attr("status", Str), attr("subnets", List)])
}
