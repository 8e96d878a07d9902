//! OS::Neutron::ProviderNet: a network tied to a given physical network and segment.

use super::common::{built, keep, set_tags, tagged};
use super::fragments::shared_prop;
use super::net::{fields, keep_segments, segments};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::{Op, OpError};
use crate::property_access::text;
use crate::refusals::is_given;
use crate::types::fragments::{
    admin_state_up_prop, name_prop, status_attr, tags_prop, tenant_id_prop,
};
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
            admin_state_up_prop(),
            prop("availability_zone_hints", List, "Availability zones to prefer when agents are chosen to serve the object.").updatable().since("19.0.0"),
            prop("dns_domain", Str, "DNS zone in which ports of the network are published, ending with a dot.").updatable().is(DNS_DOMAIN).since("15.0.0"),
            name_prop().updatable(),
            prop("network_type", Str, "How the network is realised, for example `flat`, `vlan` or `vxlan`.")
                .required()
                .updatable()
                .one_of(["local", "vlan", "vxlan", "gre", "geneve", "flat"]),
            prop("physical_network", Str, "Label of the underlying physical network, as the operator configured it.").updatable(),
            prop("port_security_enabled", Bool, "Whether new ports get security groups and anti-spoofing filters unless they say otherwise.").updatable().since("8.0.0"),
            prop("router_external", Bool, "Whether routers may use the network as their way out.").updatable().default(false).since("6.0.0"),
            prop("segmentation_id", Str, "VLAN ID, or tunnel ID for the overlay types; none for `flat` and `local`.").updatable(),
            shared_prop().updatable().default(true),
            tags_prop().updatable().since("12.0.0").each(item(Str)),
            tenant_id_prop().since("24.0.0"),
        ])
        .attrs([attr("segments", List, "Layer-2 segments of the network, each with all its fields.").since("16.0.0"), status_attr(), attr("subnets", List, "IDs of the subnets on the network.")])
        .check(segment_fits)
        .attributes(segments)
        .rest(
            tagged("/networks", "network")
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
