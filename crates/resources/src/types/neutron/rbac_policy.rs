//! OS::Neutron::RBACPolicy: the permission for a project to use another project's network object.

use crate::declare::*;

pub(super) fn rbac_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::RBACPolicy")
        .about("The permission for a project to use another project's network object.")
        .service(Service::Network)
        .extension("rbac-policies")
        .entity("rbac_policy")
        .observable()
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
}
