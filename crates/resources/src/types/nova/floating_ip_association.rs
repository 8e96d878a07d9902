//! OS::Nova::FloatingIPAssociation: the tie of a floating IP address to a server, made by the
//! compute service.

use crate::declare::*;

pub(super) fn floating_ip_association() -> ResourceType {
    ResourceType::new("OS::Nova::FloatingIPAssociation")
        .about("The tie of a floating IP address to a server, made by the compute service.")
        .service(Service::Compute)
        .since("2014.1")
        .deprecated("9.0.0")
        .hidden("11.0.0")
        .note("Use OS::Neutron::FloatingIPAssociation.")
        .props([
            prop("floating_ip", Str).required().updatable(),
            prop("server_id", Str).required().updatable().is("nova.server"),
        ])
}
