//! OS::Neutron::QoSPolicy: a set of quality-of-service rules for networks and ports.

use super::common::rest_spec;
use crate::declare::*;

pub(super) fn qos_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSPolicy")
        .about("A set of quality-of-service rules for networks and ports.")
        .service(Service::Network)
        .extension("qos")
        .entity("qos_policy")
        .detects_drift()
        .since("6.0.0")
        .props([
            prop("description", Str, "Free-form text for people; the service gives it no meaning.").updatable(),
            prop("name", Str, "Human-readable name; made from the stack and resource names if omitted.").updatable(),
            prop("shared", Bool, "Whether all projects may use the object, not only its owner.").updatable().default(false),
            prop("tenant_id", Str, "Project that owns the object; only administrators may choose another than the stack's."),
        ])
        .attrs([attr("rules", List, "Rules that the policy currently consists of.")])
        .rest(rest_spec("/qos/policies", "policy").list_envelope("policies"))
}
