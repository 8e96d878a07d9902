//! OS::Cinder::EncryptedVolumeType: the encryption that volumes of a volume type get.

use crate::declare::*;

pub(super) fn encrypted_volume_type() -> ResourceType {
    ResourceType::new("OS::Cinder::EncryptedVolumeType")
        .about("The encryption that volumes of a volume type get.")
        .service(Service::Volume)
        .extension("encryption")
        .entity("volume_encryption_types")
        .observable()
        .since("5.0.0")
        .props([
            prop("cipher", Str).updatable().one_of(["aes-xts-plain64", "aes-cbc-essiv"]),
            prop("control_location", Str)
                .updatable()
                .default("front-end")
                .one_of(["front-end", "back-end"]),
            prop("key_size", Int).updatable(),
            prop("provider", Str).required().updatable(),
            prop("volume_type", Str).required().is("cinder.vtype"),
        ])
}
