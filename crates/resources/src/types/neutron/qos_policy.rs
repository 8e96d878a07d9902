//! OS::Neutron::QoSPolicy: a set of quality-of-service rules for networks and ports.

use super::common::rest_spec;
use super::fragments::shared_prop;
use crate::declare::*;
use crate::types::fragments::{description_prop, name_prop, tenant_id_prop};

pub(super) fn qos_policy() -> ResourceType {
    ResourceType::new("OS::Neutron::QoSPolicy")
        .about("A set of quality-of-service rules for networks and ports.")
        .service(Service::Network)
        .extension("qos")
        .entity("qos_policy")
        .detects_drift()
        .since("6.0.0")
        .props([
            description_prop().updatable(),
            name_prop().updatable(),
            shared_prop().updatable().default(false),
            tenant_id_prop(),
        ])
        .attrs([attr("rules", List, "Rules that the policy currently consists of.")])
        .rest(rest_spec("/qos/policies", "policy").list_envelope("policies"))
}
