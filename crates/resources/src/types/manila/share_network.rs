//! OS::Manila::ShareNetwork: the network on which share servers offer their shares.

use crate::declare::*;

pub(super) fn share_network() -> ResourceType {
    ResourceType::new("OS::Manila::ShareNetwork")
        .about("The network on which share servers offer their shares.")
        .service(Service::Share)
        .entity("share_networks")
        .observable()
        .since("5.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("neutron_network", Str).updatable().is("neutron.network").by_name(),
            prop("neutron_subnet", Str).updatable().is("neutron.subnet").by_name(),
            prop("nova_network", Str).updatable().hidden("21.0.0").note("Use `neutron_network`."),
            prop("security_services", List).updatable().default_empty().each(item(Str)),
        ])
        .attrs([
            attr("cidr", Str),
            attr("ip_version", Str),
            attr("network_type", Str),
            attr("segmentation_id", Str),
        ])
}
