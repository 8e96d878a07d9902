//! OS::Cinder::QoSAssociation: the tie between a set of quality-of-service values and volume types.

use crate::declare::*;

pub(super) fn qos_association() -> ResourceType {
    ResourceType::new("OS::Cinder::QoSAssociation")
        .about("The tie between a set of quality-of-service values and volume types.")
        .service(Service::Volume)
        .extension("qos-specs")
        .since("8.0.0")
        .props([
            prop("qos_specs", Str).required().is("cinder.qos_specs").by_name(),
            prop("volume_types", List)
                .required()
                .updatable()
                .each(item(Str).is("cinder.vtype").by_name()),
        ])
}
