//! OS::Neutron::L2Gateway: a gateway that bridges networks to interfaces of hardware devices.

use super::common::bare;
use crate::declare::*;

pub(super) fn l2_gateway() -> ResourceType {
    ResourceType::new("OS::Neutron::L2Gateway")
        .about("A gateway that bridges networks to interfaces of hardware devices.")
        .service(Service::Network)
        .extension("l2-gateway")
        .entity("l2_gateway")
        .detects_drift()
        .since("12.0.0")
        .props([
            prop("devices", List).required().updatable().each(record([
                prop("device_name", Str).required(),
                prop("interfaces", List)
                    .required()
                    .each(record([prop("name", Str).required(), prop("segmentation_id", List)])),
            ])),
            prop("name", Str).required().updatable(),
        ])
        .rest(bare("/l2-gateways", "l2_gateway"))
}
