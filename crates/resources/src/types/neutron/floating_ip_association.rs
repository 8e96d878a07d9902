//! OS::Neutron::FloatingIPAssociation: the tie between a floating IP address and a port.

use crate::declare::*;

pub(super) fn floating_ip_association() -> ResourceType {
    ResourceType::new("OS::Neutron::FloatingIPAssociation")
        .about("The tie between a floating IP address and a port.")
        .service(Service::Network)
        .props([
            prop("fixed_ip_address", Str).updatable().is("ip_addr"),
            prop("floatingip_id", Str).required().updatable(),
            prop("port_id", Str).required().updatable().is("neutron.port"),
        ])
}
