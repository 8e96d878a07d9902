//! OS::Neutron::Subnet: a block of addresses on a network.

use super::common::{adjust_fields, further_fields, keep, reset, rest_spec, tags, value_specs};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use crate::refusals::{exclusive, is_given, one_of};
use crate::rest;
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
            prop("allocation_pools", List).updatable().each(record([
                prop("end", Str).required().is("ip_addr"),
                prop("start", Str).required().is("ip_addr"),
            ])),
            prop("cidr", Str).is("net_cidr"),
            prop("dns_nameservers", List).updatable().default_empty(),
            prop("enable_dhcp", Bool).updatable().default(true),
            prop("gateway_ip", Str).updatable(),
            prop("host_routes", List).updatable().each(record([
                prop("destination", Str).required().is("net_cidr"),
                prop("nexthop", Str).required().is("ip_addr"),
            ])),
            prop("ip_version", Int).default(4).one_of([4, 6]),
            prop("ipv6_address_mode", Str)
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            prop("ipv6_ra_mode", Str)
                .one_of(["dhcpv6-stateful", "dhcpv6-stateless", "slaac"])
                .since("2015.1"),
            prop("name", Str).updatable(),
            prop("network", Str)
                .required()
                .is("neutron.network")
                .by_name()
                .replaces("network_id")
                .since("2014.2"),
            prop("network_id", Str)
                .is("neutron.network")
                .deprecated("2014.2")
                .hidden("5.0.0")
                .note("Use `network`."),
            prop("prefixlen", Int).min(0).since("6.0.0"),
            prop("segment", Str)
                .updatable()
                .is("neutron.segment")
                .by_name()
                .since("9.0.0")
                .changed("11.0.0"),
            prop("subnetpool", Str).is("neutron.subnetpool").by_name().since("6.0.0"),
            prop("tenant_id", Str),
        ])
        .attrs([
            attr("allocation_pools", List),
            attr("cidr", Str),
            attr("dns_nameservers", List),
            attr("enable_dhcp", Str),
            attr("gateway_ip", Str),
            attr("host_routes", List),
            attr("ip_version", Str),
            attr("name", Str),
            attr("network_id", Str),
            attr("tenant_id", Str),
        ])
        .check(addresses_fit)
        .updates(|op| Box::pin(update(op)))
        .rest(
            rest_spec("/subnets", "subnet")
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
        // A gateway that is named no more stays what it is, as do the pools: the service chose them once.
        None => keep(fields, &["gateway_ip"]),
    }
    if operation == OperationKind::Update {
        keep(fields, &["allocation_pools"]);
        reset(fields, "dns_nameservers", json!([]));
        reset(fields, "host_routes", json!([]));
    }
}

async fn update(op: &mut Op) -> Result<(), OpError> {
    let unsupported = |what: &str| {
        let message = format!("{what} is not supported for resource.");
        OpError::failed("ResourceActionNotSupported", message)
    };
    if op.changes("segment") && text(&op.context().previous_properties, "segment").is_some() {
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
