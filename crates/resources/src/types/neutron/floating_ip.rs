//! OS::Neutron::FloatingIP: an address of an external network that can be moved between ports.

use super::common::{VALUE_SPECS, adjust_fields, further_fields, rest_spec};
use super::fragments::{tenant_id_attr, value_specs_prop};
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
            prop(
                "dns_domain",
                Str,
                "DNS zone in which the address is published, ending with a dot.",
            )
            .updatable()
            .is(DNS_DOMAIN)
            .since("7.0.0"),
            prop(
                "dns_name",
                Str,
                "Host name under which the address is published, relative to `dns_domain`.",
            )
            .updatable()
            .is(REL_DNS_NAME)
            .since("7.0.0"),
            prop(
                "fixed_ip_address",
                Str,
                "Address of the port to forward to; needed if the port has several.",
            )
            .updatable()
            .is(IP_ADDR),
            prop(
                "floating_ip_address",
                Str,
                "Particular address to ask for, which the cloud may reserve for administrators.",
            )
            .is(IP_ADDR)
            .since("5.0.0"),
            prop(
                "floating_network",
                Str,
                "External network that the address is taken from, by name or ID.",
            )
            .required()
            .is(NETWORK)
            .by_name()
            .replaces("floating_network_id")
            .since("2014.2"),
            prop(
                "floating_network_id",
                Str,
                "ID of the external network that the address is taken from.",
            )
            .is(NETWORK)
            .deprecated("2014.2")
            .hidden("5.0.0")
            .note("Use `floating_network`."),
            prop(
                "floating_subnet",
                Str,
                "Subnet of the external network that the address is taken from, by name or ID.",
            )
            .is(SUBNET)
            .by_name()
            .since("9.0.0"),
            prop(
                "port_id",
                Str,
                "Port that the address leads to; if omitted, it leads nowhere yet.",
            )
            .updatable()
            .is(PORT),
            value_specs_prop().default_empty(),
        ])
        .attrs([
            attr("fixed_ip_address", Str, "Internal address that traffic is forwarded to, if any.")
                .uncached(),
            attr("floating_ip_address", Str, "The allocated external address."),
            attr("floating_network_id", Str, "ID of the external network the address belongs to."),
            attr("port_id", Str, "ID of the port the address currently leads to, if any.")
                .uncached(),
            attr("router_id", Str, "ID of the router that translates the address."),
            tenant_id_attr(),
        ])
        .check(|members| {
            further_fields(members)?;
            needs(members, "fixed_ip_address", "port_id")
        })
        .rest(
            rest_spec("/floatingips", "floatingip")
                .unsent([VALUE_SPECS])
                .field("floating_network", "floating_network_id")
                .field("floating_subnet", "subnet_id")
                .unsent(["floating_network_id"])
                .finds("port_id", PORT)
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    if operation != OperationKind::Update {
        return;
    }
    // Neutron publishes the address when it is created, and cannot change its names; an update of these changes nothing, as in Heat.
    fields.remove("dns_domain");
    fields.remove("dns_name");
    // The address belongs to the port, so both fields are sent together.
    let tie = ["port_id", "fixed_ip_address"];
    if tie.iter().any(|name| op.changes(name)) {
        fields.extend(tie.map(|name| (name.to_owned(), wire::json(op.prop(name)))));
    }
}
