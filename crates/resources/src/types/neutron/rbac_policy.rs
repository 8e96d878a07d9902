//! OS::Neutron::RBACPolicy: the permission for a project to use another project's network object.

use super::common::bare;
use crate::declare::*;
use crate::property_access::text;

pub(super) fn rbac_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::RBACPolicy")
        .about("The permission for a project to use another project's network object.")
        .service(Service::Network)
        .extension("rbac-policies")
        .entity("rbac_policy")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("action", Str).required().one_of(["access_as_shared", "access_as_external"]),
            prop("object_id", Str).required().names("neutron.{object_type}"),
            prop("object_type", Str).required().one_of([
                "network",
                "qos_policy",
                "security_group",
                "address_scope",
                "subnetpool",
            ]),
            prop("target_tenant", Str).required().updatable(),
            prop("tenant_id", Str),
        ])
        .check(action_fits)
        .rest(bare("/rbac-policies", "rbac_policy").list_envelope("rbac_policies").unique([
            "action",
            "object_id",
            "object_type",
            "target_tenant",
        ]))
}

/// Only networks can be used as external ones.
fn action_fits(members: &Members) -> Result<(), PropertyError> {
    match (text(members, "action"), text(members, "object_type")) {
        (Some("access_as_external"), Some(kind)) if kind != "network" => {
            Err(PropertyError::for_property(
                "action",
                format!(
                    "Invalid action \"access_as_external\" for object type {kind}. Valid actions: \
                 access_as_shared"
                ),
            ))
        }
        _ => Ok(()),
    }
}
