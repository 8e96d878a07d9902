//! Block storage: `OS::Cinder::*`.

use crate::declare::ResourceType;

pub(crate) mod attaching;
mod encrypted_volume_type;
mod qos_association;
mod qos_specs;
mod quota;
pub(crate) mod volume;
mod volume_attachment;
mod volume_type;

/// The types of this family.
pub(crate) fn types() -> Vec<ResourceType> {
    vec![
        encrypted_volume_type::encrypted_volume_type(),
        qos_association::qos_association(),
        qos_specs::qos_specs(),
        quota::quota(),
        volume::volume(),
        volume_attachment::volume_attachment(),
        volume_type::volume_type(),
    ]
}
