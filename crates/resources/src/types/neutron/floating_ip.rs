//! OS::Neutron::FloatingIP: an address of an external network that can be moved between ports.

use super::common::{adjust_fields, further_fields, reset, rest_spec};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::refusals::needs;
use crate::wire;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn floating_ip() -> ResourceType {
    ResourceType::new("OS::Neutron::FloatingIP")
        .about("An address of an external network that can be moved between ports.")
        .service(Service::Network)
        .entity("floatingip")
        .detects_drift()
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
        .check(|members| {
            further_fields(members)?;
            needs(members, "fixed_ip_address", "port_id")
        })
        .rest(
            rest_spec("/floatingips", "floatingip")
                .field("floating_network", "floating_network_id")
                .field("floating_subnet", "subnet_id")
                .unsent(["floating_network_id"])
                .finds("port_id", "neutron.port")
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation != OperationKind::Update {
        return;
    }
    reset(fields, "dns_domain", "");
    reset(fields, "dns_name", "");
    // Which address of the port is meant goes with the port.
    let tie = ["port_id", "fixed_ip_address"];
    if tie.iter().any(|name| op.changes(name)) {
        fields.extend(tie.map(|name| (name.to_owned(), wire::json(op.prop(name)))));
    }
}
