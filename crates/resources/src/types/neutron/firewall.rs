//! OS::Neutron::Firewall: a firewall that applies a policy to the project's routers.

use super::common::{further_fields, rest_spec};
use crate::declare::*;
use crate::rest::Readiness;

pub(super) fn firewall() -> ResourceType {
    ResourceType::new("OS::Neutron::Firewall")
        .about("A firewall that applies a policy to the project's routers.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall")
        .detects_drift()
        .props([
            prop(
                "admin_state_up",
                Bool,
                "Administrative state; `false` takes the object out of operation.",
            )
            .updatable()
            .default(true),
            prop("description", Str, "Free-form text for people; the service gives it no meaning.")
                .updatable(),
            prop("firewall_policy_id", Str, "ID of the policy whose rules the firewall enforces.")
                .required()
                .updatable(),
            prop(
                "name",
                Str,
                "Human-readable name; made from the stack and resource names if omitted.",
            )
            .updatable(),
            prop("shared", Bool, "Whether all projects may use the object, not only its owner.")
                .updatable()
                .since("2015.1")
                .unsupported("6.0.0"),
            prop(
                "value_specs",
                Map,
                "Further fields for the request, for extensions without properties of their own.",
            )
            .updatable()
            .default_empty()
            .since("5.0.0"),
        ])
        .attrs([
            attr("admin_state_up", Str, "Whether the object is administratively up."),
            attr("description", Str, "Description that the service has on record."),
            attr("firewall_policy_id", Str, "ID of the policy in force."),
            attr("name", Str, "Name that the service has on record."),
            attr("shared", Str, "Whether all projects may use the object.").unsupported("6.0.0"),
            attr(
                "status",
                Str,
                "Current status as the service reports it, such as `ACTIVE` or `DOWN`.",
            ),
            attr("tenant_id", Str, "ID of the project that owns the object."),
        ])
        .check(further_fields)
        .rest(
            rest_spec("/fw/firewalls", "firewall").readiness(
                Readiness::when("status", ["ACTIVE", "INACTIVE"], ["ERROR"])
                    .waiting(["PENDING_CREATE", "PENDING_UPDATE"])
                    .words("Error in Firewall", "Firewall creation failed"),
            ),
        )
}
