//! OS::Manila::ShareType: a kind of share that users can choose, with the specifications behind it.

use crate::declare::*;

pub(super) fn share_type() -> ResourceType {
    ResourceType::new("OS::Manila::ShareType")
        .about("A kind of share that users can choose, with the specifications behind it.")
        .service(Service::Share)
        .entity("share_types")
        .observable()
        .since("5.0.0")
        .props([
            prop("driver_handles_share_servers", Bool).required(),
            prop("extra_specs", Map).updatable(),
            prop("is_public", Bool).default(true),
            prop("name", Str).required(),
            prop("snapshot_support", Bool).default(true).since("6.0.0"),
        ])
}
