//! OS::Neutron::RBACPolicy: the permission for a project to use another project's network object.

use super::common::bare;
use crate::declare::*;
use crate::property_access::text;
use crate::types::fragments::tenant_id_prop;

pub(super) fn rbac_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::RBACPolicy")
        .about("The permission for a project to use another project's network object.")
        .service(Service::Network)
        .extension("rbac-policies")
        .entity("rbac_policy")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop(
                "action",
                Str,
                "What is granted: use as a shared object, or as an external network.",
            )
            .required()
            .one_of(["access_as_shared", "access_as_external"]),
            prop("object_id", Str, "Object that is opened to the other project, by name or ID.")
                .required()
                .finds_by("neutron.{object_type}"),
            prop("object_type", Str, "Kind of the object, such as `network` or `qos_policy`.")
                .required()
                .one_of(["network", "qos_policy", "security_group", "address_scope", "subnetpool"]),
            prop("target_tenant", Str, "ID of the project that is let in, or `*` for all.")
                .required()
                .updatable(),
            tenant_id_prop(),
        ])
        .check(action_fits)
        .rest(bare("/rbac-policies", "rbac_policy").list_envelope("rbac_policies").unique([
            "action",
            "object_id",
            "object_type",
            "target_tenant",
        ]))
}

/// Checks that only networks have the action `access_as_external`.
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
