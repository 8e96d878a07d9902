//! OS::Cinder::QoSSpecs: a set of quality-of-service values for volumes.

use crate::declare::*;

pub(super) fn qos_specs() -> ResourceType {
    ResourceType::new("OS::Cinder::QoSSpecs")
        .about("A set of quality-of-service values for volumes.")
        .service(Service::Volume)
        .extension("qos-specs")
        .entity("qos_specs")
        .since("7.0.0")
        .props([prop("name", Str), prop("specs", Map).required().updatable()])
}
