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
            prop("devices", List, "Gateway devices and the interfaces they contribute.")
                .required()
                .updatable()
                .each(record([
                    prop(
                        "device_name",
                        Str,
                        "Name by which the gateway agent knows the device, such as a switch.",
                    )
                    .required(),
                    prop(
                        "interfaces",
                        List,
                        "Interfaces of the device that belong to the gateway.",
                    )
                    .required()
                    .each(record([
                        prop("name", Str, "Name of the interface on the device.").required(),
                        prop(
                            "segmentation_id",
                            List,
                            "VLAN IDs bridged on the interface; untagged traffic if omitted.",
                        ),
                    ])),
                ])),
            prop("name", Str, "Human-readable name of the gateway.").required().updatable(),
        ])
        .rest(bare("/l2-gateways", "l2_gateway"))
}
