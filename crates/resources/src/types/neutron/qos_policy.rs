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
            prop("description", Str).updatable(),
            prop("name", Str).updatable(),
            prop("shared", Bool).updatable().default(false),
            prop("tenant_id", Str),
        ])
        .attrs([attr("rules", List)])
        .rest(rest_spec("/qos/policies", "policy").list_envelope("policies"))
}
