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
            prop("admin_state_up", Bool).updatable().default(true),
            prop("description", Str).updatable(),
            prop("firewall_policy_id", Str).required().updatable(),
            prop("name", Str).updatable(),
            prop("shared", Bool).updatable().since("2015.1").unsupported("6.0.0"),
            prop("value_specs", Map).updatable().default_empty().since("5.0.0"),
        ])
        .attrs([
            attr("admin_state_up", Str),
            attr("description", Str),
            attr("firewall_policy_id", Str),
            attr("name", Str),
            attr("shared", Str).unsupported("6.0.0"),
            attr("status", Str),
            attr("tenant_id", Str),
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
