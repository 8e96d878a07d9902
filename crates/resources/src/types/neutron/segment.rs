//! OS::Neutron::Segment: a layer-2 segment of a network.

use super::common::{adjust_fields, reset, rest_spec};
use crate::behaviour::OperationKind;
use crate::declare::*;
use crate::op::Op;
use crate::property_access::{number, text};
use crate::refusals::{is_given, may_be_given};
use crate::types::fragments::{description_prop, name_prop};
use serde_json::{Map as Fields, Value as Json};

pub(super) fn segment() -> ResourceType {
    ResourceType::new("OS::Neutron::Segment")
        .about("A layer-2 segment of a network.")
        .service(Service::Network)
        .extension("segment")
        .since("9.0.0")
        .props([
            description_prop().updatable(),
            name_prop().updatable(),
            prop("network", Str, "Network that the segment belongs to, by name or ID.")
                .required()
                .is(NETWORK)
                .by_name(),
            prop(
                "network_type",
                Str,
                "How the segment is realised, for example `flat`, `vlan` or `vxlan`.",
            )
            .required()
            .one_of(["local", "vlan", "vxlan", "gre", "geneve", "flat"]),
            prop(
                "physical_network",
                Str,
                "Label of the underlying physical network; needed for `flat` and `vlan`.",
            ),
            prop(
                "segmentation_id",
                Int,
                "VLAN ID, or tunnel ID for the overlay types; none for `flat` and `local`.",
            )
            .min(1),
        ])
        .check(kind_fits)
        .rest(
            rest_spec("/segments", "segment").field("network", "network_id").adjust_fields(fields),
        )
}

fn fields(op: &Op, operation: OperationKind, fields: &mut Fields<String, Json>) {
    adjust_fields(op, operation, fields);
    reset(fields, "name", &*op.context().physical_name);
}

/// Checks that the properties suit the type of the segment.
fn kind_fits(members: &Members) -> Result<(), PropertyError> {
    let Some(kind) = text(members, "network_type") else { return Ok(()) };
    let refuse = |name: &str, what: &str| {
        Err(PropertyError::new(format!("{name} is {what} for {kind} provider network.")))
    };
    let [physical, id] = ["physical_network", "segmentation_id"];
    if matches!(kind, "flat" | "vlan") && !may_be_given(members, physical) {
        return refuse(physical, "required");
    }
    if kind == "vlan" && !may_be_given(members, id) {
        return refuse(id, "required");
    }
    if matches!(kind, "local" | "flat") && is_given(members, id) {
        return refuse(id, "prohibited");
    }
    if matches!(kind, "vxlan" | "gre" | "geneve") && is_given(members, physical) {
        return refuse(physical, "prohibited");
    }
    if kind == "vlan" && members.get(id).and_then(number).is_some_and(|id| id > 4094.0) {
        let message = "Up to 4094 VLAN network segments can exist on each physical_network.";
        return Err(PropertyError::new(message));
    }
    Ok(())
}
