//! OS::Neutron::FloatingIPPortForward: the forwarding of one port of a floating IP address to an
//! internal address.

use super::common::{adjust_fields, bare, keep};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn floating_ip_port_forward() -> ResourceType {
    ResourceType::new("OS::Neutron::FloatingIPPortForward")
        .about("The forwarding of one port of a floating IP address to an internal address.")
        .service(Service::Network)
        .extension("floating-ip-port-forwarding")
        .checkable()
        .since("19.0.0")
        .props([
            prop("external_port", Int, "Port number on the floating IP address, 1 to 65535.")
                .required()
                .updatable()
                .range(1, 65535),
            prop("floating_ip", Str, "Floating IP whose traffic is forwarded, by ID or address.")
                .required()
                .finds(FLOATING_IP),
            prop(
                "internal_ip_address",
                Str,
                "Fixed address of the internal port that traffic is sent to.",
            )
            .required()
            .updatable()
            .is(IP_ADDR),
            prop("internal_port", Str, "Neutron port behind the internal address, by name or ID.")
                .required()
                .updatable()
                .is(PORT)
                .by_name(),
            prop(
                "internal_port_number",
                Int,
                "TCP or UDP port number on the internal address, 1 to 65535.",
            )
            .updatable()
            .range(1, 65535),
            prop("protocol", Str, "IP protocol of the forwarded traffic.")
                .required()
                .updatable()
                .one_of(["tcp", "udp", "icmp", "icmp6", "sctp", "dccp"]),
        ])
        .rest(
            bare("/floatingips/{floating_ip}/port_forwardings", "port_forwarding")
                .field("internal_port", "internal_port_id")
                .field("internal_port_number", "internal_port")
                .unique(["external_port", "protocol"])
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    keep(fields, &["internal_port"]);
}
