//! OS::Neutron::ProviderNet: a network tied to a given physical network and segment.

use super::common::{built, keep, rest_spec, set_tags};
use super::net::{fields, keep_segments, segments};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use crate::refusals::is_given;
use serde_json::{Map as Fields, Value as Json};

pub(super) fn provider_net() -> ResourceType {
    ResourceType::new("OS::Neutron::ProviderNet")
        .about("A network tied to a given physical network and segment.")
        .service(Service::Network)
        .extension("provider")
        .entity("network")
        .detects_drift()
        .since("2014.1")
        .props([
            prop("admin_state_up", Bool).updatable().default(true),
            prop("availability_zone_hints", List).updatable().since("19.0.0"),
            prop("dns_domain", Str).updatable().is("dns_domain").since("15.0.0"),
            prop("name", Str).updatable(),
            prop("network_type", Str)
                .required()
                .updatable()
                .one_of(["local", "vlan", "vxlan", "gre", "geneve", "flat"]),
            prop("physical_network", Str).updatable(),
            prop("port_security_enabled", Bool).updatable().since("8.0.0"),
            prop("router_external", Bool).updatable().default(false).since("6.0.0"),
            prop("segmentation_id", Str).updatable(),
            prop("shared", Bool).updatable().default(true),
            prop("tags", List).updatable().since("12.0.0").each(item(Str)),
            prop("tenant_id", Str).since("24.0.0"),
        ])
        .attrs([attr("segments", List).since("16.0.0"), attr("status", Str), attr("subnets", List)])
        .check(segment_fits)
        .attributes(segments)
        .rest(
            rest_spec("/networks", "network")
                .field("network_type", "provider:network_type")
                .field("physical_network", "provider:physical_network")
                .field("segmentation_id", "provider:segmentation_id")
                .field("router_external", "router:external")
                .readiness(built())
                .adjust_fields(provided)
                .after_write(|op| Box::pin(after(op))),
        )
}

fn provided(op: &Op, operation: OperationKind, sent: &mut Fields<String, Json>) {
    fields(op, operation, sent);
    let names = ["provider:physical_network", "provider:segmentation_id"];
    keep(sent, &[names[0], names[1], "availability_zone_hints"]);
}

async fn after(op: &mut Op) -> Result<(), OpError> {
    set_tags(op).await?;
    keep_segments(op).await
}

fn segment_fits(members: &Members) -> Result<(), PropertyError> {
    let kind = text(members, "network_type").unwrap_or_default();
    if is_given(members, "segmentation_id") && matches!(kind, "local" | "flat") {
        let message = "segmentation_id not allowed for network types: local, flat";
        return Err(PropertyError::new(message));
    }
    if is_given(members, "physical_network") && matches!(kind, "vxlan" | "gre" | "geneve" | "local")
    {
        let message = "physical_network not allowed for network types: vxlan, gre, geneve, flat";
        return Err(PropertyError::new(message));
    }
    Ok(())
}
