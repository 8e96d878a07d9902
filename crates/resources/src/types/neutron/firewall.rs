//! OS::Neutron::Firewall: a firewall that applies a policy to the project's routers.

use super::common::{VALUE_SPECS, further_fields, rest_spec};
use super::fragments::{
    admin_state_up_attr, description_attr, shared_attr, shared_prop, tenant_id_attr,
    value_specs_prop,
};
use crate::declare::*;
use crate::rest::Readiness;
use crate::types::fragments::{
    admin_state_up_prop, description_prop, name_attr, name_prop, status_attr,
};

pub(super) fn firewall() -> ResourceType {
    ResourceType::new("OS::Neutron::Firewall")
        .about("A firewall that applies a policy to the project's routers.")
        .service(Service::Network)
        .extension("fwaas")
        .entity("firewall")
        .detects_drift()
        .props([
            admin_state_up_prop(),
            description_prop().updatable(),
            prop("firewall_policy_id", Str, "ID of the policy whose rules the firewall enforces.")
                .required()
                .updatable(),
            name_prop().updatable(),
            shared_prop().updatable().since("2015.1").unsupported("6.0.0"),
            value_specs_prop().updatable().default_empty().since("5.0.0"),
        ])
        .attrs([
            admin_state_up_attr(),
            description_attr(),
            attr("firewall_policy_id", Str, "ID of the policy in force."),
            name_attr(),
            shared_attr().unsupported("6.0.0"),
            status_attr(),
            tenant_id_attr(),
        ])
        .check(further_fields)
        .rest(
            rest_spec("/fw/firewalls", "firewall").unsent([VALUE_SPECS]).readiness(
                Readiness::when("status", ["ACTIVE", "INACTIVE"], ["ERROR"])
                    .waiting(["PENDING_CREATE", "PENDING_UPDATE"])
                    .words("Error in Firewall", "Firewall creation failed"),
            ),
        )
}
