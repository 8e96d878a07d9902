//! OS::Octavia::LoadBalancer: a load balancer with its virtual IP address.

use crate::declare::*;

pub(super) fn load_balancer() -> ResourceType {
    ResourceType::new("OS::Octavia::LoadBalancer")
        .about("A load balancer with its virtual IP address.")
        .service(Service::LoadBalancer)
        .since("10.0.0")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone", Str).is("octavia.availabilityzone").since("17.0.0"),
            prop("description", Str).updatable().default_empty(),
            prop("flavor", Str).is("octavia.flavor").by_name().since("14.0.0"),
            prop("name", Str).updatable(),
            prop("provider", Str),
            prop("tenant_id", Str).is("keystone.project"),
            prop("vip_address", Str).is("ip_addr"),
            prop("vip_subnet", Str).required().is("neutron.subnet").by_name(),
        ])
        .attrs([
            attr("flavor_id", Str),
            attr("pools", List),
            attr("vip_address", Str),
            attr("vip_port_id", Str),
            attr("vip_subnet_id", Str),
        ])
}
