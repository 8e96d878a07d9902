//! OS::Neutron::FloatingIP: an address of an external network that can be moved between ports.

use crate::declare::*;

pub(super) fn floating_ip() -> ResourceType {
    ResourceType::new("OS::Neutron::FloatingIP")
        .about("An address of an external network that can be moved between ports.")
        .service(Service::Network)
        .entity("floatingip")
        .observable()
        .props([
            prop("dns_domain", Str).updatable().is("dns_domain").since("7.0.0"),
            prop("dns_name", Str).updatable().is("rel_dns_name").since("7.0.0"),
            prop("fixed_ip_address", Str).updatable().is("ip_addr"),
            prop("floating_ip_address", Str).is("ip_addr").since("5.0.0"),
            prop("floating_network", Str)
                .required()
                .is("neutron.network")
                .by_name()
                .replaces("floating_network_id")
                .since("2014.2"),
            prop("floating_network_id", Str)
                .is("neutron.network")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `floating_network`."),
            prop("floating_subnet", Str).is("neutron.subnet").by_name().since("9.0.0"),
            prop("port_id", Str).updatable().is("neutron.port"),
            prop("value_specs", Map).default_empty(),
        ])
        .attrs([
            attr("fixed_ip_address", Str).uncached(),
            attr("floating_ip_address", Str),
            attr("floating_network_id", Str),
            attr("port_id", Str).uncached(),
            attr("router_id", Str),
            attr("tenant_id", Str),
        ])
}
