//! OS::Heat::SwiftSignalHandle: a temporary object store URL to which servers write their signals.

use crate::declare::*;

pub(super) fn swift_signal_handle() -> ResourceType {
    ResourceType::new("OS::Heat::SwiftSignalHandle")
        .about("A temporary object store URL to which servers write their signals.")
        .service(Service::ObjectStore)
        .since("2014.2")
        .attrs([
            attr("curl_cli", Str).uncached(),
            attr("endpoint", Str).uncached(),
            attr("token", Str).uncached(),
        ])
}
