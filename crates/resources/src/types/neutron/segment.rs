//! OS::Neutron::Segment: a layer-2 segment of a network.

use crate::declare::*;

pub(super) fn segment() -> ResourceType {
    ResourceType::new("OS::Neutron::Segment")
        .about("A layer-2 segment of a network.")
        .service(Service::Network)
        .extension("segment")
        .since("9.0.0")
        .props([
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("network", Str).required().is("neutron.network").by_name(),
            prop("network_type", Str)
                .required()
                .one_of(["local", "vlan", "vxlan", "gre", "geneve", "flat"]),
            prop("physical_network", Str),
            prop("segmentation_id", Int).min(1),
        ])
}
