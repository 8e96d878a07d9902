//! OS::Neutron::Subnet: a block of addresses on a network.

use super::common::{VALUE_SPECS, adjust_fields, further_fields, keep, reset, tagged};
use super::fragments::{network_id_prop, network_prop, route, tags, tenant_id_attr, value_specs};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{FailureClass, Op, OpError};
use crate::property_access::{open, text};
use crate::refusals::{exclusive, is_given, one_of};
use crate::rest;
use crate::types::fragments::{name_attr, name_prop, tenant_id_prop};
use serde_json::{Map as Fields, Value as Json, json};

pub(super) fn subnet() -> ResourceType {
    ResourceType::new("OS::Neutron::Subnet")
        .about("A block of addresses on a network.")
        .service(Service::Network)
        .entity("subnet")
        .detects_drift()
        .with(tags)
        .with(value_specs)
        .props([
            prop("allocation_pools", List, "Ranges from which ports get their addresses; the whole block if omitted.").updatable().each(record([
                prop("end", Str, "Last address of the range.").required().is(IP_ADDR),
                prop("start", Str, "First address of the range.").required().is(IP_ADDR),
            ])),
            prop("cidr", Str, "Address block in CIDR notation, such as `10.0.0.0/24`; excludes `subnetpool`.").is(NET_CIDR),
            prop("dns_nameservers", List, "Addresses of the name servers that DHCP announces.").updatable().default_empty(),
            prop("enable_dhcp", Bool, "Whether the service hands out addresses on the subnet by DHCP.").updatable().default(true),
            prop("gateway_ip", Str, "Default gateway's address: chosen by the service if omitted or `auto`, none if empty.").updatable(),
            prop("host_routes", List, "Static routes that DHCP gives to the servers on the subnet.").updatable().each(route()),
            prop("ip_version", Int, "IP version of the subnet, 4 or 6.").default(4).one_of([4, 6]),
            prop("ipv6_address_mode", Str, "How servers get their IPv6 addresses: by SLAAC, or by DHCPv6.")
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            prop("ipv6_ra_mode", Str, "What router advertisements tell servers about getting IPv6 addresses.")
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            name_prop().updatable(),
            network_prop("Network that the subnet is on, by name or ID."),
            network_id_prop("ID of the network that the subnet is on."),
            prop("prefixlen", Int, "Prefix length of the block to take from the pool; excludes `cidr`.").min(0).since("6.0.0"),
            prop("segment", Str, "Segment of a routed network that the subnet is on, by name or ID.")
                .updatable()
                .is(SEGMENT)
                .by_name()
                .since("9.0.0")
                .changed("11.0.0"),
            prop("subnetpool", Str, "Pool that the address block is taken from, by name or ID; excludes `cidr`.").is(SUBNET_POOL).by_name().since("6.0.0"),
            tenant_id_prop(),
        ])
        .attrs([
            attr("allocation_pools", List, "Ranges from which ports get their addresses."),
            attr("cidr", Str, "Address block of the subnet, in CIDR notation."),
            attr("dns_nameservers", List, "Name servers that DHCP announces."),
            attr("enable_dhcp", Str, "Whether DHCP serves the subnet."),
            attr("gateway_ip", Str, "Address of the default gateway, if there is one."),
            attr("host_routes", List, "Static routes given to the servers on the subnet."),
            attr("ip_version", Str, "IP version of the subnet."),
            name_attr(),
            attr("network_id", Str, "ID of the network that the subnet is on."),
            tenant_id_attr(),
        ])
        .check(addresses_fit)
        .updates(|op| Box::pin(update(op)))
        .rest(
            tagged("/subnets", "subnet").unsent([VALUE_SPECS])
                .field("network", "network_id")
                .field("segment", "segment_id")
                .field("subnetpool", "subnetpool_id")
                .unsent(["network_id"])
                .adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    match fields.get("gateway_ip").and_then(Json::as_str) {
        Some("auto") => _ = fields.remove("gateway_ip"),
        Some("") => _ = fields.insert("gateway_ip".into(), Json::Null),
        Some(_) => {}
        // A gateway that the template had and has no more is removed, as are the pools: so does Heat.
        None if operation == OperationKind::Update => {}
        None => keep(fields, &["gateway_ip"]),
    }
    if operation == OperationKind::Update {
        reset(fields, "allocation_pools", json!([]));
        reset(fields, "dns_nameservers", json!([]));
        reset(fields, "host_routes", json!([]));
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let unsupported = |what: &str| {
        let message = format!("{what} is not supported for resource.");
        OpError::failed(FailureClass::ResourceActionNotSupported, message)
    };
    if op.changes("segment") && open(op.previous("segment")).as_text().is_some() {
        return Err(unsupported(
            "Updating the subnet segment assciation only allowed when the current segment_id is None. \
             The subnet is currently associated with segment. In this state update",
        ));
    }
    if op.changes("gateway_ip") && op.text("gateway_ip") == Some("auto") {
        return Err(unsupported(
            "The value \"auto\" for gateway_ip cannot be used to update an existing subnet. It is only \
             supported during subnet creation.",
        ));
    }
    rest::update(op).await
}

fn addresses_fit(members: &Members) -> Result<(), PropertyError> {
    further_fields(members)?;
    exclusive(members, "subnetpool", "cidr")?;
    one_of(members, &["subnetpool", "cidr"])?;
    exclusive(members, "prefixlen", "cidr")?;
    let modes = ["ipv6_ra_mode", "ipv6_address_mode"];
    let is_v4 = members.get("ip_version").is_some_and(|version| version.equals(&4.into()));
    if is_v4 && modes.iter().any(|mode| is_given(members, mode)) {
        let message = "ipv6_ra_mode and ipv6_address_mode are not supported for ipv4.";
        return Err(PropertyError::new(message));
    }
    if let [Some(one), Some(other)] = modes.map(|mode| text(members, mode))
        && one != other
    {
        return Err(PropertyError::new(
            "When both ipv6_ra_mode and ipv6_address_mode are set, they must be equal.",
        ));
    }
    match text(members, "gateway_ip") {
        None | Some("" | "auto") => Ok(()),
        Some(gateway) if gateway.parse::<std::net::IpAddr>().is_ok() => Ok(()),
        Some(gateway) => {
            let message = format!("Gateway IP address \"{gateway}\" is in invalid format.");
            Err(PropertyError::new(message))
        }
    }
}
